"""Claims about processes that search together: real children, some killed, some behind a launcher."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.candidate.job import Request, SpaceAsked
from kopt_kb.launch.judge.makers import Makers
from kopt_kb.launch.judge.search import SearchTools, search_shape
from kopt_kb.launch.judge.shelf import RecordTarget, Shelf
from kopt_kb.packs.cluster import searcher
from kopt_kb.packs.cluster.searcher import Searchers, SearchJob, SharedSearch, main
from kopt_kb.packs.cluster.study import SharedStudy

BODY = Request(op="elementwise", shapes=("1024",), dtype="bf16", evaluations=12, seconds=60.0)
SPACE = SpaceAsked({"A": 1, "B": 1}, {"A": [1, 2, 3, 4], "B": [1, 2, 3]}, {"A": 4, "B": 3})
STUB = """
import os, sys, time
from pathlib import Path
from kopt_kb.packs.cluster.searcher import SearchJob
from kopt_kb.packs.cluster.study import SharedStudy
from kopt_kb.base.wire import parse, read

job = read(SearchJob, parse(Path(sys.argv[1]).read_bytes()))
here = Path(__file__).parent
study = SharedStudy(Path(job.study), dict(job.space.knobs), int(sys.argv[2]), sys.argv[3])
for config, tell in study.asked(job.body.evaluations):
    name = f"{config['A']}{config['B']}"
    with (here / "log").open("a") as log:
        log.write(f"{name} {os.getpid()} {os.environ.get('CUDA_VISIBLE_DEVICES', '')}\\n")
    first = not (here / "died").exists()
    if name == (here / "poison").read_text() and (first or not (here / "once").exists()):
        (here / "died").touch()
        os.kill(os.getpid(), 9)
    time.sleep(float((here / "pause").read_text()))
    tell(config["A"] + config["B"] / 10)
"""


class Tried:
    """A search by stub programs, and what they logged."""

    def __init__(self, folder: Path) -> None:
        pytest.importorskip("optuna", reason="optuna is not installed: pip install 'kopt-kb[tune]'")
        self.folder, self.said = folder, list[str]()
        (folder / "stub.py").write_text(STUB)
        (folder / "poison").write_text("")
        (folder / "pause").write_text("0.15")
        (folder / "reference.py").write_text("")

    def ranked(self, searchers: Searchers, seconds: float = 60.0) -> list[tuple[float, Any]]:
        tools: Any = SearchTools(b"", self.folder / "reference.py", None, None, self.said.append, lambda *_: None)  # type: ignore[arg-type]
        shared = SharedSearch(searchers, RecordTarget("sm_90", "Test"))
        return shared.ranked("1024", SPACE, BODY, tools, time.monotonic() + seconds)

    def program(self) -> tuple[str, ...]:
        return (sys.executable, str(self.folder / "stub.py"))

    def log(self) -> list[list[str]]:
        return [line.split(" ") for line in (self.folder / "log").read_text().splitlines()]


@pytest.fixture
def tried(tmp_path: Path) -> Tried:
    """Stubs in a folder."""
    return Tried(tmp_path)


def test_processes_share_a_search(tried: Tried) -> None:
    """Each configuration is tried by one of them; each sees its own device."""
    found = tried.ranked(Searchers(2, (), ("0", "1"), tried.program()))
    assert [value for value, _ in found] == sorted(a + b / 10 for a in (1, 2, 3, 4) for b in (1, 2, 3))
    assert dict(found[0][1]) == {"A": 1, "B": 1}
    assert set(Counter(line[0] for line in tried.log()).values()) == {1}
    assert {line[2] for line in tried.log()} == {"0", "1"}
    assert len({line[1] for line in tried.log()}) == 2
    assert tried.said == []


def test_a_killed_process_loses_nothing(tried: Tried) -> None:
    """What it was at is tried again, and counted once."""
    (tried.folder / "poison").write_text("23")
    (tried.folder / "once").touch()
    found = tried.ranked(Searchers(2, (), (), tried.program()))
    assert len(found) == len({canonical(dict(config)) for _, config in found}) == 12
    assert all(value < 5 for value, _ in found)
    counts = Counter(line[0] for line in tried.log())
    assert (sum(counts.values()), counts["23"]) == (13, 2)
    assert "ended with -9: 1 configuration(s) given back" in tried.said[0]


def test_a_configuration_that_ends_whoever_tries_it_is_left(tried: Tried) -> None:
    """After two; the others are ranked."""
    (tried.folder / "poison").write_text("23")
    found = tried.ranked(Searchers(2, (), (), tried.program()))
    assert dict(found[-1][1]) == {"A": 2, "B": 3}
    assert found[-1][0] == float("inf")
    assert len(found) == 12
    assert Counter(line[0] for line in tried.log())["23"] == 2


def test_programs_that_can_not_run_end(tried: Tried) -> None:
    """Started three times at most; nothing is found, and that is said."""
    begin = time.monotonic()
    assert tried.ranked(Searchers(1, (), (), (sys.executable, "-c", "raise SystemExit(3)"))) == []
    assert time.monotonic() - begin < 120
    assert "ended with 3" in tried.said[0]


def test_the_end_of_time_ends_them(tried: Tried) -> None:
    """What has no answer then counts for nothing, and no process is left."""
    (tried.folder / "pause").write_text("600")
    for seconds in (5.0, 30.0, 120.0):  # a busy machine imports optuna in many
        begin = time.monotonic()
        assert tried.ranked(Searchers(1, (), (), tried.program()), seconds=seconds) == []
        assert time.monotonic() - begin < 240
        if (tried.folder / "log").exists():
            break
    (pid,) = {int(line[1]) for line in tried.log()}
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def _launcher(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_launcher_starts_them(tried: Tried) -> None:
    """As srun is called: options, then the command, whose device the launcher chooses."""
    text = f'echo "$@" >> {tried.folder}/srun.log\nwhile [ "${{1#--}}" != "$1" ]; do shift; done\nCUDA_VISIBLE_DEVICES=7 exec "$@"\n'
    srun = _launcher(tried.folder, "srun", text)
    found = tried.ranked(Searchers(2, (str(srun), "--ntasks=1", "--gpus=1"), (), tried.program()))
    assert len(found) == 12
    assert {line[2] for line in tried.log()} == {"7"}
    started = (tried.folder / "srun.log").read_text().splitlines()
    assert len(started) >= 2
    assert all(line.startswith("--ntasks=1 --gpus=1 ") for line in started)


@pytest.mark.torch
@pytest.mark.triton
def test_a_searcher_makes_records_and_times_them(
    tmp_path: Path, launcher: Callable[..., bytes], invented: Any, makers: Makers
) -> None:
    """In this process, on a judge in memory: ratios to what the shape has; then the search that asked confirms."""
    space = SpaceAsked({"BLOCK": 128}, {"BLOCK": [128, 256, 100, 1024]}, {"BLOCK": 256})
    (tmp_path / "kernel.py").write_bytes(launcher())
    study = SharedStudy(tmp_path / "study.log", {"BLOCK": [128, 256, 100, 1024]}, 1)
    study.put({"BLOCK": block} for block in (128, 256, 100, 1024))
    job = SearchJob(
        str(tmp_path / "study.log"), str(tmp_path / "kernel.py"), str(tmp_path / "kernel.py"), "4096", space,
        BODY, "sm_90", "Test", {}, time.time() + 120, 1,
    )  # fmt: skip
    (tmp_path / "job.json").write_bytes(canonical(job.to_json()))
    assert read(SearchJob, parse((tmp_path / "job.json").read_bytes())).to_json() == job.to_json()
    judge = invented(lambda record: 1e-6 * record.launches[0].grid[0])
    assert main([str(tmp_path / "job.json"), "0", "0.1"], lambda: judge) == 0
    assert judge.closed
    ratios = {json.dumps(dict(config)): value for value, config in study.ranked()}
    assert ratios['{"BLOCK": 1024}'] == pytest.approx(0.25, rel=0.02)
    assert ratios['{"BLOCK": 128}'] == pytest.approx(2.0, rel=0.02)
    assert ratios['{"BLOCK": 100}'] == float("inf")

    class Done:
        """Searchers that have ended."""

        def ranked(self, *_: object) -> list[tuple[float, Any]]:
            return list(study.ranked())

    shelf = Shelf(tmp_path, makers, RecordTarget("sm_90", "Test"))
    tools = SearchTools(
        launcher(), tmp_path / "kernel.py", shelf, judge, lambda _: None, lambda *_: None, shared=Done()
    )
    found = search_shape("4096", space, BODY, tools, time.monotonic() + 60)
    assert dict(found.config) == {"BLOCK": 1024}
    assert (found.evaluated, found.failed, found.strategy) == (4, 1, "model, shared")
    assert found.median_s == pytest.approx(4e-6, rel=0.01)


def test_the_program_is_this_module() -> None:
    """What searchers run by default can be run."""
    assert Searchers(1).program[-1] == searcher.__name__
