"""The document of a gap: a time, its roof, and what the seconds between them went to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.gap.causes import CAUSES, UNEXPLAINED, CauseName, Certainty
from kopt_kb.base.wire import Wire

__all__ = ["Gap", "GapPart", "Gaps"]

_FULL = 100.0
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class GapPart(Wire):
    """One part of a gap.

    Attributes:
        cause: Word of the closed table.
        level: Level of memory of `extra-bytes`; empty otherwise.
        seconds: Time charged to it.
        share_pct: Of the gap; the parts of a gap sum to 100.
        time_pct: Of the time.
        certainty: How sure it is.
        evidence: Why; empty for what is unexplained.
    """

    WIRE: ClassVar = ("cause", "level?=_level", "seconds", "share_pct", "time_pct", "certainty", "evidence", "method")
    cause: CauseName
    seconds: float
    share_pct: float
    time_pct: float
    level: str = ""
    certainty: Certainty = "measured"
    evidence: tuple[Evidence, ...] = ()

    @property
    def words(self) -> str:
        """`tail wave`, `extra bytes (l2)`."""
        return f"{CAUSES[self.cause].words} ({self.level})" if self.level else CAUSES[self.cause].words

    @property
    def method(self) -> str:
        """How the share is computed, and by whose method."""
        cause = CAUSES[self.cause]
        return f"{cause.method} [{cause.source}]" if cause.source else cause.method

    @property
    def _level(self) -> str | None:
        return self.level or None

    @classmethod
    def from_wire(cls, document: dict[str, object]) -> dict[str, object]:
        """Return the fields of a document: a level that is not there is none."""
        return {"level": "", **document}

    def __str__(self) -> str:
        """One line: words, shares, evidence."""
        sign = {"measured": "", "estimate": "about ", "at most": "at most "}[self.certainty]
        text = f"{self.words}: {sign}{self.share_pct:.1f} % of the gap"
        proof = "; ".join(str(one) for one in self.evidence)
        return f"{text}, {self.time_pct:.1f} % of the time" + (f" ({proof})" if proof else "")


@dataclass(frozen=True, slots=True)
class Gap(Wire):
    """What lies between a time and its roof.

    Attributes:
        name: Kernel or shape.
        time_s: The time that is accounted for.
        roof: What takes longest at documented rates (`dram`, `bf16 matrix`); empty when there is no roof.
        roof_s: Least time under it; None when no roof is known.
        basis: `documented` for rows of the wiki, `counters` for the profiler's own peaks, `unknown`.
        citations: Wiki rows of the roof.
        parts: What the gap went to, as charged; the last one is `unexplained`. Empty without a roof or a gap.
        record: What to record next, where more than the limit is unexplained.
        notes: What a reader should know: whose work, what was not at hand, what was cut.
    """

    WIRE: ClassVar = (
        "name", "time_s", "roof", "roof_s", "basis", "citations", "gap_s", "of_roof_pct", "parts", "unexplained_pct",
        "record", "notes",
    )  # fmt: skip
    name: str
    time_s: float
    roof: str
    roof_s: float | None
    basis: Literal["documented", "counters", "unknown"]
    citations: tuple[str, ...] = ()
    parts: tuple[GapPart, ...] = ()
    record: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def gap_s(self) -> float | None:
        """Seconds between time and roof; negative for a time that is below its roof."""
        return None if self.roof_s is None else self.time_s - self.roof_s

    @property
    def of_roof_pct(self) -> float | None:
        """Share of the roof that is reached."""
        return None if self.roof_s is None else _FULL * self.roof_s / self.time_s

    @property
    def unexplained_pct(self) -> float | None:
        """Share of the gap that no evidence accounts for; None where there is no gap to account for."""
        return next((one.share_pct for one in self.parts if one.cause == UNEXPLAINED), None)

    def noted(self, *notes: str) -> Gap:
        """Return the same account with more notes."""
        return replace(self, notes=(*self.notes, *notes))

    def text(self) -> str:
        """Return the account as lines: the time under its roof, one line a part, notes, what to record."""
        lines = [self.headline]
        lines += [f"  {part}" for part in self.parts if part.seconds or part.cause == UNEXPLAINED]
        lines += [f"  Note: {one}" for one in self.notes]
        lines += [f"  Record next: {one}" for one in self.record]
        return "\n".join(lines)

    def summary(self) -> str:
        """Return the largest parts on one line; empty where there is no gap to account for."""
        ranked = sorted((one for one in self.parts if one.seconds), key=lambda one: -one.seconds)
        said = ", ".join(f"{one.words} {one.share_pct:.0f} %" for one in ranked[:_SHOWN])
        return f"{self.of_roof_pct:.1f} % of the roof of {self.roof}; of the rest {said}" if said else ""

    @property
    def headline(self) -> str:
        """The time and its roof on one line."""
        time = f"{self.name}: {self.time_s * 1e6:.4g} us"
        if self.roof_s is None:
            return f"{time}, no roof is known"
        cited = f"; {', '.join(self.citations)}" if self.citations else ""
        return f"{time}, {self.of_roof_pct:.1f} % of the roof of {self.roof} ({self.basis}{cited})"


@dataclass(frozen=True, slots=True)
class Gaps(Wire):
    """The accounts of several kernels or shapes."""

    gaps: tuple[Gap, ...]
