"""What is read without pydantic is what pydantic reads, and nothing that it refuses."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import pytest

from kopt_kb.analysis.roofline.recorded import RecordedRoofline
from kopt_kb.base.wire import AtLeast, Exact, JsonMap, Seq, Sha256, Text, Wire, WireError, parse
from kopt_kb.base.wire_direct import UNSURE, direct
from kopt_kb.base.wire_reader import validated
from kopt_kb.workspace.journal.events import kinds

ODD = (
    None, True, 0, 1, -1, 2**63, 0.0, 1.5, math.nan, math.inf, "", "x", " ", "9/10", "1/0", "\ud800", [], [1], ["x"], (),
    {}, {"a": 1}, {1: 2}, MappingProxyType({}), b"x",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part(Wire):
    """A record of every form that fields have."""

    WIRE: ClassVar = ("name", "class=kind", "exact?", "twice", "pairs")
    name: Text
    kind: Literal["a", "b"]
    pairs: tuple[tuple[str, int], ...]
    exact: Exact | None = None
    hidden: str = "kept to itself"

    @property
    def twice(self) -> str:
        """Written, and computed again."""
        return self.name * 2

    @classmethod
    def from_wire(cls, document: dict[str, Any]) -> dict[str, Any]:
        """A member of an earlier release."""
        return {"class" if name == "old" else name: value for name, value in document.items()}


@dataclass(frozen=True, slots=True)
class Whole(Wire):
    """A record of records."""

    part: Part
    number: int | float
    ratio: float
    rates: dict[str, float] = field(default_factory=dict)
    either: str | bool | None = None
    blob: Sha256 | None = None
    seqs: tuple[Seq, ...] = ()
    anything: JsonMap | None = None
    flag: bool = False

    def __post_init__(self) -> None:
        """Refuse what no type can."""
        if self.ratio > 1:
            raise WireError("is above 1", where="ratio")


PART = {"name": "n", "class": "a", "twice": "nn", "pairs": [["x", 1]], "exact": "9/10"}
WHOLE = {
    "part": PART, "number": 3, "ratio": 0.5, "rates": {"p": 2.5}, "either": "text", "blob": "0" * 64, "seqs": [1, 2],
    "anything": {"deep": [{"er": [1, None, "x", 2.5]}]}, "flag": True,
}  # fmt: skip


def changed(document: Any) -> Iterator[Any]:
    """The document with one thing changed anywhere in it: a value replaced, a member or item gone or added."""
    yield from ODD
    if isinstance(document, dict):
        yield {**document, "surplus": 1}
        for name, value in document.items():
            yield {other: held for other, held in document.items() if other != name}
            for new in changed(value):
                yield {**document, name: new}
    elif isinstance(document, list):
        yield [*document, *document[:1]]
        yield tuple(document)
        for at, value in enumerate(document):
            for new in changed(value):
                yield [*document[:at], new, *document[at + 1 :]]


def check(kind: object, document: object) -> bool:
    """Whether it was read directly; then pydantic reads the same, and the types inside are the same."""
    value = direct(kind, document)
    if value is UNSURE:
        return False
    wanted = validated(kind, document, "")
    assert (value, repr(value)) == (wanted, repr(wanted)), document
    return True


@pytest.mark.parametrize(
    ("kind", "document"),
    [(Part, PART), (Whole, WHOLE), (tuple[Part, ...], [PART]), (dict[str, int | None], {"a": 1}), (Part | Whole, PART)],
)
def test_it_reads_what_is_right_and_agrees_about_everything_else(kind: Any, document: Any) -> None:
    """One change anywhere: read alike, or left to pydantic."""
    assert check(kind, document)
    taken = [check(kind, other) for other in changed(document)]
    assert any(taken) and not all(taken)


def test_every_event_of_a_recorded_campaign_is_read_directly(repo_root: Path) -> None:
    """With all rooflines, policies, proposals and records of a measured campaign; a sample of each kind is changed."""
    seen: set[str] = set()
    path = repo_root / "benchmarks" / "campaigns" / "h200_sxm" / "softmax" / "journal.jsonl"
    for line in path.read_bytes().splitlines():
        event: Any = parse(line)
        assert check(kinds()[event["kind"]], event["data"]), event["kind"]
        if event["kind"] not in seen and len(line) < 2000:
            seen.add(event["kind"])
            assert not all(check(kinds()[event["kind"]], other) for other in changed(event["data"]))
        if event["kind"] == "target_set":
            assert check(tuple[RecordedRoofline, ...], event["data"]["work"]["rooflines"])
    assert len(seen) >= 10


def test_nesting_is_limited_as_pydantic_limits_it() -> None:
    """At every depth around the limit the two agree."""
    document: Any = "x"
    for depth in range(1, 40):
        document = {"d": document} if depth % 2 else {"d": [document]}
        assert check(JsonMap, document) == (direct(JsonMap, document) is not UNSURE)
    assert direct(JsonMap, document) is UNSURE
    with pytest.raises(WireError, match="nested deeper"):
        validated(JsonMap, document, "")


@pytest.mark.parametrize("kind", [object, list[int], Literal[1, 2], dict[int, str], Fraction, "Part", type(AtLeast)])
def test_what_it_does_not_know_is_left_to_pydantic(kind: object) -> None:
    """A type it has no form for is no error of its own."""
    assert direct(kind, 1) is UNSURE


def test_reading_a_journal_loads_no_pydantic(repo_root: Path) -> None:
    """A process that reads what is right never pays for it."""
    code = (
        "import sys; from kopt_kb.workspace.journal.reader import read_journal; "
        "print(len(read_journal(sys.argv[1])), 'pydantic' in sys.modules)"
    )
    path = repo_root / "benchmarks" / "campaigns" / "h200_sxm" / "gemm" / "journal.jsonl"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["242", "False"]
