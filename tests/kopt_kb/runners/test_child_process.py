"""A child is watched by its limits and ended with everything in its session."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kopt_kb.runners.candidate.job import RunLimits
from kopt_kb.runners.child_process import Ended, read_tail, watch


def run(tmp_path: Path, script: str, limits: RunLimits) -> tuple[Ended, str, list[int]]:
    """How a shell script ended, what it printed, and the ids that were told."""
    told: list[int] = []
    with (tmp_path / "printed").open("wb") as printed:
        ended = watch(
            ("sh", "-c", script), printed=printed, env=os.environ, limits=limits,
            started=lambda _, pid, __: told.append(pid), folder=tmp_path,
        )  # fmt: skip
    return ended, (tmp_path / "printed").read_text(), told


def test_it_ends_by_itself(tmp_path: Path) -> None:
    """Status and output, stdout and stderr in one; it runs in its folder."""
    ended, printed, told = run(tmp_path, "pwd; echo bad >&2; exit 4", RunLimits(20.0))
    assert (ended.code, ended.ending) == (4, None) and 0 <= ended.wall_s < 20
    assert printed == f"{tmp_path}\nbad\n" and len(told) == 1


@pytest.mark.parametrize(
    ("script", "limits", "ending"),
    [
        ("sleep 60 & echo $!; sleep 60", RunLimits(0.3), "hang"),
        ("sleep 60 & echo $!; sleep 60", RunLimits(60.0, 1), "oom"),
        ("sleep 60 & echo $!", RunLimits(60.0), None),
    ],
)
def test_nothing_of_its_session_is_left(tmp_path: Path, script: str, limits: RunLimits, ending: str | None) -> None:
    """Past a limit, and also after a good end: what it left in the background is gone."""
    ended, printed, _ = run(tmp_path, script, limits)
    assert ended.ending == ending
    if ending != "oom":
        left = Path(f"/proc/{int(printed.split()[0])}/stat")
        end = time.monotonic() + 10
        while _runs(left) and time.monotonic() < end:  # the kernel takes its time to end what was killed
            time.sleep(0.02)
        assert not _runs(left)


def _runs(stat: Path) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("script", ["yes", "head -c 300000 /dev/zero"])
def test_printing_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """While it prints, and also when it was faster than the next look."""
    monkeypatch.setattr("kopt_kb.runners.child_process.MAX_PRINTED_BYTES", 200_000)
    ended, _, _ = run(tmp_path, script, RunLimits(60.0))
    assert ended.ending == "limit" and ended.wall_s < 30


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
