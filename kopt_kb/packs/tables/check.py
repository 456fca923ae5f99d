"""Rows of a table on a GPU: each against the engine's own default and against the rows beside it."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from kopt_kb.analysis.roofline.assess import assess
from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.base.sarif import SarifLevel, SarifResult
from kopt_kb.base.wire import Wire
from kopt_kb.launch.record.judge import load_record
from kopt_kb.packs.tables.bouts import Bout, Bouts, BoutVerdict
from kopt_kb.packs.tables.default_settings import default_settings
from kopt_kb.packs.tables.session import TableSession
from kopt_kb.problem.tuned_table import Setting, TunedRow, TunedTable, nearest_row

__all__ = [
    "CheckVerdict", "CheckedRow", "NeighbourBout", "RowAt", "TableCheck", "check_rows", "check_sarif", "rows_at",
    "share_of_roof",
]  # fmt: skip

CheckVerdict = Literal["sound", "slower", "undecided"]
_FAILS: frozenset[BoutVerdict] = frozenset({"slower", "wrong", "fault"})
_CHECKS = 2
_SEEMS_FASTER = 0.99
"""Share of a row's time below which a neighbour's few launches are held against it."""


@dataclass(frozen=True, slots=True)
class RowAt:
    """A row and the number of tokens that it is timed for."""

    tokens: int
    row: TunedRow


@dataclass(frozen=True, slots=True)
class NeighbourBout(Wire):
    """A row against the settings of a row beside it, for its own tokens: `slower` where those are faster."""

    key: str
    bout: Bout


@dataclass(frozen=True, slots=True)
class CheckedRow(Wire):
    """What was seen of a row.

    Attributes:
        key: As the file writes it.
        line: Of the key.
        tokens: It was timed for.
        settings: Its own.
        default: What the engine takes without a table.
        bout: Against the default.
        neighbours: Against the rows beside it that seem faster when they are timed in turn.
        right: Whether its result is the float64 reference's; None where nothing was launched.
        rel_l2_err: ‖out − ref‖₂ / ‖ref‖₂, the largest of the checks.
        problem: Why it is not right.
        share: Least time under the documented roof over its own: 1 is the roof. None where no roof is known.
        bound: The roof that binds.
        work_flops: Operations of both products.
        work_bytes: Compulsory bytes.
    """

    WIRE: ClassVar = (
        "key", "line", "tokens", "verdict=bout.verdict", "settings", "default", "bout", "neighbours", "right",
        "rel_l2_err", "problem", "share", "bound", "work_flops", "work_bytes",
    )  # fmt: skip
    key: str
    line: int
    tokens: int
    settings: Mapping[str, Setting]
    default: Mapping[str, Setting]
    bout: Bout
    neighbours: tuple[NeighbourBout, ...] = ()
    right: bool | None = None
    rel_l2_err: float | None = None
    problem: str = ""
    share: float | None = None
    bound: str = ""
    work_flops: int = 0
    work_bytes: int = 0

    @property
    def fails(self) -> bool:
        """Whether the row is slower than the default, wrong, or can't be launched."""
        return self.bout.verdict in _FAILS or self.right is False


@dataclass(frozen=True, slots=True)
class TableCheck(Wire):
    """A check of a table.

    Attributes:
        file: As it was named.
        platform: Product.
        engine: Whose kernel and default.
        version: Of the engine, where its files say so.
        versions: Programs that records were made with.
        hidden: Depth of the first product.
        top_k: Experts of a token.
        activation: Type of activations.
        routing: How tokens fell on experts.
        rows: Each row.
        seconds: Wall time, in seconds.
    """

    WIRE: ClassVar = (
        "file", "verdict", "platform", "engine", "version", "versions", "hidden", "top_k", "activation", "routing",
        "counts", "seconds", "rows",
    )  # fmt: skip
    file: str
    platform: str
    engine: str
    version: str
    hidden: int
    top_k: int
    activation: str
    routing: str
    rows: tuple[CheckedRow, ...]
    seconds: float
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> CheckVerdict:
        """`slower` where a row is slower than the default, wrong or at fault; `undecided` where one is undecided."""
        if any(one.fails for one in self.rows):
            return "slower"
        return "undecided" if any(one.bout.verdict == "undecided" for one in self.rows) else "sound"

    @property
    def counts(self) -> dict[str, int]:
        """Rows by verdict."""
        seen = [one.bout.verdict for one in self.rows]
        return {one: seen.count(one) for one in dict.fromkeys(seen)}


def rows_at(table: TunedTable, keys: Sequence[str] = (), tokens: Sequence[int] = ()) -> list[RowAt]:
    """Return rows by key, or those that serve numbers of tokens; all with neither.

    Raises:
        BadInput: The table has no such row.
    """
    if tokens:
        served = ((one, nearest_row(table, "tokens", one)) for one in tokens)
        return [RowAt(one, row) for one, row in served if row is not None]
    known = {row.key: row for row in table.rows}
    if missing := [one for one in keys if one not in known]:
        what = f"has no row {missing[0]}"
        raise BadInput(what, where=table.file, fix=f"it has {', '.join(known)}", code="KB102")
    return [RowAt(row.sizes["tokens"], row) for row in ([known[one] for one in dict.fromkeys(keys)] or table.rows)]


def check_rows(
    found: TableSession, bouts: Bouts, wanted: Sequence[RowAt], each: Callable[[CheckedRow], None] = lambda _: None,
    *, neighbours: bool = True,
) -> TableCheck:  # fmt: skip
    """Check rows; `each` is told what was seen of a row as soon as it is known.

    Args:
        found: The table's.
        bouts: Record and judge.
        wanted: Rows with their numbers of tokens.
        each: Is called with each row.
        neighbours: Whether rows are held against those beside them too.

    Raises:
        BadInput: The engine's default can't be told.
        MissingTool: A compiler or the GPU is missing.
    """
    begin = time.monotonic()
    plans = [(one, _default(found, one.tokens), _beside(found.table, one) if neighbours else []) for one in wanted]
    bouts.tell(f"recording {len(plans)} rows with their default and neighbours")
    bouts.record([
        (one.tokens, settings)
        for one, default, beside in plans
        for settings in (default, one.row.settings, *(other.settings for other in beside))
    ])  # fmt: skip
    rows = []
    for count, (one, default, beside) in enumerate(plans, start=1):
        bouts.tell(f"row {one.row.key} for {one.tokens} tokens, {count} of {len(plans)}")
        rows.append(_checked(found, bouts, one, default, beside))
        each(rows[-1])
    assumed = found.layer.assumed
    return TableCheck(
        file=str(found.path), platform=found.platform.id, engine=found.engine.name, version=found.engine.version,
        hidden=assumed.hidden, top_k=assumed.top_k, activation=assumed.dtype, routing=found.layer.routing.name,
        rows=tuple(rows), seconds=time.monotonic() - begin, versions=_versions(bouts, plans),
    )  # fmt: skip


def share_of_roof(found: TableSession, tokens: int, seconds: float) -> tuple[float | None, str]:
    """Return which share of the roof a time is, and the roof; None where the wiki knows none."""
    seen = assess(seconds, found.layer.problem(tokens, found.target).work(), found.platform).times
    measured = seen.measured[0]
    roof = seen.of(measured.basis) if measured.basis else None
    return measured.share, roof.roof if roof is not None else ""


def check_sarif(found: TableCheck) -> Iterator[SarifResult]:
    """Yield rows that somebody should look at, as code hosts show them."""
    for one in found.rows:
        for kind, meaning, level, message in _said(one):
            yield SarifResult(kind, meaning, level, f"{one.key}: {message}", found.file, one.line)


def _said(row: CheckedRow) -> Iterator[tuple[str, str, SarifLevel, str]]:
    verdict, bout = row.bout.verdict, row.bout
    if row.right is False:
        yield "row-wrong", "the result is not the float64 reference's", "error", row.problem
    elif verdict in _FAILS:
        amount = "" if bout.change_pct is None else f"{bout.change_pct:+.2f} % time against the default; "
        yield f"row-{verdict}", f"the row is {verdict}, against the engine's default", "error", amount + bout.reason
    elif verdict == "undecided":
        yield "row-undecided", "nothing could be said of the row", "note", bout.reason
    for one in row.neighbours:
        if one.bout.verdict == "slower":
            what = f"row {one.key} is faster for {row.tokens} tokens: {one.bout.reason}"
            yield "row-beaten", "the settings of a neighbouring row are faster", "warning", what


def _default(found: TableSession, tokens: int) -> Mapping[str, Setting]:
    return default_settings(found.layer.problem(tokens, found.target), found.engine.root)


def _beside(table: TunedTable, one: RowAt) -> list[TunedRow]:
    """Return the rows below and above in the order of tokens, where there are any."""
    ordered = sorted(table.rows, key=lambda row: row.sizes["tokens"])
    at = ordered.index(one.row)
    return [ordered[place] for place in (at - 1, at + 1) if 0 <= place < len(ordered)]


def _checked(
    found: TableSession, bouts: Bouts, one: RowAt, default: Mapping[str, Setting], beside: Sequence[TunedRow]
) -> CheckedRow:
    settings = one.row.settings
    work = found.layer.problem(one.tokens, found.target).work()
    seen = CheckedRow(
        one.row.key, one.row.line, one.tokens, settings, default, bouts.bout(one.tokens, default, settings),
        work_flops=sum(each.useful.value for each in work.flops if each.engine == "matrix"),
        work_bytes=work.compulsory_bytes(),
    )  # fmt: skip
    record = bouts.folder_of(one.tokens, settings)
    if isinstance(record, KoptError):
        return seen
    reference = bouts.reference(one.tokens)
    checked = bouts.judge.check(record, reference, _CHECKS, math.inf)
    right = not checked.problem
    beaten = tuple(_beaten(bouts, one, record, reference, beside)) if right else ()
    seconds = next((each.head_s for each in (seen.bout, *(near.bout for near in beaten)) if each.head_s), None)
    if seconds is None and right:
        (seconds,) = _medians(bouts, [record], reference)
    share, bound = share_of_roof(found, one.tokens, seconds) if seconds else (None, "")
    return CheckedRow(
        seen.key, seen.line, seen.tokens, settings, default, seen.bout, beaten, right, checked.rel_l2_err,
        checked.problem, share, bound, seen.work_flops, seen.work_bytes,
    )  # fmt: skip


def _beaten(
    bouts: Bouts, one: RowAt, record: Path, reference: Path, beside: Sequence[TunedRow]
) -> Iterator[NeighbourBout]:
    """Yield comparisons with the rows beside it that a few launches show to be faster."""
    folders = [(other, bouts.folder_of(one.tokens, other.settings)) for other in beside]
    able = [(other, folder) for other, folder in folders if isinstance(folder, Path)]
    own_s, *others_s = _medians(bouts, [record, *(folder for _, folder in able)], reference)
    for (other, _), seconds in zip(able, others_s, strict=True):
        if own_s is None or (seconds is not None and seconds < _SEEMS_FASTER * own_s):
            yield NeighbourBout(other.key, bouts.bout(one.tokens, other.settings, one.row.settings))


def _medians(bouts: Bouts, records: Sequence[Path], reference: Path) -> list[float | None]:
    timed = bouts.judge.time(records, reference, 8, math.inf)
    return [statistics.median(each.times_s) if each.times_s else None for each in timed]


def _versions(
    bouts: Bouts, plans: Sequence[tuple[RowAt, Mapping[str, Setting], Sequence[TunedRow]]]
) -> Mapping[str, str]:
    made = (bouts.folder_of(one.tokens, one.row.settings) for one, _, _ in plans)
    return next((load_record(one).versions for one in made if isinstance(one, Path)), {})
