"""Readers need no lock, write nothing, and verify every byte."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from kopt_kb.base.wire import canonical
from kopt_kb.workspace.journal import reader as journal_reader
from kopt_kb.workspace.journal.chain import GENESIS, JournalError, seal
from kopt_kb.workspace.journal.events import VERSION
from kopt_kb.workspace.journal.journal import Journal, read_journal


def write_lines(path, *members):
    """A journal with a correct chain and any content."""
    data, zh = b"", GENESIS
    for member in members:
        line, zh = seal(member if isinstance(member, bytes) else canonical(member), zh)
        data += line
    path.write_bytes(data)


def envelope(note, number=1, /, **changes):
    members = {"v": 1, "seq": number, "t": "2026-01-31T12:00:00.000000Z", "kind": "note_added", "data": note}
    return {**members, **changes}


def test_a_reader_works_beside_the_writer_and_takes_strings(small_journal):
    """It sees what was acknowledged while the writer holds its lock."""
    with Journal.open(small_journal) as journal:
        assert read_journal(str(small_journal)) == journal.events
        assert [event.seq for event in journal.events] == [1, 2, 3]


def test_a_line_in_the_making_is_not_seen_and_left_alone(small_journal):
    """Bytes after the last newline are the writer's business."""
    whole = small_journal.read_bytes()
    small_journal.write_bytes(whole + whole[:40])
    assert len(read_journal(small_journal)) == 3
    assert small_journal.read_bytes() == whole + whole[:40]


def test_every_flipped_bit_is_detected(small_journal):
    """Each bit of three events, newlines included, is named as damage of a line.

    Not detectable by the chain alone: whole lines missing at the end, and a full rewrite with fresh
    hashes; the commit trailer shows those.
    """
    good = small_journal.read_bytes()
    for position in range(len(good)):
        line = good.count(b"\n", 0, position) + 1
        for bit in range(8):
            data = bytearray(good)
            data[position] ^= 1 << bit
            with pytest.raises(JournalError) as caught:
                journal_reader.parse_events(bytes(data), small_journal)
            assert caught.value.where == f"{small_journal}:{line}"


def test_a_journal_cut_anywhere_reads_up_to_its_last_whole_line(small_journal):
    """Every prefix of the file is readable."""
    good = small_journal.read_bytes()
    events = read_journal(small_journal)
    for size in range(len(good) + 1):
        found = journal_reader.parse_events(good[:size], small_journal)
        assert found == events[: good.count(b"\n", 0, size)]


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ({"seq": 3}, "carries the number 3"),
        ({"kind": "dreamt"}, "unknown event kind 'dreamt'"),
        ({"data": {}}, "field note_added"),
        ({"data": [1]}, "has to be an object"),
        ({"t": "now"}, "field t"),
        (b"[1]", "is no event"),
        (b"{broken}", "is no event"),
        (b'{"a":1,"a":2}', "a member stands twice"),
        (b'{"a":' + b"[" * 100_000 + b"}", "is no event"),
        (b'{"a":' + b"9" * 5000 + b"}", "is no event"),
        (b'{"a":"\xff"}', "is no event"),
    ],
)
def test_content_that_is_no_event_is_refused_with_its_line_even_in_a_valid_chain(tmp_path, note, second, says):
    """Somebody who recomputes hashes still can't put nonsense in."""
    path = tmp_path / "j"
    write_lines(path, envelope(note), second if isinstance(second, bytes) else envelope(note, 2, **second))
    with pytest.raises(JournalError, match=says) as caught:
        read_journal(path)
    assert caught.value.where == f"{path}:2"


def test_events_of_a_newer_version_can_be_read(tmp_path, note):
    """Their kind is kept."""
    path = tmp_path / "j"
    write_lines(path, envelope(note), envelope({"x": 1}, 2, v=VERSION + 1, kind="dreamt"))
    assert [event.kind for event in read_journal(path)] == ["note_added", "dreamt"]


def test_no_file_a_folder_and_a_pipe_are_clear_errors(tmp_path):
    """None of them hangs or gives an empty journal."""
    os.mkfifo(tmp_path / "pipe")
    for name, says in [("none", "no journal here"), (".", "can't be read"), ("pipe", "can't be read")]:
        with pytest.raises(JournalError, match=says):
            read_journal(tmp_path / name)


def test_a_file_that_changes_while_it_is_read_is_read_again(small_journal, monkeypatch):
    """A writer that recovers under the reader's eyes is not reported as damage."""
    good = small_journal.read_bytes()
    mixed = iter([good[:50] + good[80:], good])
    monkeypatch.setattr(journal_reader, "journal_bytes", lambda _path: next(mixed))
    assert len(read_journal(small_journal)) == 3


def test_a_reader_beside_a_busy_writer_never_sees_damage(small_journal, note):
    """Two hundred appends, read again and again meanwhile: each reading is a good beginning."""
    with Journal.open(small_journal) as journal, ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: [journal.append("note_added", note) for _ in range(200)])
        lengths = []
        while not writing.done():
            lengths.append(len(read_journal(small_journal)))
        assert lengths == sorted(lengths)
        assert len(read_journal(small_journal)) == 203


def test_reading_a_journal_loads_nothing_heavy(small_journal):
    """The reader of documents; neither numbers nor a Markdown parser."""
    program = (
        "import sys\nfrom kopt_kb.workspace.journal.journal import read_journal\nread_journal(sys.argv[1])\n"
        "print([m for m in ('numpy', 'markdown_it', 'rich', 'yaml', 'torch') if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(small_journal)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_what_was_appended_is_what_will_be_read(tmp_path):
    """Members of objects have the order of the line, so that a state of appended events renders the same text."""
    data = {
        "spread": {"p80_s": 2.0, "mad_s": 1.0},
        "id": "r",
        "candidate": "v1",
        "shape": "8x4",
        "n": 3,
        "median_s": 1.5,
    }
    with Journal.create(tmp_path / "journal.jsonl") as journal:
        made = journal.append("measured", {**data, "run": "r1", "environment": 1})
    (read,) = read_journal(tmp_path / "journal.jsonl")
    assert list(made.data.spread) == list(read.data.spread) == ["mad_s", "p80_s"]
    assert (made, list(made.to_json())) == (read, list(read.to_json()))
