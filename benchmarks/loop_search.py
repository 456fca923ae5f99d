"""The loop's own search of a tuning space, with a table of exhaustive results in place of makers and judge.

What `kb tune run` runs is called as it is; a configuration that it times is an evaluation, one that does not compile or
that facts hold back is none. Facts are those that the table kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from result_table import ResultTable
from table_replay import TableSearch, asking

from kopt_kb.launch.candidate.job import Request, SpaceAsked
from kopt_kb.launch.judge.admission import Objection
from kopt_kb.launch.judge.judging import Timed
from kopt_kb.launch.judge.makers import Made, NotRecordedError
from kopt_kb.launch.judge.search import SearchTools, search_shape
from kopt_kb.launch.judge.shelf import Asked, Choose
from kopt_kb.launch.search.searcher import Searcher, SearchFacts
from kopt_kb.launch.search.space import Space

__all__ = ["loop_searches"]

AHEAD = (1, 20)
"""Records that are made before an earlier one is timed: one after the other, and as with sixteen makers."""
_OVER_S = 600.0


class _Record:
    """A record as far as a search looks at it."""

    not_replayable = ""
    buffers = outputs = ()


class _Bench:
    """Makers and judge at once; a folder's name is the place of a configuration."""

    def __init__(self, table: ResultTable, measure: Callable[[int], float], ahead: int) -> None:
        self.table, self.measure, self.ahead = table, measure, ahead

    def stream(
        self, asked: Iterator[Asked], ahead: int, ended: Callable[[], bool], choose: Choose | None = None
    ) -> Iterator[tuple[Asked, Made]]:
        """Yield a record of each, so many made before the first is used."""
        begun: list[Asked] = []
        while True:
            while len(begun) < ahead and not ended() and (one := next(asked, None)) is not None:
                begun.append(one)
            if not begun:
                return
            ready = [(one, self._made(one.config)) for one in begun]
            at = 0 if choose is None else choose(ready)
            begun.pop(at)
            yield ready[at]

    def _made(self, config: Mapping[str, object]) -> Made:
        place, record = self.table.space.find(config), _Record()
        failure = "forbidden" if place is None else self.table.results[place].failure
        if place is None or failure.startswith("compile"):
            return Made(Path("none"), None, NotRecordedError(failure))
        return Made(Path(str(place)), record)  # type: ignore[arg-type]

    def time(self, records: Sequence[Path], _: Path, launches: int, *__: object, **___: object) -> list[Timed]:
        """Return what the device says; the same whenever it is asked."""
        found = (self.measure(int(one.name)) for one in records)
        return [Timed((one,) * launches) if np.isfinite(one) else Timed((), "failed") for one in found]

    def numbers(self, folder: Path) -> Sequence[float] | None:
        """Return what the table knows of a configuration that was made."""
        facts = self.table.results[int(folder.name)].facts
        return [facts[name] for name in _COORDINATES] if facts else None

    def fact(self, folder: Path) -> Objection | None:
        """Say what the table knows against a configuration."""
        facts = self.table.results[int(folder.name)].facts
        stack = facts.get("stack_bytes")
        return Objection("spills", f"{stack:g} B of local memory a thread") if stack else None


def loop_searches(table: ResultTable, evaluations: int) -> dict[str, TableSearch]:
    """Return the loop's search with and without facts, and the searcher that has facts of the whole space, by name."""

    def search_of(ahead: int, *, has_facts: bool) -> TableSearch:
        def search(space: Space, seed: int, measure: Callable[[int], float]) -> None:
            bench: Any = _Bench(table, measure, ahead)
            fact = bench.fact if has_facts else None
            tools = SearchTools(
                b"", Path("reference.py"), bench, bench, _quiet, _quiet, fact=fact,
                numbers=bench.numbers if has_facts else lambda _: None,
            )  # fmt: skip
            valid = np.flatnonzero(np.isfinite(table.medians_s))
            first = space.config(int(np.random.default_rng(seed).choice(valid)))
            knobs = {name: list(values) for name, values in space.knobs.items()}
            body = Request(shapes=("table",), dtype="bf16", evaluations=evaluations, seed=seed)
            search_shape("table", SpaceAsked(first, knobs, first), body, tools, time.monotonic() + _OVER_S)

        return search

    return {
        "searcher with facts": asking(lambda space, seed: Searcher(space, seed, facts=_known(table))),
    } | {
        f"loop{' with facts' if has_facts else ''}, {ahead} ahead": search_of(ahead, has_facts=has_facts)
        for ahead in AHEAD
        for has_facts in (False, True)
    }


_COORDINATES = ("registers", "stack_bytes", "shared_bytes", "occupancy_pct", "blocks")


def _known(table: ResultTable) -> SearchFacts:
    """Return what compiling the whole space tells: places that do not compile, and coordinates by rank."""
    columns = []
    for name in _COORDINATES:
        ranks = np.unique([one.facts.get(name, 0.0) for one in table.results], return_inverse=True)[1]
        columns.append(ranks / max(1, ranks.max()))
    refused = np.array([one.failure.startswith("compile") for one in table.results])
    return SearchFacts(refused=refused, features=np.stack(columns, axis=1))


def _quiet(*_: object) -> None:
    """Take what is said and print nothing."""
