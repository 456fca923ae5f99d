"""A command that runs behind the lifeline ends as itself, and ends when the parent does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kopt_kb.runners import lifeline


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    """The end of a command behind the lifeline."""
    line = [sys.executable, "-I", lifeline.__file__, str(os.getpid()), "--", *argv]
    return subprocess.run(line, capture_output=True, text=True, check=False, start_new_session=True)


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (("sh", "-c", "echo said; exit 3"), 3, "said"),
        (("sh", "-c", "kill -SEGV $$"), -signal.SIGSEGV, ""),
        (("sh", "-c", "kill -KILL $$"), -signal.SIGKILL, ""),
        (("no-such-program",), 127, "kb: no-such-program can't be run: No such file"),
    ],
)
def test_it_ends_as_its_command(argv: tuple[str, ...], code: int, words: str) -> None:
    """Status, signal and output pass through."""
    done = run(*argv)
    assert done.returncode == code and words in done.stdout


def test_a_parent_that_is_gone_is_no_parent() -> None:
    """Nothing is run for it."""
    done = subprocess.run(
        [sys.executable, "-I", lifeline.__file__, "1", "--", "echo", "ran"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")


def test_the_whole_group_ends_with_the_parent(tmp_path: Path) -> None:
    """SIGKILL of the parent ends the command and what it started in the background."""
    script = f"sleep 60 & echo $! > {tmp_path}/two; echo $$ > {tmp_path}/one; wait"
    parent = (
        "import subprocess, sys, os\n"
        f"line = [sys.executable, '-I', {lifeline.__file__!r}, str(os.getpid()), '--', 'sh', '-c', {script!r}]\n"
        "subprocess.Popen(line, start_new_session=True).wait()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", parent])
    try:
        files = [tmp_path / "one", tmp_path / "two"]
        wait(lambda: all(one.is_file() and one.read_text().strip() for one in files))
        pids = [int(one.read_text()) for one in files]
        assert all(map(alive, pids))
        process.kill()
        process.wait()
        wait(lambda: not any(map(alive, pids)))
        assert not any(map(alive, pids))
    finally:
        process.kill()
        process.wait()


def wait(done) -> None:
    """Wait until something holds, at most 500 s."""
    end = time.monotonic() + 500
    while not done() and time.monotonic() < end:
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody collected yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
