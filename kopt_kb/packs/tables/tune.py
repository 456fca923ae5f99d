"""Rows of a table found on a GPU: a search from what the engine takes now, kept where it is shown to be faster."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal

from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.base.wire import Wire
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.launch.record.judge import load_record
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.packs.tables.bouts import LAUNCHED, Bout, Bouts, RowSettings, same_settings
from kopt_kb.packs.tables.check import share_of_roof
from kopt_kb.packs.tables.default_settings import default_settings
from kopt_kb.packs.tables.session import TableSession
from kopt_kb.problem.dtypes import format_of
from kopt_kb.problem.tuned_table import TunedRow, TunedTable, nearest_row

__all__ = ["TableTune", "TuneEnd", "TunePlan", "TunedSize", "tune_rows", "with_row"]

TuneEnd = Literal["roof", "no better neighbour", "time"]
_SPACE: Mapping[str, tuple[int, ...]] = {
    "BLOCK_SIZE_M": (16, 32, 64, 128, 256), "BLOCK_SIZE_N": (32, 64, 128, 256), "BLOCK_SIZE_K": (32, 64, 128, 256),
    "GROUP_SIZE_M": (1, 16, 32, 64), "num_warps": (4, 8), "num_stages": (2, 3, 4, 5),
}  # fmt: skip
_LAUNCHES = 4
_STEP = 0.99
"""Most of the best time that a neighbour may take to be gone on from: fresh processes decide in the end."""


@dataclass(frozen=True, slots=True)
class TunePlan:
    """How long is searched.

    Attributes:
        seconds: Most seconds a number of tokens.
        stop_share: Share of the documented roof at which nothing more is tried.
    """

    seconds: float = 10.0
    stop_share: float = 0.9


@dataclass(frozen=True, slots=True)
class TunedSize(Wire):
    """What became of one number of tokens.

    Attributes:
        tokens: Tokens.
        now: What the engine takes now: of the row that serves them, or its default.
        source: Key of that row; empty: the default.
        settings: What is written; None where nothing was shown to be faster.
        bout: The best that was found against what is taken now.
        tried: RowSettings that were timed.
        refused: RowSettings that can't be recorded, do not fit the product, or gave a wrong result.
        share: Share of the documented roof of what is taken in the end; None where no roof is known.
        bound: The roof that binds.
        ended: Why the search ended.
        seconds: What it took.
    """

    WIRE: ClassVar = (
        "tokens", "source", "now", "settings?", "bout", "tried", "refused", "share", "bound", "ended", "seconds",
    )  # fmt: skip
    tokens: int
    now: RowSettings
    source: str
    settings: RowSettings | None
    bout: Bout
    tried: int
    refused: int
    share: float | None
    bound: str
    ended: TuneEnd
    seconds: float


@dataclass(frozen=True, slots=True)
class TableTune(Wire):
    """A table that was tuned.

    Attributes:
        file: As it was named.
        written: Where rows were written; empty: nowhere.
        platform: Product.
        engine: Whose kernel and default.
        version: Of the engine, where its files say so.
        versions: Programs that records were made with.
        hidden: Depth of the first product.
        top_k: Experts of a token.
        activation: Type of activations.
        routing: How tokens fell on experts.
        sizes: Each number of tokens.
        seconds: Wall time, in seconds.
        table: With its new rows.
    """

    WIRE: ClassVar = (
        "file", "written", "platform", "engine", "version", "versions", "hidden", "top_k", "activation", "routing",
        "accepted", "seconds", "sizes",
    )  # fmt: skip
    file: str
    written: str
    platform: str
    engine: str
    version: str
    hidden: int
    top_k: int
    activation: str
    routing: str
    sizes: tuple[TunedSize, ...]
    seconds: float
    table: TunedTable = field(compare=False)
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def accepted(self) -> int:
        """Rows that are new or other settings than before."""
        return sum(1 for one in self.sizes if one.settings is not None)


def tune_rows(
    found: TableSession, bouts: Bouts, tokens: Sequence[int], plan: TunePlan,
    each: Callable[[TunedSize], None] = lambda _: None,
) -> TableTune:  # fmt: skip
    """Search settings for numbers of tokens; `each` is told of one as soon as it is done.

    Raises:
        BadInput: The engine's default can't be told.
        MissingTool: A compiler or the GPU is missing.
    """
    begin = time.monotonic()
    table, sizes, before = found.table, [], None
    for count, one in enumerate(tokens, start=1):
        bouts.tell(f"{one} tokens, {count} of {len(tokens)}, about {plan.seconds:g} s")
        size = _Search(found, bouts, one, plan, before).result()
        if size.settings is not None:
            table, before = with_row(table, one, size.settings), size.settings
        else:
            before = size.now
        sizes.append(size)
        each(size)
    assumed = found.layer.assumed
    return TableTune(
        file=str(found.path), written="", platform=found.platform.id, engine=found.engine.name,
        version=found.engine.version, hidden=assumed.hidden, top_k=assumed.top_k, activation=assumed.dtype,
        routing=found.layer.routing.name, sizes=tuple(sizes), seconds=time.monotonic() - begin, table=table,
        versions=_versions(bouts, sizes),
    )  # fmt: skip


def with_row(table: TunedTable, tokens: int, settings: RowSettings) -> TunedTable:
    """Return a table with settings for a number of tokens: in its own row's place, else before the next larger one."""
    names = [name for row in table.rows for name in row.settings]
    ordered = {name: settings[name] for name in dict.fromkeys((*names, *settings)) if name in settings}
    row = TunedRow(str(tokens), ordered, sizes={"tokens": tokens})
    rows = [*table.rows]
    own = next((at for at, one in enumerate(rows) if one.sizes.get("tokens") == tokens), None)
    if own is not None:
        rows[own] = replace(rows[own], settings=ordered)
    else:
        after = next((at for at, one in enumerate(rows) if one.sizes.get("tokens", 0) > tokens), len(rows))
        rows.insert(after, row)
    return replace(table, rows=tuple(rows))


class _Search:
    """A walk from the best of what is known to better neighbours, one setting at a time."""

    def __init__(
        self, found: TableSession, bouts: Bouts, tokens: int, plan: TunePlan, before: RowSettings | None
    ) -> None:
        self._found, self._bouts, self._tokens, self._plan = found, bouts, tokens, plan
        self._begin = time.monotonic()
        self._limits = limits_of(found.platform)
        self._default = default_settings(found.layer.problem(tokens, found.target), found.engine.root)
        row = nearest_row(found.table, "tokens", tokens)
        self._source, self._now = (row.key, row.settings) if row is not None else ("", self._default)
        self._before = before
        self._medians: list[tuple[float, RowSettings]] = []
        self._seen: list[RowSettings] = []
        self._refused = 0

    def result(self) -> TunedSize:
        """Search, and hold the best against what is taken now."""
        self._time([one for one in (self._now, self._default, self._before, *self._beside()) if one is not None])
        ended = self._walk()
        best = min(self._medians, key=lambda one: one[0], default=(math.inf, self._now))[1]
        bout = Bout("equal", "nothing that was tried is other than what is taken now")
        if not self._medians:
            bout = Bout("fault", f"of {self._refused} settings none could be recorded, fits and gave a right result")
        if not same_settings(best, self._now):
            bout = self._bouts.bout(self._tokens, self._now, best)
        wins = bout.verdict == "faster" or (bout.verdict == "undecided" and self._mends(best))
        taken = best if wins else self._now
        seconds = bout.head_s if wins else bout.base_s
        seconds = seconds or self._median(taken)
        share, bound = share_of_roof(self._found, self._tokens, seconds) if seconds else (None, "")
        return TunedSize(
            self._tokens, self._now, self._source, self._written(best) if wins else None, bout, len(self._medians),
            self._refused, share, bound, ended, time.monotonic() - self._begin,
        )  # fmt: skip

    def _mends(self, best: RowSettings) -> bool:
        """Return whether what is taken now can't be launched or is wrong, and the best is right."""
        return self._median(self._now) is None and self._median(best) is not None

    def _beside(self) -> Iterator[RowSettings]:
        ordered = sorted(self._found.table.rows, key=lambda row: abs(row.sizes["tokens"] - self._tokens))
        yield from (row.settings for row in ordered[1:3])

    def _walk(self) -> TuneEnd:
        while True:
            if not self._medians:
                return "no better neighbour"
            best_s, best = min(self._medians, key=lambda one: one[0])
            share, _ = share_of_roof(self._found, self._tokens, best_s)
            if share is not None and share >= self._plan.stop_share:
                return "roof"
            left = self._plan.seconds - (time.monotonic() - self._begin)
            if left <= 0:
                return "time"
            self._time([*self._neighbours(best)])
            if min(one for one, _ in self._medians) > _STEP * best_s:
                return "no better neighbour"

    def _neighbours(self, best: RowSettings) -> Iterator[RowSettings]:
        """Yield settings that differ in one value from the best, no tile deeper than a scale's block."""
        deepest = (self._found.table.block_shape or (0, 0))[1]
        for name, values in _SPACE.items():
            now = {**LAUNCHED, **best}.get(name)
            if not isinstance(now, int):
                continue
            near = sorted(values, key=lambda one: (abs(math.log2(one / now)), one))
            is_deep = name == "BLOCK_SIZE_K" and deepest
            steps = [one for one in near if one != now and not (is_deep and one > deepest)][:2]
            yield from ({**best, name: one} for one in steps)

    def _time(self, asked: Sequence[RowSettings]) -> None:
        """Record and time settings that were not seen yet and fit the product."""
        fresh: list[RowSettings] = []
        for one in asked:
            if any(same_settings(one, other) for other in (*self._seen, *fresh)):
                continue
            fresh.append(one)
        self._seen += fresh
        fits = [one for one in fresh if self._fits(one)]
        self._bouts.record([(self._tokens, one) for one in fits])
        made = [(one, self._bouts.folder_of(self._tokens, one)) for one in fits]
        able = [
            (one, path) for one, path in made if isinstance(path, Path) and _launches(load_record(path), self._limits)
        ]
        reference = self._bouts.reference(self._tokens)
        timed = self._bouts.judge.time([path for _, path in able], reference, _LAUNCHES, math.inf, again=True)
        for (one, _), said in zip(able, timed, strict=True):
            if said.times_s:
                self._medians.append((statistics.median(said.times_s), one))
        self._refused = len(self._seen) - len(self._medians)

    def _fits(self, settings: RowSettings) -> bool:
        """Return whether one stage of both tiles fits the shared memory of a block: a pipeline holds one at least."""
        most = self._limits.shared_memory_per_block
        layer = self._found.layer.problem(self._tokens, self._found.target).layer
        kinds = [format_of(one) for one in (layer.activation, layer.element)]
        sizes = [settings.get(f"BLOCK_SIZE_{one}") for one in "MNK"]
        stages = settings.get("num_stages", 2)
        if most is None or None in kinds or not all(isinstance(one, int) for one in (*sizes, stages)):
            return True
        rows, columns, deep = (one for one in sizes if isinstance(one, int))
        a, b = (one.bits for one in kinds if one is not None)
        held = max(1, (stages if isinstance(stages, int) else 2) - 1)
        return held * deep * (rows * a + columns * b) // 8 <= most

    def _median(self, settings: RowSettings) -> float | None:
        return next((seconds for seconds, one in self._medians if same_settings(one, settings)), None)

    def _written(self, best: RowSettings) -> RowSettings:
        """Return settings as a row says them: what the table's rows name, and whatever else is not as usual."""
        rows = self._found.table.rows
        named = {name for row in rows for name in row.settings} | set(_SPACE)
        full = {**{name: one for name, one in LAUNCHED.items() if name in _SPACE}, **best}
        return {name: one for name, one in full.items() if name in named or one != LAUNCHED.get(name)}


def _launches(record: LaunchRecord, limits: Limits) -> bool:
    """Return whether every launch of a record fits the product, as an audit says of a row."""
    most, threads = limits.shared_memory_per_block, limits.threads_per_block
    return all(
        (most is None or one.shared_bytes <= most) and (threads is None or math.prod(one.block) <= threads)
        for one in record.launches
    )


def _versions(bouts: Bouts, sizes: Sequence[TunedSize]) -> Mapping[str, str]:
    made = (bouts.folder_of(one.tokens, one.now) for one in sizes)
    return next((load_record(one).versions for one in made if isinstance(one, Path)), {})
