"""A call runs its command in a child: progress, the document, and what is left when the caller goes."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import pytest

from kopt_kb.base.errors import KoptError
from kopt_kb.packs.agents import call


async def _quiet(_seconds: float, _line: str) -> None:
    """Say nothing."""


def _program(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(call, "_PROGRAM", (sys.executable, "-c", code))


def test_an_answer(tmp_path: Path) -> None:
    """The command's own document and exit code."""
    answer = asyncio.run(call.ask(["explain", "KB128", "--json"], tmp_path, _quiet))
    assert answer.document["codes"][0]["code"] == "KB128" and (answer.code, answer.is_refused) == (0, False)
    answer = asyncio.run(call.ask(["explain", "KB999", "--json"], tmp_path, _quiet))
    assert (answer.code, answer.is_refused) == (2, True)


def test_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of stderr as they come, whole ones only, time growing."""
    _program(
        monkeypatch,
        "import sys, time\n"
        "for one in 'ab':\n"
        "    print(f'kb: round {one}', file=sys.stderr, flush=True)\n"
        "    time.sleep(0.4)\n"
        "print('{}')",
    )
    said: list[tuple[float, str]] = []

    async def say(seconds: float, line: str) -> None:
        said.append((seconds, line))

    assert asyncio.run(call.ask(["x"], tmp_path, say)).document == {}
    assert {line for _, line in said} >= {"round b"} and {line for _, line in said} <= {"round a", "round b"}
    assert [seconds for seconds, _ in said] == sorted(seconds for seconds, _ in said)


@pytest.mark.parametrize("code", ["print('no JSON')", "print([])", "import os; os.kill(os.getpid(), 9)", ""])
def test_no_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """An error with a code, never a traceback."""
    _program(monkeypatch, code)
    with pytest.raises(KoptError) as caught:
        asyncio.run(call.ask(["audit"], tmp_path, _quiet))
    assert (caught.value.error_code, caught.value.where) == ("KB129", "kb audit")


def test_no_program(tmp_path: Path) -> None:
    """More words than the system takes."""
    with pytest.raises(KoptError) as caught:
        asyncio.run(call.ask(["audit", *["x" * 100_000] * 50], tmp_path, _quiet))
    assert (caught.value.error_code, caught.value.where) == ("KB126", "kb audit")


def test_a_cancelled_call_ends_the_child_and_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are gone when the cancellation comes out."""
    _program(
        monkeypatch,
        "import os, subprocess, sys, time\n"
        "below = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(os.getpid(), below.pid, file=sys.stderr, flush=True)\n"
        "time.sleep(600)",
    )
    told: list[str] = []

    async def main() -> None:
        async def say(_seconds: float, line: str) -> None:
            told.append(line)

        task = asyncio.ensure_future(call.ask(["x"], tmp_path, say))
        while not told:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    end = time.monotonic() + 60
    for word in told[0].split():
        while Path(f"/proc/{word}").exists() and _state(word) != "Z":
            assert time.monotonic() < end
            time.sleep(0.01)


def _state(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """No descriptor stays open after a call."""
    asyncio.run(call.ask(["explain", "KB128", "--json"], tmp_path, _quiet))
    before = len(list(Path("/proc/self/fd").iterdir()))
    asyncio.run(call.ask(["explain", "KB128", "--json"], tmp_path, _quiet))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
