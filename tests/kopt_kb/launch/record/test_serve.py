"""Claims about the child in which a candidate is imported: what ends it, and what is left of what it started."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.wire import canonical, read
from kopt_kb.launch.record.request import CallRequest, MakerRequest
from kopt_kb.launch.record.serve import MAX_ANSWER_BYTES, MakerJob, Reply
from kopt_kb.sandbox.isolation import WALLS
from kopt_kb.sandbox.process import environment
from kopt_kb.sandbox.talk import Talk

pytestmark = pytest.mark.core

_PROGRAM = """
import os, sys
from dataclasses import dataclass
from kopt_kb.launch.record.serve import serve
from kopt_kb.base.wire import Wire

@dataclass(frozen=True)
class Said(Wire):
    text: str

def answer(request):
    names = {"folder": request.folder}
    exec(request.what.call, names)
    return Said(str(names.get("said", "")))

serve(sys.stdin.buffer, 1, answer)
"""


@pytest.fixture
def ask(tmp_path: Path) -> Any:
    """Runs Python text as a candidate of one warm maker; returns the reply and what it said."""
    talk = Talk([sys.executable, "-c", _PROGRAM], env=environment(ours=True), stderr=subprocess.STDOUT)
    count = iter(range(100))

    def run(text: str, wall_s: float = 500.0, memory_bytes: int = 0) -> tuple[Reply, str]:
        folder = tmp_path / f"job{next(count)}"
        folder.mkdir()
        request = MakerRequest(CallRequest(text), "sm_90", "Test", {}, str(folder))
        talk.say(canonical(MakerJob(request, wall_s, memory_bytes).to_json()) + b"\n", 500)
        reply = read(Reply, json.loads(talk.line(1 << 16, wall_s + 500)), where="reply")
        body = talk.exactly(reply.size, 5)
        return reply, json.loads(body)["text"] if body else ""

    yield run
    talk.end()


Ask = Callable[..., tuple[Reply, str]]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_each_request_has_a_process_of_its_own(ask: Ask) -> None:
    """What one leaves in memory the next does not find; the maker lives on."""
    assert ask("import sys; sys.left = 1; said = 'first'")[1] == "first"
    reply, said = ask("import sys; said = hasattr(sys, 'left')")
    assert (reply.ended, reply.status, said) == ("ok", 0, "False")


@pytest.mark.parametrize(
    ("text", "ended", "status"),
    [
        ("import time; time.sleep(600)", "hang", -9),
        ("import os; os.closerange(0, 100)\nimport time; time.sleep(600)", "hang", -9),
        (f"said = 'x' * {MAX_ANSWER_BYTES + 1}", "limit", -9),
        ("import ctypes; ctypes.string_at(0)", "crash", -11),
        ("import os; os._exit(0)", "crash", 0),
        ("raise SystemExit(3)", "crash", 1),
    ],
)
def test_endings(ask: Ask, text: str, ended: str, status: int) -> None:
    """Silence, too much, a signal, an early exit: each is an outcome, and the next request is answered."""
    reply, said = ask(text, wall_s=2.0 if ended == "hang" else 500.0)
    assert (reply.ended, reply.size, said) == (ended, 0, "")
    if ended != "limit":  # it may have ended by the broken pipe before it was killed
        assert reply.status == status
    assert ask("said = 1")[1] == "1"


def test_a_copy_that_a_candidate_forks_has_no_answer(ask: Ask) -> None:
    """One answer a request, whoever else runs to its end."""
    reply, said = ask("import os\nif os.fork(): os.wait()\nsaid = 'one'")
    assert (reply.ended, said) == ("ok", "one")
    assert ask("said = 2")[1] == "2"


def test_memory_is_bounded(ask: Ask) -> None:
    """An allocation beyond the limit fails in the process itself, and is its crash; many small processes are ended."""
    assert ask("x = bytearray(1 << 30); said = len(x)", memory_bytes=1 << 28)[0].ended == "crash"
    hog = "import os, time\nfor _ in range(4):\n    if not os.fork():\n        x = b'x' * (150 << 20); time.sleep(60)\ntime.sleep(60)"
    assert ask(hog, memory_bytes=400 << 20)[0].ended == "oom"


_DAEMON = """
import os, time
if not os.fork():
    os.setsid()
    if not os.fork():
        os.setpgid(0, 0)
        open(os.path.join(folder, 'beat'), 'w').write('x')
        while True:
            time.sleep(0.05)
            open(os.path.join(folder, 'beat'), 'a').write('x')
    os._exit(0)
while not os.path.exists(os.path.join(folder, 'beat')):
    time.sleep(0.01)
said = folder
"""


def test_daemons_end_with_their_request(ask: Ask) -> None:
    """A grandchild in a session and group of its own, whose parent is gone, is dead when the answer comes."""
    reply, folder = ask(_DAEMON)
    assert reply.ended == "ok"
    beat = Path(folder) / "beat"
    size = beat.stat().st_size
    time.sleep(0.3)
    assert beat.stat().st_size == size


def test_what_it_is_held_by(ask: Ask, tmp_path: Path) -> None:
    """Each thing that is said to be held is tried; what is missing has a reason."""
    outside = tmp_path / "outside"
    text = f"""
import os, socket
tried = []
try:
    open({str(outside)!r}, 'w'); tried.append('wrote')
except OSError: pass
open(os.path.join(folder, 'inside'), 'w').close()
tried.append(str(os.getpid()))
try:
    tried.append(str(len(socket.if_nameindex())))
except PermissionError:  # asked through a netlink socket
    tried.append('none')
tried.append(os.environ['HOME'] + '=' + ','.join(os.listdir(os.environ['HOME'])))
said = ' '.join(tried)
"""
    reply, said = ask(text)
    held = reply.isolation.held
    words = said.split()
    assert set(held) | set(reply.isolation.missing) == {
        "user namespace", "mount namespace", "pid namespace", "net namespace", "ipc namespace", "own /proc",
        "own file tree", "Landlock", "no capabilities", "filtered system calls", "cgroup limits", *WALLS,
    }  # fmt: skip
    assert all(reply.isolation.missing.values())
    assert ("wrote" in words) != ("write-protected files" in held)
    assert (words[-3] == "1") == ("pid namespace" in held)
    if "filtered system calls" in held:
        assert words[-2] == "none"
    elif "net namespace" in held:
        assert words[-2] == "1"
    assert words[-1].endswith("/home=")


def test_what_lies_outside_never_comes_back(ask: Ask, tmp_path: Path) -> None:
    """Neither as an answer nor in an error's text: keys beside its folder, the user's home, the shell's variables."""
    (tmp_path / "key").write_text("a secret of the user")
    text = f"""
import glob, os
said = []
for path in [{str(tmp_path / "key")!r}, "/etc/shadow", *glob.glob("/proc/[0-9]*/environ"), *glob.glob("/home/*/.*")]:
    try:
        said.append((path, open(path, "rb").read(20)))
    except OSError as error:
        assert "secret" not in str(error)
said = repr([one for one in said if not one[0].startswith("/proc/1/") and one[1]])
"""
    reply, said = ask(text)
    if "unreadable files" not in reply.isolation.held:
        pytest.skip(reply.isolation.missing["unreadable files"])
    assert said == "[]"


@pytest.mark.parametrize("what", ["os.memfd_create('x')", "os.open('/dev/shm/kb', os.O_CREAT | os.O_RDWR)"])
def test_no_file_lies_in_memory(ask: Ask, what: str) -> None:
    """It would be counted by nobody where there are no control groups."""
    reply, said = ask(f"import os\ntry:\n    said = {what}\nexcept OSError as error:\n    said = 'refused'")
    if {"filtered system calls", "write-protected files"} <= set(reply.isolation.held):
        assert said == "refused"


def test_disk_is_counted_with_memory(ask: Ask) -> None:
    """Files that it leaves and files that have no name, each more than it may hold together."""
    for how in ("os.O_CREAT | os.O_WRONLY", "os.O_TMPFILE | os.O_WRONLY"):
        place = "folder" if "TMPFILE" in how else "folder + '/' + str(one)"
        text = f"import os, time\nmade = [os.open({place}, {how}) for one in range(3)]\n"
        text += "[os.write(one, b'x' * (60 << 20)) for one in made]\ntime.sleep(600)"
        assert ask(text, wall_s=60.0, memory_bytes=150 << 20)[0].ended == "oom"


def test_it_can_not_end_its_maker(ask: Ask) -> None:
    """In a pid namespace it sees no process but its own."""
    reply, said = ask("import os; said = os.getppid()")
    if "pid namespace" not in reply.isolation.held:
        pytest.skip("no pid namespace here")
    assert said == "0"


def test_a_maker_whose_parent_is_gone_ends_with_its_candidate(tmp_path: Path) -> None:
    """Killed from outside, the session ends, and the candidate's namespace with it."""
    talk = Talk([sys.executable, "-c", _PROGRAM], env=environment(ours=True))
    request = MakerRequest(CallRequest(_DAEMON + "\ntime.sleep(600)"), "sm_90", "Test", {}, str(tmp_path))
    talk.say(canonical(MakerJob(request, 600.0, 0).to_json()) + b"\n", 500)
    beat = tmp_path / "beat"
    end = time.monotonic() + 500
    while not beat.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    talk.end()
    time.sleep(0.3)
    size = beat.stat().st_size
    time.sleep(0.3)
    assert beat.stat().st_size == size
    assert not _alive(talk.child.pid)
