"""Claims about commands in the cage: status, signals, output and limits are the command's, and nothing outlives it."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from kopt_kb.sandbox.caged import Cage, cage_here, caged, held_by
from kopt_kb.sandbox.process import Child, ChildLimits, Finished, environment, run
from kopt_kb.sandbox.used import below

pytestmark = pytest.mark.core


def _ran(folder: Path, *argv: str, limits: ChildLimits = ChildLimits(60.0)) -> Finished:  # noqa: B008 - frozen
    cage = Cage((str(folder),), str(folder / "held.json"))
    return run(caged(argv, cage), env=environment(), limits=limits, folder=folder)


def test_status_and_output(tmp_path: Path) -> None:
    """As without a cage; arguments are not looked at."""
    ended = _ran(tmp_path, sys.executable, "-c", "import sys; print(sys.argv[1:]); sys.exit(7)", "--", "{a}", "")
    assert (ended.code, ended.stdout) == (7, b"['--', '{a}', '']\n")


def test_signals(tmp_path: Path) -> None:
    """A command that a signal ends, ends so for whoever waits."""
    assert _ran(tmp_path, "sh", "-c", "kill -SEGV $$").code == -signal.SIGSEGV
    assert _ran(tmp_path, "sh", "-c", "kill -KILL $$").code == -signal.SIGKILL


def test_no_program(tmp_path: Path) -> None:
    """The shell's words for it."""
    ended = _ran(tmp_path, "no-such-program")
    assert (ended.code, ended.last_line) == (127, "no-such-program can't be run: No such file or directory")
    assert _ran(tmp_path, str(tmp_path)).code == 126


def test_grace(tmp_path: Path) -> None:
    """SIGTERM reaches the command and not those around it, so that it may end by itself."""
    script = "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.05; done"
    for wall_s in (1.5, 15.0, 150.0):  # a busy machine takes its time to start it
        ended = _ran(tmp_path, "sh", "-c", script, limits=ChildLimits(wall_s, grace_s=500.0))
        if ended.stdout:
            break
    assert (ended.passed, ended.stdout, ended.code) == ("hang", b"up\nbye\n", 3)


@pytest.mark.parametrize("how", ["ends", "is killed"])
def test_nothing_outlives_it(tmp_path: Path, how: str) -> None:
    """Daemons in sessions of their own are gone with it, however it ends."""
    mark = tmp_path / "alive"
    script = (
        f"setsid sh -c 'while :; do date +%N > {mark}; sleep 0.05; done' & while [ ! -s {mark} ]; do sleep 0.05; done"
    )
    cage = Cage((str(tmp_path),), str(tmp_path / "held.json"))
    tail = "" if how == "ends" else "; sleep 600"
    child = Child(caged(["sh", "-c", script + tail], cage), env=environment())
    if how == "ends":
        assert child.has_ended(500.0)
    end = time.monotonic() + 500
    while not mark.exists() and time.monotonic() < end:
        time.sleep(0.02)
    found = below(child.pid)
    child.end()
    end = time.monotonic() + 500
    while any(Path(f"/proc/{pid}").exists() for pid in found) and time.monotonic() < end:
        time.sleep(0.02)
    before = mark.read_text()
    time.sleep(0.3)
    assert mark.read_text() == before


def test_what_held_is_on_record_before_it_starts(tmp_path: Path) -> None:
    """And can't be forged by a report that is no report."""
    _ran(tmp_path, "true")
    held = held_by(tmp_path / "held.json")
    assert set(held.held) | set(held.missing) >= {"user namespace", "write-protected files", "filtered system calls"}
    (tmp_path / "held.json").write_text("{}x")
    assert "no report" in held_by(tmp_path / "held.json").missing["cage"]
    assert "no report" in held_by(tmp_path / "none.json").missing["cage"]


def test_the_network_is_kept_where_asked_for(tmp_path: Path) -> None:
    """And said."""
    report = tmp_path / "held.json"
    code = "import socket; socket.socket().close()"
    cage = Cage((str(tmp_path),), str(report), network=True)
    assert run(caged([sys.executable, "-c", code], cage), env=dict(os.environ), limits=ChildLimits(60.0)).code == 0
    assert held_by(report).missing["net namespace"] == "the network was asked for"


def test_what_holds_on_this_machine(tmp_path: Path) -> None:
    """A command of nobody is held by what any other is."""
    assert _ran(tmp_path, "true").code == 0
    other = held_by(tmp_path / "held.json")
    assert (cage_here().held, cage_here().missing.keys()) == (other.held, other.missing.keys())


def test_processes_name_their_threads(tmp_path: Path) -> None:
    """As CUDA does before it starts, and in children too; the machine's files in /proc can't be opened for writing."""
    code = """
import os
for _ in range(2):
    open("/proc/self/comm", "w").write("named")
    open(f"/proc/self/task/{os.getpid()}/comm", "w").write("named")
    if os.fork():
        os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
opened = []
for folder, _, files in os.walk("/proc"):
    if not folder.split("/")[2:3] or not folder.split("/")[2].isdigit():
        for name in files:
            try:
                os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK))
                opened.append(os.path.join(folder, name))
            except OSError:
                pass
try:
    os.close(os.open("/proc/1/mem", os.O_WRONLY))
    opened.append("mem")
except OSError:
    pass
print(opened)
"""
    cage = Cage((str(tmp_path), "/proc"), str(tmp_path / "held.json"))
    ended = run(caged([sys.executable, "-c", code], cage), env=environment(), limits=ChildLimits(60.0), folder=tmp_path)
    assert (ended.code, ended.stdout) == (0, b"[]\n"), ended.last_line


_GROW = {
    "memory files": "made = [os.memfd_create('x') for _ in range(6)]",
    "files on disk": "made = [os.open(f'{one}.bin', os.O_CREAT | os.O_WRONLY) for one in range(6)]",
    "files without a name": "made = [os.open('.', os.O_TMPFILE | os.O_WRONLY) for _ in range(6)]",
    "shared memory": "made = [os.open(f'/dev/shm/{one}', os.O_CREAT | os.O_WRONLY) for one in range(6)]",
}


@pytest.mark.parametrize("how", _GROW)
def test_what_it_holds_is_counted_without_cgroups(tmp_path: Path, how: str) -> None:
    """300 MiB under a limit of 100 MiB end it, or can't be written, and the log says which limit; 30 MiB are held."""
    (tmp_path / "own").mkdir()
    shared = ("/dev/shm",) if how == "shared memory" else ()
    for size, ends in ((50, True), (5, False)):
        cage = Cage(
            (str(tmp_path / "own"), *shared), str(tmp_path / "held.json"), builds=True, memory_bytes=100 << 20,
            disk_bytes=100 << 20,
        )  # fmt: skip
        code = f"import os, time\n{_GROW[how]}\n[os.write(one, b'x' * ({size} << 20)) for one in made]\ntime.sleep({60 * ends})"
        ended = run(
            caged([sys.executable, "-c", code], cage),
            env=environment(),
            limits=ChildLimits(500.0),
            folder=tmp_path / "own",
        )
        assert (ended.code != 0) == ends, ended.last_line
        assert "counted memory and disk" in held_by(tmp_path / "held.json").held
        if ends:
            assert "kb: ended: more than 104857600 bytes" in ended.last_line or "No space left" in ended.last_line
