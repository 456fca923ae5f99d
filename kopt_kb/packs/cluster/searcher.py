"""Processes that search one space together: each makes records, times them on its device, and shares an Optuna study.

The process that runs the campaign starts them, itself or by a launcher such as `srun`, gives back what one that went
was at, and confirms what they found on its own device: their ratios rank, and nothing that they say decides. A searcher
runs as `python -m kopt_kb.packs.cluster.searcher JOB NUMBER OWNER`.
"""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.base.errors import KoptError
from kopt_kb.base.files import read_input
from kopt_kb.base.wire import JsonMap, Wire, canonical, parse, read
from kopt_kb.launch.candidate.job import Request, SpaceAsked
from kopt_kb.launch.judge import device
from kopt_kb.launch.judge.judging import Judging
from kopt_kb.launch.judge.makers import Makers
from kopt_kb.launch.judge.pool import visible
from kopt_kb.launch.judge.search import SearchTools, rank_shape
from kopt_kb.launch.judge.shelf import RecordTarget, Shelf
from kopt_kb.packs.cluster.study import SharedStudy
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.sandbox.process import Child, environment

__all__ = ["SearchJob", "Searchers", "SharedSearch", "main", "supervise"]

_PROGRAM = (sys.executable, "-P", "-m", "kopt_kb.packs.cluster.searcher")
_STARTS = 3
"""How often one searcher is started."""
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Searchers:
    """How many processes search, what starts them, and which device each sees (none named: what its launcher gives).

    Attributes:
        program: The searcher itself.
    """

    count: int
    command: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    program: tuple[str, ...] = _PROGRAM


@dataclass(frozen=True, slots=True)
class SearchJob(Wire):
    """What the searchers of one shape work on; `until` is a moment of `time.time`, since they may be anywhere."""

    study: str
    source: str
    reference: str
    shape: str
    space: SpaceAsked
    body: Request
    target: str
    product: str
    facts: JsonMap
    until: float
    makers: int = 0
    problem: str = ""


class SharedSearch:
    """Ranks a space by searchers; see `search.Shared`.

    Args:
        searchers: How they are started.
        target: For what records are made.
    """

    def __init__(self, searchers: Searchers, target: RecordTarget) -> None:
        self._searchers, self._target = searchers, target

    def ranked(
        self, shape: str, space: SpaceAsked, body: Request, tools: SearchTools, ends_at: float
    ) -> list[tuple[float, Mapping[str, object]]]:
        """Return (ratio to what the shape has, configuration) of all that was tried, the best first."""
        knobs, most = _lists(space.knobs), body.evaluations
        with owned_folder("kb-search-") as folder:
            study = SharedStudy(folder / "study.log", knobs, body.seed)
            if study.size <= most:
                study.put(dict(zip(knobs, one, strict=True)) for one in itertools.product(*knobs.values()))
            else:
                study.put([space.start if space.keep is None else space.keep, space.start])
            files = {
                "kernel.py": tools.source,
                "reference.py": tools.reference.read_bytes(),
                "problem.py": tools.problem,
            }
            for name, text in files.items():
                (folder / name).write_bytes(text)
            cores = len(os.sched_getaffinity(0))
            job = SearchJob(
                str(folder / "study.log"), str(folder / "kernel.py"), str(folder / "reference.py"), shape, space, body,
                self._target.target, self._target.device, dict(self._target.facts),
                time.time() + ends_at - time.monotonic(),
                0 if self._searchers.command else max(1, cores // self._searchers.count),
                str(folder / "problem.py") if tools.problem else "",
            )  # fmt: skip
            (folder / "job.json").write_bytes(canonical(job.to_json()))
            supervise(self._searchers, folder / "job.json", study, most, ends_at, tools.say)
            return list(study.ranked())


def supervise(
    searchers: Searchers, job: Path, study: SharedStudy, most: int, ends_at: float, say: Callable[[str], None]
) -> None:
    """Run searchers until the study has so many answers or the time is over; all have ended then.

    Args:
        searchers: How they are started.
        job: The file of their `SearchJob`.
        study: The study.
        most: Configurations wanted.
        ends_at: Moment of `time.monotonic`.
        say: Takes a line for each searcher that went.
    """
    running = {number: _One(searchers, job, number) for number in range(searchers.count)}
    try:
        while running and time.monotonic() < ends_at:
            time.sleep(_POLL_S)
            for number, one in list(running.items()):
                if not one.child.has_ended():
                    continue
                code, returned = one.child.end(), study.give_back(one.owner)
                if code:
                    say(f"searcher {number} ended with {code}: {returned} configuration(s) given back")
                if study.is_over(most) or one.starts >= _STARTS or (code and not returned and one.starts > 1):
                    del running[number]
                else:
                    one.start()
    finally:
        for one in running.values():
            one.child.end()
            study.give_back(one.owner)


@dataclass(slots=True)
class _One:
    """One searcher, started again under another name when it went."""

    searchers: Searchers
    job: Path
    number: int
    starts: int = 0
    owner: str = ""
    child: Child = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.starts += 1
        self.owner = f"{self.number}.{self.starts}"
        words = (*self.searchers.command, *self.searchers.program, str(self.job), str(self.number), self.owner)
        devices = self.searchers.devices
        more = {"CUDA_VISIBLE_DEVICES": visible(devices[self.number % len(devices)])} if devices else {}
        self.child = Child(words, env=environment(more, ours=True))


def main(words: Sequence[str], made: Callable[[], Judging] | None = None) -> int:
    """Search until nothing is left to ask or the time is over; return the exit status.

    Args:
        words: The job's file, the searcher's number, its name in the study.
        made: Makes its device; None: the first that it sees.
    """
    file, number, owner = Path(words[0]), int(words[1]), words[2]
    job = read(SearchJob, parse(read_input(file), where=str(file)), where=str(file))
    study = SharedStudy(Path(job.study), _lists(job.space.knobs), job.body.seed + 1 + number, owner)
    worker = made() if made is not None else _device()
    ends_at = time.monotonic() + job.until - time.time()
    problem = read_input(job.problem) if job.problem else b""
    with Makers(job.makers) as makers, owned_folder("kb-search-") as folder:
        try:
            facts = {name: int(str(value)) for name, value in job.facts.items()}
            shelf = Shelf(folder, makers, RecordTarget(job.target, job.product, facts))
            tools = SearchTools(
                read_input(job.source), Path(job.reference), shelf, worker, _say, lambda *_: None, problem, (worker,)
            )
            rank_shape(job.shape, job.space, job.body, tools, ends_at, study.asked(job.body.evaluations))
            shelf.close()
        except KoptError as error:
            _say(str(error))
            return int(error.exit_code)
        finally:
            with suppress(KoptError):
                worker.close()
    return 0


def _lists(knobs: Mapping[str, object]) -> dict[str, Sequence[object]]:
    return {name: tuple(values) for name, values in knobs.items() if isinstance(values, list | tuple)}


def _device() -> Judging:
    return device.DeviceJudging()


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
