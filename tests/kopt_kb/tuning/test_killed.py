"""A campaign that is killed at moments that nobody chose, again and again."""

from __future__ import annotations

import math
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.journal.round_events import RunStarted
from kopt_kb.workspace.workspace import Workspace


@pytest.fixture
def registry(wiki_root: Path) -> Registry:
    return Registry.open(wiki_root)


def _children(clock: Path) -> set[int]:
    """Return the judges and references of a campaign that are alive, by the clock that they share."""
    found = set()
    for one in Path("/proc").glob("[0-9]*"):
        try:
            words = (one / "cmdline").read_bytes()
            gone = (one / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except (OSError, ProcessLookupError):
            continue
        if str(clock).encode() in words and b"fake_gpu.py" in words and not gone:
            found.add(int(one.name))
    return found


def _attempt(workspace: Workspace) -> int:
    """Return how often the run that began last was begun."""
    return max((e.data.attempt for e in workspace.events()[-1:] if isinstance(e.data, RunStarted)), default=1)


def test_killed_while_its_children_judge_it_ends_the_same(
    workspace: Workspace, registry: Registry, wiki_root: Path, tmp_path: Path
) -> None:
    """Kills at moments that nobody chose, judge and reference running: no child is left, nothing is lost or done twice."""
    folder = tmp_path / "kept"
    folder.mkdir()
    program = str(Path(__file__).with_name("killed_program.py"))
    command = [sys.executable, program, str(workspace.layout.root), str(wiki_root), str(folder)]
    chance, seen, kills = random.Random(7), 0, 0
    while True:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        ends_at = math.inf
        while child.poll() is None and time.monotonic() < ends_at:
            running = len(_children(folder / "clock"))
            seen = max(seen, running)
            if running >= 2 and kills < 6 and ends_at == math.inf and _attempt(workspace) < 3:
                # the first at once: fast machines end soon; a run that is abandoned too often counts as lost
                ends_at = time.monotonic() + (chance.uniform(0.0, 1.0) if kills else 0.0)
            time.sleep(0.02)
        if child.poll() is not None:
            said, told = child.communicate()
            assert child.returncode == 0, told.decode()
            break
        child.kill()
        child.communicate()
        kills += 1
        end = time.monotonic() + 20
        while _children(folder / "clock") and time.monotonic() < end:
            time.sleep(0.02)
        assert not _children(folder / "clock")
    assert said.decode().strip() == "exhausted"
    assert seen >= 2
    assert kills > 0
    state = workspace.state()
    assert [one.decided.decision for one in state.rounds] == ["accept", "accept", "rollback", "accept"]
    finished = Counter(
        (number, run.started.gate)
        for number, one in enumerate(state.rounds)
        for run in one.runs.values()
        if run.finished is not None and run.finished.outcome == "ok" and not run.started.candidate.startswith("reach-")
    )
    assert set(finished.values()) == {1}, "a run that had ended is not done again"
    assert audit(workspace.layout.root, registry).findings == ()
    assert not _children(folder / "clock")
