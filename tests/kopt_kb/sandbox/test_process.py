"""A child is watched by its limits, ends with everything in its session, and never outlives this program."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import kopt_kb
from kopt_kb.sandbox import process
from kopt_kb.sandbox.process import Child, ChildLimits, Finished, end_alike, environment, read_tail, run, start_ticks

MIB = 1 << 20
WAIT_S = 500.0
"""Longest wait for something that is bound to happen; a machine may be busy."""


def wait(done: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + WAIT_S
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def sh(tmp_path: Path, script: str, limits: ChildLimits = ChildLimits()) -> tuple[Finished, str, list[int]]:  # noqa: B008
    """How a shell script ended, its log, and the process ids that were told."""
    told: list[int] = []
    with (tmp_path / "printed").open("ab") as log:
        done = run(
            ("sh", "-c", script), env=os.environ, limits=limits, log=log, folder=tmp_path,
            started=lambda _, pid, __: told.append(pid),
        )  # fmt: skip
    return done, (tmp_path / "printed").read_text(), told


def test_it_ends_by_itself(tmp_path: Path) -> None:
    """Status and output, stdout and stderr in one log; it runs in its folder."""
    done, printed, told = sh(tmp_path, "pwd; echo bad >&2; exit 4")
    assert (done.code, done.passed) == (4, None) and 0 <= done.wall_s < WAIT_S
    assert printed == f"{tmp_path}\nbad\n" and len(told) == 1


def test_without_a_log_both_outputs_are_returned() -> None:
    """What it is fed is what it reads; nothing blocks, whatever is printed and read in which order."""
    line = "dd if=/dev/zero bs=1000000 count=3 2>/dev/null | tr '\\0' x; cat >&2"
    done = run(("sh", "-c", line), env=os.environ, limits=ChildLimits(), feed=b"y\n" * 500_000)
    assert (done.code, done.stdout, done.stderr) == (0, b"x" * 3_000_000, b"y\n" * 500_000)
    assert done.last_line == "y"
    assert run(("sh", "-c", "echo out; echo; cat"), env=os.environ, limits=ChildLimits()).last_line == "out"


@pytest.mark.parametrize(
    ("script", "limits", "passed"),
    [
        ("sleep 600 & echo $!; sleep 600", ChildLimits(0.5), "hang"),
        ("sleep 600 & echo $!; sleep 600", ChildLimits(resident_bytes=1), "oom"),
        ("sleep 600 & echo $!", ChildLimits(), None),
    ],
)
def test_nothing_of_its_session_is_left(tmp_path: Path, script: str, limits: ChildLimits, passed: str | None) -> None:
    """Past a limit, and also after a good end: what it left in the background is gone."""
    done, printed, _ = sh(tmp_path, script, limits)
    assert done.passed == passed
    if printed:
        left = int(printed.split()[0])
        wait(lambda: not runs(left))


@pytest.mark.parametrize(
    ("trap", "grace_s", "code"), [("echo saved; exit 3", WAIT_S, 3), ("", 0.3, -signal.SIGKILL), ("exit 3", 0.0, -9)]
)
def test_a_child_may_end_by_itself_when_there_is_grace(tmp_path: Path, trap: str, grace_s: float, code: int) -> None:
    """SIGTERM comes first; without an answer to it, or without grace, SIGKILL."""
    log = tmp_path / "log"
    with log.open("wb") as file:
        script = f"trap '{trap}' TERM; echo ready; while :; do sleep 0.05; done"
        child = Child(("sh", "-c", script), env=os.environ, stdout=file)
        wait(lambda: log.read_text() == "ready\n")
        assert child.end(grace_s) == code
    assert log.read_text() == ("ready\nsaved\n" if "saved" in trap else "ready\n")


@pytest.mark.parametrize("script", ["yes", "head -c 300000 /dev/zero"])
def test_printing_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """While it prints, and also when it was faster than the next look; what stood in the log before is not counted."""
    monkeypatch.setattr(process, "MAX_PRINTED_BYTES", 200_000)
    (tmp_path / "printed").write_bytes(b"x" * 500_000)
    assert sh(tmp_path, "echo short")[0].passed is None
    assert sh(tmp_path, script)[0].passed == "limit"
    assert run(("sh", "-c", script), env=os.environ, limits=ChildLimits()).passed == "limit"
    assert (
        run(("head", "-c", "300000", "/dev/zero"), env=os.environ, limits=ChildLimits(printed_bytes=0)).passed is None
    )


def test_the_address_space_is_limited() -> None:
    """The allocation fails inside the child, which goes on to say so."""
    code = (
        "import resource, time\nwhile resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:\n"
        " time.sleep(0.01)\ntry:\n bytearray(600 << 20)\nexcept MemoryError:\n print('none left')"
    )
    limits = ChildLimits(address_bytes=400 * MIB)
    assert run((sys.executable, "-S", "-c", code), env=os.environ, limits=limits).stdout == b"none left\n"


def test_what_is_no_program_is_an_error_of_the_system() -> None:
    """Whoever started it says what that means; no descriptor is left."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        with pytest.raises(FileNotFoundError):
            Child(("no-such-program",), env=os.environ)
    run(("true",), env=os.environ, limits=ChildLimits())
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGTERM])
def test_the_whole_session_ends_with_this_program(tmp_path: Path, ended_by: signal.Signals) -> None:
    """The command, what it started in the background, and a thread that started it and is gone do not matter."""
    script = f"sleep 600 & echo $! > {tmp_path}/two; echo $$ > {tmp_path}/one; wait"
    parent = (
        "import os, threading, time\nfrom kopt_kb.sandbox.process import Child\nkept = []\n"
        f"start = lambda: kept.append(Child(('sh', '-c', {script!r}), env=os.environ))\n"
        "one = threading.Thread(target=start); one.start(); one.join()\n"
        f"open({str(tmp_path / 'joined')!r}, 'w').write('x'); time.sleep(600)\n"
    )
    program = subprocess.Popen([sys.executable, "-c", parent], env=environment(ours=True))
    try:
        files = [tmp_path / "one", tmp_path / "two"]
        wait(lambda: all(one.is_file() and one.read_text().strip() for one in (*files, tmp_path / "joined")))
        pids = [int(one.read_text()) for one in files]
        assert all(map(runs, pids))
        program.send_signal(ended_by)
        program.wait()
        wait(lambda: not any(map(runs, pids)))
    finally:
        program.kill()
        program.wait()


def test_a_child_that_joins_is_ended_alone() -> None:
    """It is in our session, so that ours is not killed with it."""
    child = Child(("sleep", "600"), env=os.environ, limits=ChildLimits(joined=True))
    assert os.getsid(child.pid) == os.getsid(0)
    assert not child.has_ended()
    assert child.end() == -signal.SIGKILL and child.end() == -signal.SIGKILL


def test_a_child_that_nobody_may_wait_for_ends_too() -> None:
    """With SIGCHLD ignored the kernel collects children; that is an end like any other."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert run(("true",), env=os.environ, limits=ChildLimits(WAIT_S)).passed is None
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.mark.parametrize("how", ["exit 3", "kill -SEGV $$", "kill -KILL $$"])
def test_ending_alike(how: str) -> None:
    """A process that stands for another ends as that one did."""
    code = "import subprocess, sys\nfrom kopt_kb.sandbox.process import end_alike\n"
    code += f"sys.exit(end_alike(subprocess.call(['sh', '-c', {how!r}])))"
    expected = subprocess.call(["sh", "-c", how])
    assert run((sys.executable, "-c", code), env=environment(ours=True), limits=ChildLimits()).code == expected
    assert end_alike(0) == 0


def test_the_environment_keeps_the_order_of_python_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package on PYTHONPATH wins over one beside ours, as it does here; ours is found in any case."""
    home = str(Path(kopt_kb.__file__).resolve().parent.parent)
    monkeypatch.setenv("PYTHONPATH", "/a:/b:/a")
    monkeypatch.setenv("SECRET", "x")
    assert environment(ours=True)["PYTHONPATH"] == f"/a:/b:{home}"
    assert environment(first=(Path("/c"),))["PYTHONPATH"] == "/c:/a:/b"
    assert environment({"PYTHONPATH": "/d"}, keep=("PATH",)) == {"PATH": os.environ["PATH"], "PYTHONPATH": "/d"}
    assert environment() == dict(os.environ)
    monkeypatch.delenv("PYTHONPATH")
    assert environment(ours=True)["PYTHONPATH"] == home and "PYTHONPATH" not in environment()


def test_only_the_end_of_a_log_is_read(tmp_path: Path) -> None:
    """A log of gigabytes costs no memory; an absent one is empty."""
    log = tmp_path / "log"
    with log.open("wb") as file:
        file.truncate(1 << 33)
        file.seek(0, os.SEEK_END)
        file.write(b"the end")
    found = read_tail(log)
    assert found.endswith("the end") and len(found) == 64_000
    assert read_tail(tmp_path / "none") == ""


def test_start_ticks_of_a_running_process_and_of_one_that_is_gone() -> None:
    """Ours started before its child; a process that ended and was waited for has no start."""
    child = Child(("sleep", "600"), env=os.environ)
    own = start_ticks(os.getpid())
    assert own is not None and child.ticks is not None and own <= child.ticks
    child.end()
    assert start_ticks(child.pid) is None


@pytest.mark.packs
def test_children_are_started_here_alone(repo_root: Path) -> None:
    """Nothing else in the package starts a process; what is planted is found.

    Three programs that were started there fork: a warm maker, a cage and a tracer of problems, none of which holds a
    journal or a lock. Another file names multiprocessing to put a stand-in in its place while a candidate is imported,
    one more holds the text of a script that a user runs.
    """
    starts = re.compile(r"\b(Popen|check_output|check_call|system|popen|fork|forkpty|posix_spawnp?|spawn[lv]p?e?)\(")
    modules = re.compile(
        r"\bsubprocess\.(run|call|Popen)\(|^\s*(import|from) multiprocessing|ProcessPoolExecutor", re.MULTILINE
    )
    found = []
    for room in ("kopt_kb", "analysis", "kernels"):
        for file in sorted((repo_root / room).rglob("*.py")):
            text = file.read_text()
            if starts.search(text) or modules.search(text):
                found.append(file.relative_to(repo_root).as_posix())
    assert set(found) == {
        "kopt_kb/sandbox/process.py",
        "kopt_kb/launch/record/serve.py",
        "kopt_kb/sandbox/caged.py",
        "kopt_kb/launch/compile/torch_stand_ins.py",
        "kopt_kb/packs/memory_form/manifest.py",
        "kopt_kb/packs/problem_sets/bounds/child.py",
    }
    assert starts.search("os.fork()") and modules.search("import multiprocessing as mp")
