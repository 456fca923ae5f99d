"""What a claim shows for itself: correctness, paired timing, noise, roof, snapshot, each with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.wire import Wire
from kopt_kb.packs.foreign_logs.names import is_metric
from kopt_kb.packs.foreign_logs.record import ClaimedDecision, Field, ForeignRecord, LogForm
from kopt_kb.packs.foreign_logs.tree import COMMIT, ForeignTree

__all__ = ["ASPECTS", "Aspect", "ClaimState", "JudgedClaim", "Surroundings", "judged"]

ClaimState = Literal["present", "partial", "missing", "failed"]
"""Of evidence: there; there in part; not there; there, and it speaks against the claim."""

ASPECTS: dict[str, str] = {
    "correctness": "outputs were compared, and what came of it",
    "timing": "both sides were timed in turn in one run (partial: both sides' numbers stand there)",
    "noise": "a spread of the measurement (partial: it was repeated, or the spread is 0)",
    "roof": "a roof or target with its source (partial: a roof or target without one)",
    "snapshot": "the source of the version can be had (partial: it is named, and can't be found here)",
}
"""What a claim is asked for, and what counts."""

_EXCERPT = 90
_PASS = re.compile(r"\b(?:pass(?:ed|es)?|true|ok|yes|correct|valid|keep|kept)\b", re.IGNORECASE)
_FAIL = re.compile(r"\b(?:fail(?:ed|s|ure)?|false|no|wrong|incorrect|mismatch)\b", re.IGNORECASE)
_OF = re.compile(r"\b(\d{1,5})\s*/\s*(\d{1,5})\b")
_COMPARED = re.compile(
    r"\bn_pass\b|\d{1,9}\s*/\s*\d{1,9}\s*(?:@|pass|correct|PASS|bit-equal)|\b(?:all"
        r"|every)\b[^.\n]{0,40}\b(?:pass(?:ed)?|correct)\b"
    r"|\ballclose\b|\bSNR\b|\bmax[ _](?:abs(?:olute)?[ _]|rel(?:ative)?[ _])?(?:diff|err)\w*"
        r"|\bbit-?(?:equal|exact|identical)"
    r"|\bcorrectness\b[^.\n]{0,30}\b(?:pass\w*|ok|verified|holds|unchanged|preserved|fail\w*)|\btests? (?:all )?pass",
    re.IGNORECASE,
)  # fmt: skip
_WRONG = re.compile(r"\bcorrectness\b[^.\n]{0,20}\bfail|\bfails? (?:the )?correctness|\bnot correct\b", re.IGNORECASE)
_PAIRED = re.compile(
    r"\bpaired\b|interleav|\balternat(?:e|ed|ing)\b|\bABBA\b|\bA/B\b|\bin turn\b|back-to-back"
    r"|same-?(?: )?(?:run|process|session) (?:as|for both)",
    re.IGNORECASE,
)
_BOTH = re.compile(
    r"\bvs\.?\s|\bcompared (?:to|with)\b|\d[\d.]{0,15}\s*(?:x|×|%|TFLOPS|ms|us|µs)?\s*[*`]*\s*(?:→|->"
    r"|=>)\s*[*`]*(?:R\d+\s+)?\d|\bbaseline\b[^.\n]{0,30}\d"
)
_SPREAD = re.compile(
    r"±\s*\d|\b(?:std|stddev|stdev|sigma|σ|CV|MAD|IQR|CI|variance|spread|jitter|noise(?:[ -](?:floor"
    r"|band|level))?)\b[^.\n]{0,40}\d|\d[\d.]{0,15}\s*%?\s*(?:noise|variance|spread|jitter)",
    re.IGNORECASE,
)
_REPEATED = re.compile(
    r"\b\d{1,9}[- ](?:trial|run|repeat|rep|seed|iter(?:ation)?|sample)s?\b|\b(?:median|mean|best"
    r"|min)[- ]of\b|\bwithin (?:the )?noise\b|\bnoise-level\b",
    re.IGNORECASE,
)
_ROOF = re.compile(
    r"\d\s*%\s*(?:of\s+)?(?:the\s+)?(?:\w+\s+){0,2}(?:peak|roof(?:line)?|SoL|SOL|speed of light"
    r"|theoretical)|\broofline\b|\b(?:theoretical|hardware|HBM|documented) (?:peak|limit|roof"
    r"|bandwidth|ceiling)|\btarget\b[^.\n]{0,30}\d",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"https?://|\[\^|data ?sheet|white ?paper|\bspecs?\b|programming guide|\bgpuwiki/|\bmeasured by\b"
    r"|\brocprof|\bncu\b",
    re.IGNORECASE,
)
_HASH = re.compile(r"(?<![\w./-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])([0-9a-f]{7,40})(?![\w-])")
_PATH = re.compile(r"[\w./-]*[\w-]+\.(?:py|cu|cuh|cpp|hip|c|h|hpp|patch|diff|cubin|hsaco|ptx|mlir|ttir)\b")
_SNAPSHOT = re.compile(r"\.(?:py|cu|cuh|cpp|hip|c|h|hpp|patch|diff|cubin|hsaco|ptx)$")
_CODE = 200


@dataclass(frozen=True, slots=True)
class Aspect(Wire):
    """One kind of evidence for a claim.

    Attributes:
        says: What the log says there, shortened; empty when nothing does.
        where: File and line; a file alone where it is the evidence as a whole; empty when there is nothing.
    """

    WIRE = ("state", "says", "where")
    state: ClaimState
    says: str = ""
    where: str = ""


_NOTHING = Aspect("missing")


@dataclass(frozen=True, slots=True)
class JudgedClaim(Wire):
    """One claim and what it shows for itself.

    Attributes:
        label: Its round, or what it is about.
        says: The first number of speed in it, as the log has it.
    """

    WIRE = ("file", "line", "form", "label", "round", "item", "decision", "says", *ASPECTS)
    file: str
    line: int
    form: LogForm
    label: str
    round: int | None
    item: str
    decision: ClaimedDecision
    says: str
    correctness: Aspect
    timing: Aspect
    noise: Aspect
    roof: Aspect
    snapshot: Aspect

    @property
    def aspects(self) -> dict[str, Aspect]:
        """Evidence by name."""
        return {"correctness": self.correctness, "timing": self.timing, "noise": self.noise, "roof": self.roof,
                "snapshot": self.snapshot}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around a claim and counts for it.

    Attributes:
        tree: All files.
        details: Records that detail the same round, from the tables in its folder.
        beside: Files in the round's own folder.
        target: A target that the campaign's manifest declares.
    """

    tree: ForeignTree
    details: tuple[ForeignRecord, ...] = ()
    beside: tuple[str, ...] = ()
    target: Aspect | None = None


def judged(record: ForeignRecord, around: Surroundings) -> JudgedClaim:
    """Return a claim with what it shows for itself."""
    speed = record.first("speedup", "cumulative", "score", "throughput", "time", "share")
    speed = speed or next((one for one in record.of("to") if is_metric(one.name)), None)
    return JudgedClaim(
        record.file, record.line, record.form, record.label, record.round, record.item, record.decision,
        f"{speed.name.strip()} {speed.text.strip()}"[:_EXCERPT] if speed is not None else "",
        _correctness(record, around), _timing(record, around), _noise(record, around), _roof(record, around),
        _snapshot(record, around),
    )  # fmt: skip


def _at(record: ForeignRecord, line: int) -> str:
    return f"{record.file}:{line}"


def _seen(record: ForeignRecord, line: int, state: ClaimState, text: str) -> Aspect:
    return Aspect(state, " ".join(text.split())[:_EXCERPT], _at(record, line))


def _of_field(record: ForeignRecord, field: Field, state: ClaimState) -> Aspect:
    return _seen(record, field.line, state, f"{field.name}: {field.text}")


def _best(aspects: Iterable[Aspect]) -> Aspect:
    """Return the strongest evidence; what speaks against a claim outweighs what speaks for it."""
    order: dict[ClaimState, int] = {"failed": 0, "present": 1, "partial": 2, "missing": 3}
    return min(aspects, key=lambda one: order[one.state], default=_NOTHING)


def _words(record: ForeignRecord, test: Callable[[str], ClaimState | None]) -> Iterator[Aspect]:
    for line, text in record.lines:
        state = test(text)
        if state is not None:
            yield _seen(record, line, state, text)


def _fields(record: ForeignRecord, around: Surroundings, *roles: str) -> Iterator[tuple[ForeignRecord, Field]]:
    for one in (record, *around.details):
        for field in one.of(*roles):
            yield one, field


def _checked(text: str) -> ClaimState | None:
    """Return what a cell about correctness says; `nan` says that nothing was compared."""
    if counts := _OF.search(text):
        return "present" if counts[1] == counts[2] else "failed"
    if _FAIL.search(text):
        return "failed"
    return "present" if _PASS.search(text) or re.search(r"\d", text) else None


def _compared(text: str) -> ClaimState | None:
    if _WRONG.search(text):
        return "failed"
    return "present" if _COMPARED.search(text) else None


def _correctness(record: ForeignRecord, around: Surroundings) -> Aspect:
    def found() -> Iterator[Aspect]:
        for one, field in _fields(record, around, "check"):
            if (state := _checked(field.text)) is not None:
                yield _of_field(one, field, state)
        yield from _words(record, _compared)

    return _best(found())


def _timing(record: ForeignRecord, around: Surroundings) -> Aspect:
    def found() -> Iterator[Aspect]:
        for one, field in _fields(record, around, "paired"):
            if not _FAIL.search(field.text):
                yield _of_field(one, field, "present")
        yield from _words(record, lambda text: "present" if _PAIRED.search(text) else None)
        for one in (record, *around.details):
            before = one.first("baseline time")
            if before is not None and any(
                field.line != before.line or field is not before for field in one.of("time", "speedup", "score")
            ):
                yield _of_field(one, before, "partial")
        yield from _words(record, lambda text: "partial" if _BOTH.search(text) else None)

    return _best(found())


def _noise(record: ForeignRecord, around: Surroundings) -> Aspect:
    def found() -> Iterator[Aspect]:
        spreads = list(_fields(record, around, "spread"))
        for one, field in spreads:
            if field.value is not None and field.value == field.value:
                yield _of_field(one, field, "present" if field.value else "partial")
        yield from _words(record, lambda text: "present" if _SPREAD.search(text) else None)
        for one, field in _fields(record, around, "repeats"):
            if (field.value or 0) > 1:
                yield _of_field(one, field, "partial")
        yield from _words(record, lambda text: "partial" if _REPEATED.search(text) else None)

    return _best(found())


def _roof(record: ForeignRecord, around: Surroundings) -> Aspect:
    def found() -> Iterator[Aspect]:
        yield from _words(
            record, lambda text: ("present" if _SOURCE.search(text) else "partial") if _ROOF.search(text) else None
        )
        for one, field in _fields(record, around, "share", "target"):
            yield _of_field(one, field, "present" if _SOURCE.search(field.text) else "partial")
        if around.target is not None:
            yield around.target

    return _best(found())


def _snapshot(record: ForeignRecord, around: Surroundings) -> Aspect:
    def found() -> Iterator[Aspect]:
        tree = around.tree
        if record.file.startswith(COMMIT):
            yield Aspect("present", "the commit itself", record.file)
        for name in around.beside:
            yield Aspect("present", name.rsplit("/", 1)[-1], name)
        for field in record.of("source"):
            yield from _sources(record, tree, field.line, field.text, always=True)
        for line, text in record.lines:
            yield from _sources(record, tree, line, text, always=False)

    return _best(found())


def _sources(record: ForeignRecord, tree: ForeignTree, line: int, text: str, *, always: bool) -> Iterator[Aspect]:
    """Yield a version's source that a text holds or names: code itself, a commit, a file."""
    if always and len(text) > _CODE and "\n" in text:
        yield _seen(record, line, "present", f"{len(text)} characters of source")
        return
    for found in _HASH.finditer(text):
        state: ClaimState = "present" if tree.has_commit(found[1]) else "partial"
        yield _seen(record, line, state, f"commit {found[1]}" + ("" if state == "present" else ", not found here"))
    for found in _PATH.finditer(text) if always else ():
        name = found[0].lstrip("./")
        here = any(one == name or name.endswith(f"/{one}") or one.endswith(f"/{name}") for one in tree.names)
        yield _seen(record, line, "present" if here else "partial", name + ("" if here else ", not found here"))


def is_source(name: str) -> bool:
    """Whether a file can be a version's source."""
    return _SNAPSHOT.search(name) is not None
