"""A writer killed at any moment, or on a full disk, has lost nothing it acknowledged."""

from __future__ import annotations

import random
import subprocess
import sys
import time

from kopt_kb.workspace.journal.journal import Journal, read_journal

APPENDER = """
import os, sys
from kopt_kb.workspace.journal.events import checked_data
from kopt_kb.workspace.journal.journal import Journal
journal = Journal.open(sys.argv[1])
checked_data("note_added", {"topic": "tip", "text": "ab" * 32, "by": "x"})  # the first check loads what checks
os.write(1, b"0\\n")
while True:
    text = "x" * (journal.head.seq * 37 % 3000 + 1)
    event = journal.append("note_added", {"topic": "tip", "text": "ab" * 32, "by": text})
    os.write(1, b"%d\\n" % event.seq)
"""

FULL_DISK = """
import resource, signal, sys
from kopt_kb.workspace.journal.journal import Journal, JournalError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, resource.RLIM_INFINITY))
note = {"topic": "tip", "text": "ab" * 32, "by": "x" * 100}
with Journal.open(sys.argv[1]) as journal:
    for attempt in range(100):
        try:
            journal.append("note_added", note)
        except JournalError as error:
            print(journal.head.seq, error.what)
            break
    resource.setrlimit(resource.RLIMIT_FSIZE, (9000, resource.RLIM_INFINITY))
    journal.append("note_added", note)
    print(journal.head.seq)
"""


def test_thirty_kills_at_random_moments_lose_no_acknowledged_event(tmp_path):
    """Each child goes on where the killed one stopped; what it printed as acknowledged is there."""
    moments = random.Random(20260131)
    path = tmp_path / "journal.jsonl"
    Journal.create(path).close()
    acknowledged = 0
    for _ in range(30):
        with subprocess.Popen([sys.executable, "-c", APPENDER, str(path)], stdout=subprocess.PIPE) as child:
            assert child.stdout.readline() == b"0\n"
            time.sleep(moments.uniform(0, 0.04))
            child.kill()
            printed = child.stdout.read().split(b"\n")[:-1]
        acknowledged = max([acknowledged, *map(int, printed)])
        events = read_journal(path)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert len(events) >= acknowledged
    assert acknowledged > 0
    Journal.open(path).close()


def test_a_full_disk_ends_in_one_error_and_a_good_file(tmp_path):
    """The system takes only part of a line; the part is cut off, and with more room the writer goes on."""
    path = tmp_path / "journal.jsonl"
    Journal.create(path).close()
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    failed, after = done.stdout.splitlines()
    count = int(failed.split()[0])
    assert "can't be written" in failed
    assert int(after) == count + 1
    assert len(read_journal(path)) == count + 1
    assert path.read_bytes().endswith(b"\n")
