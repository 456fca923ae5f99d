"""Claims about facts in a search by records: they save evaluations, and a wrong one hides nothing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from result_table import ResultTable, TableResult, read_table

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.job import Request, SpaceAsked
from kopt_kb.launch.counts import launch_facts, launch_limits
from kopt_kb.launch.cuda.cubin import Cubin, CubinKernel
from kopt_kb.launch.judge import admission
from kopt_kb.launch.judge.admission import Objection, facts_by, numbers_by
from kopt_kb.launch.judge.judging import Timed
from kopt_kb.launch.judge.makers import Made, NotRecordedError
from kopt_kb.launch.judge.search import SearchTools, search_shape
from kopt_kb.launch.judge.shelf import Asked
from kopt_kb.launch.record.model import LaunchRecord
from tests.kopt_kb.launch.counts.test_launch_limits import LIMITS
from tests.kopt_kb.launch.small_record import small_record

pytestmark = pytest.mark.core

ROW = "shared_memory_per_block=102400 <- targets/x.md:L9"
SPILLS = Objection("spills", "255 registers and 96 B of local memory a thread")
FORBIDDEN = Objection("cannot_launch", "k takes 131072 B of shared memory", ROW)

Seconds = Callable[[Mapping[str, Any]], float]
Facts = Callable[[Mapping[str, Any]], Objection | None]


class Replayable:
    """A record as far as a search looks at it."""

    not_replayable = ""
    buffers = outputs = ()


class TableBench:
    """Shelf and judge that answer from a table of exhaustive results; a folder's name is a configuration's number."""

    ahead = 4

    def __init__(self, table: ResultTable) -> None:
        self.table = table
        self.order: list[int] = []

    def made(self, config: Mapping[str, object]) -> Made:
        """Return the record of a configuration; none of what the table forbids or its compiler refused."""
        record: Any = Replayable()
        place = self.table.space.find(config)
        if place is None or self.table.results[place].failure.startswith("compile"):
            return Made(Path("none"), None, NotRecordedError("no"))
        return Made(Path(str(place)), record)

    def stream(
        self, asked: Iterator[Asked], ahead: int, ended: Callable[[], bool], _: Any = None
    ) -> Iterator[tuple[Asked, Made]]:
        """Yield a record of each."""
        assert ahead == self.ahead
        for one in asked:
            if ended():
                return
            yield one, self.made(one.config)

    def time(
        self, records: Sequence[Path], reference: Path, launches: int, ends_at: float, *, again: bool = False
    ) -> list[Timed]:
        """Return the times of the table; each configuration that was begun is counted once."""
        assert reference.name == "reference.py"
        assert again or len(records) == 1
        assert time.monotonic() <= ends_at
        found = []
        for one in records:
            place = int(one.name)
            if place not in self.order:
                self.order.append(place)
            times_s = self.table.results[place].times_s
            found.append(Timed((self.table.medians_s[place],) * launches) if times_s else Timed((), "failed"))
        return found

    def hit(self) -> int:
        """Return how many were begun until one within 2 % of the best was."""
        good = (at for at, place in enumerate(self.order, 1) if self.table.medians_s[place] <= 1.02 * self.table.best_s)
        return next(good, len(self.table.results))


def table_of(seconds: Seconds) -> ResultTable:
    """Return the 12 x 6 x 4 configurations of a formula; a time of 0 is a failure."""
    configs = [{"a": a, "b": b, "c": c} for a in range(12) for b in range(6) for c in range(4)]
    results = [TableResult(one, (seconds(one),) if seconds(one) else ()) for one in configs]
    return ResultTable("formula/none", "", tuple(results))


def searched(
    table: ResultTable, facts: Facts | None, evaluations: int = 400, seed: int = 1, floor_s: float | None = None
) -> tuple[TableBench, Any, list[str]]:
    """Search a table as the loop does; returns the bench, the answer, and what was said."""
    bench: Any = TableBench(table)
    said: list[str] = []

    def fact(folder: Path) -> Objection | None:
        return None if facts is None else facts(table.results[int(folder.name)].config)

    tools = SearchTools(
        b"", Path("reference.py"), bench, bench, said.append, lambda *_: None, fact=fact if facts else None
    )
    knobs = {name: list(values) for name, values in table.space.knobs.items()}
    first = dict(next(one.config for one in table.results if one.times_s))
    space = SpaceAsked(first, knobs, first, floor_s, "a copy of the same bytes")
    body = Request(shapes=("8x8",), dtype="bf16", evaluations=evaluations, seed=seed)
    return bench, search_shape("8x8", space, body, tools, time.monotonic() + 60), said


def spills(config: Mapping[str, Any]) -> bool:
    """Return whether a configuration spills: two of five, and no knob alone says which."""
    return bool((7 * config["a"] + 3 * config["b"] * config["c"]) % 5 in {1, 4})


def valley(config: Mapping[str, Any]) -> float:
    """Return a time whose least is at (3, 2, 1); what spills is three times as slow."""
    slow = 3.0 if spills(config) else 1.0
    return (
        1e-6 * slow * float(1 + 0.2 * abs(config["a"] - 3) + 0.15 * abs(config["b"] - 2) + 0.1 * abs(config["c"] - 1))
    )


def spilling(config: Mapping[str, Any]) -> Objection | None:
    """Say what is true of the valley."""
    return SPILLS if spills(config) else None


def test_facts_save_evaluations_until_the_best_is_found() -> None:
    """The same seeds with and without, in sum; what waits is timed at the end while there is budget."""
    table = table_of(valley)
    hits = {
        has: sum(searched(table, spilling if has else None, 40, seed)[0].hit() for seed in range(3))
        for has in (False, True)
    }
    assert hits[True] < 0.8 * hits[False], hits
    bench, found, said = searched(table, spilling)
    assert (dict(found.config), found.evaluated, found.pruned) == ({"a": 3, "b": 2, "c": 1}, 288, {})
    assert len(bench.order) == 288
    assert not said
    early = [place for place in bench.order[:100] if spills(table.results[place].config)]
    assert len(early) == 1, "the first that spills is timed all the same"


def test_facts_save_evaluations_on_a_stored_table(repo_root: Path) -> None:
    """A product on an H100: what spills and what does not compile leaves evaluations to the rest, half of them here."""
    table = read_table(repo_root / "benchmarks" / "tables" / "gemm_H100_SXM.json.gz")
    known = {tuple(one.config.values()): one.facts for one in table.results}

    def fact(config: Mapping[str, Any]) -> Objection | None:
        return SPILLS if known[tuple(config.values())].get("stack_bytes") else None

    hits = {has: sum(searched(table, fact if has else None, 37, seed)[0].hit() for seed in range(5)) for has in (0, 1)}
    assert hits[1] < 0.7 * hits[0], hits
    _, found, _ = searched(table, fact, 400)
    assert found.median_s == table.best_s


def test_what_was_not_timed_is_named_with_its_reason_and_the_source_of_the_limit() -> None:
    def facts(config: Mapping[str, Any]) -> Objection | None:
        return FORBIDDEN if config["a"] == 11 else spilling(config)

    table = table_of(lambda config: 0.0 if config["a"] == 11 else valley(config))
    _, found, said = searched(table, facts)
    assert found.pruned == {"cannot_launch": 23}
    assert found.failed == 1
    lines = [line for line in said if "not timed" in line]
    assert len(lines) == 23
    assert lines[0].endswith(f"not timed, cannot_launch: k takes 131072 B of shared memory ({ROW})")
    _, short, said = searched(table, facts, 40)
    assert short.pruned["spills"] > 0
    assert any(line.endswith(f"not timed, spills: {SPILLS.detail}") for line in said)


@pytest.mark.parametrize(("fact", "seed"), [(SPILLS, 3), (FORBIDDEN, 0), (FORBIDDEN, 1)])
def test_a_wrong_fact_does_not_hide_the_best(fact: Objection, seed: int) -> None:
    """Most of the good half is said to spill, or not to launch: the first of it shows that this is no reason.

    Of spilling it shows that only where it is near the best by chance; by launching it always does.
    """
    table = table_of(valley)
    bench, found, _ = searched(table, lambda config: fact if config["a"] < 6 and config["b"] < 5 else None, 60, seed)
    assert found.pruned == {}
    assert bench.hit() <= 60
    assert found.median_s == pytest.approx(1e-6, rel=0.02)


def test_what_is_in_use_and_spills_is_held_against_others_first() -> None:
    """All spill: nothing waits. It alone is slow, and so is what spills like it: that waits as ever."""
    bench, found, _ = searched(table_of(valley), lambda _: SPILLS)
    assert found.pruned == {}
    assert len(bench.order) == 288
    table = table_of(lambda config: valley(config) * (1.5 if config["c"] == 0 else 1.0))
    bench, _, _ = searched(table, lambda config: SPILLS if config["c"] == 0 else None, 60)
    held = [table.results[place].config["c"] == 0 for place in bench.order]
    assert held[0]
    assert not any(held[12:40])


def test_a_search_ends_where_the_machine_does() -> None:
    """As soon as a time is as short as the probe's, and not before."""
    table = table_of(valley)
    bench, found, _ = searched(table, spilling, floor_s=1.3e-6)
    assert 1e-6 <= min(float(table.medians_s[place]) for place in bench.order) <= 1.3e-6
    assert len(bench.order) < 100
    assert found.strategy == "exhaustive, until it was as fast as a copy of the same bytes"
    assert len(searched(table, None, floor_s=0.9e-6)[0].order) == 288


def test_facts_are_read_from_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the code object: local memory, and what a sourced limit forbids; what can't be read speaks against nothing."""
    held = CubinKernel("k", registers=255, stack_bytes=96)

    def record(**launch: object) -> LaunchRecord:
        made = small_record()
        return replace(made, steps=tuple(replace(one, **launch) for one in made.launches))  # type: ignore[arg-type]

    def said(made: LaunchRecord, kernel: CubinKernel) -> Objection | None:
        monkeypatch.setattr(admission, "stored", lambda _: (made, lambda _: b""))
        for module in (launch_facts, launch_limits):
            monkeypatch.setattr(module, "read_cubin", lambda *_: Cubin({"k": kernel}, ()))
        return facts_by(LIMITS)(tmp_path)

    assert said(record(), held) == SPILLS
    registers, stack_bytes, _, occupancy_pct, blocks = numbers_by(LIMITS)(tmp_path) or ()
    assert (registers, stack_bytes, blocks) == (255, 96, math.prod(record().launches[0].grid))
    assert 0 < occupancy_pct <= 100
    assert said(record(entry="other"), held) is None, "no limit of the wiki"
    assert numbers_by(LIMITS)(tmp_path) is None
    assert said(record(), replace(held, stack_bytes=0)) is None
    assert said(record(shared_bytes=131072), held) == FORBIDDEN

    def broken(_: Path) -> Any:
        raise BadInput("no record", where="x", code="KB455")

    monkeypatch.setattr(admission, "stored", broken)
    assert facts_by(LIMITS)(tmp_path) is None
    assert numbers_by(LIMITS)(tmp_path) is None
