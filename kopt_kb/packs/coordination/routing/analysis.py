"""Analysis results: a bottleneck with recommendations, as a block of text or as `kb profile read --json` prints it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire

__all__ = ["Analysis", "Impact", "KernelShare", "KernelShares", "RoutedAdvice", "ranked_kernels", "read_analysis"]

Impact = Literal["High", "Medium", "Low"]
_IMPACTS: tuple[Impact, ...] = ("High", "Medium", "Low")
_LINE = re.compile(r"^\s*(?P<number>\d+)[.)]\s*\[(?P<impact>high|medium|low)\]\s*(?P<text>\S.*?)\s*$", re.IGNORECASE)
_HEAD = re.compile(r"^\s*(?P<name>primary bottleneck|evidence|recommendations)\s*:\s*(?P<text>.*?)\s*$", re.IGNORECASE)

_MARKS = re.compile(r"\*\*|__|^\s*#+\s*|^\s*[-*]\s+(?=\d|[A-Za-z])")
"""What Markdown puts around words."""


@dataclass(frozen=True, slots=True)
class RoutedAdvice(Wire):
    """What an analysis recommends, with the impact it expects."""

    number: int
    impact: Impact
    text: str


@dataclass(frozen=True, slots=True)
class KernelShare(Wire):
    """A kernel of a trace.

    Attributes:
        name: Its name.
        share: Of the device's kernel time, 0 to 1.
        headroom: Part of its own time that is above the best known roof; 1 where nobody knows.
        gain: Share × headroom: most that the whole could gain by it.
        limiter: What the verdict calls its limit.
    """

    name: str
    share: float
    headroom: float
    gain: float
    limiter: str


@dataclass(frozen=True, slots=True)
class KernelShares(Wire):
    """Kernels by what the whole could gain from each, most first."""

    kernels: tuple[KernelShare, ...]


@dataclass(frozen=True, slots=True)
class Analysis(Wire):
    """An analysis.

    Attributes:
        bottleneck: Its class.
        evidence: What it rests on.
        recommendations: As it gives them.
        kernel: The kernel that it is about; empty for a whole program.
    """

    bottleneck: str
    evidence: str
    recommendations: tuple[RoutedAdvice, ...]
    kernel: str = ""


def read_analysis(text: str, where: str) -> Analysis:
    """Return the analysis of a block or a document; of several kernels that with the most to gain.

    Raises:
        BadInput: It is neither, or recommends nothing.
    """
    stripped = text.lstrip()
    found = _of_document(stripped, where) if stripped.startswith("{") else _of_block(text, where)
    if not found.recommendations:
        fix = "write `Recommendations:` and lines such as `1. [High] …`, or give the JSON of kb profile read"
        raise BadInput("the analysis recommends nothing", where=where, fix=fix, code="KB405")
    return found


def _of_block(text: str, where: str) -> Analysis:
    heads: dict[str, str] = {}
    found: list[RoutedAdvice] = []
    for number, written in enumerate(text.splitlines(), 1):
        line = _MARKS.sub("", written)
        head, item = _HEAD.match(line), _LINE.match(line)
        if head:
            heads[head["name"].casefold()] = head["text"]
        elif item:
            impact = next(one for one in _IMPACTS if one.casefold() == item["impact"].casefold())
            found.append(RoutedAdvice(int(item["number"]), impact, item["text"]))
        elif "recommendations" in heads and re.match(r"\s*\d+[.)]", line):
            fix = "write `1. [High] text`, `[Medium]` or `[Low]`"
            raise BadInput("a recommendation says no impact", where=f"{where}:{number}", fix=fix, code="KB405")
    numbers = [one.number for one in found]
    if len(set(numbers)) < len(numbers):
        raise BadInput("two recommendations have one number", where=where, fix="number them", code="KB405")
    return Analysis(heads.get("primary bottleneck", "unknown"), heads.get("evidence", ""), tuple(found))


def _document(text: str, where: str) -> Mapping[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"is no JSON: {error}"[:200], where=where, fix="give kb profile read --json", code="KB405"
        ) from error
    return found if isinstance(found, dict) else {}


def _of_document(text: str, where: str) -> Analysis:
    kernels = [one for one in _list(_document(text, where), "kernels") if isinstance(one.get("verdict"), dict)]
    if not kernels:
        raise BadInput("holds no kernel with a verdict", where=where, fix="give kb profile read --json", code="KB405")
    best = max(kernels, key=lambda one: _share(one).gain)
    verdict = next(iter(_list({"verdict": [best["verdict"]]}, "verdict")))
    advice = [str(one.get("text", "")) for one in _list(verdict, "advice")]
    items = tuple(
        RoutedAdvice(number, _IMPACTS[min(number, len(_IMPACTS)) - 1], said)
        for number, said in enumerate(filter(None, advice), 1)
    )
    words = "; ".join(str(one.get("text") or one.get("metric") or "") for one in _list(verdict, "evidence"))
    return Analysis(
        str(verdict.get("class", "unknown")), words, items, str(best.get("function") or best.get("name", ""))
    )


def _list(document: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    value = document.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _number(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default


def _share(kernel: Mapping[str, object]) -> KernelShare:
    gap, verdict = kernel.get("gap"), kernel.get("verdict")
    of_roof = _number(gap.get("of_roof_pct"), 0.0) if isinstance(gap, dict) else 0.0
    headroom = min(1.0, max(0.0, 1 - of_roof / 100))
    share = _number(kernel.get("time_share"), 1.0)
    limiter = str(verdict.get("limiter", "")) if isinstance(verdict, dict) else ""
    return KernelShare(
        str(kernel.get("function") or kernel.get("name", "")), share, headroom, share * headroom, limiter
    )


def ranked_kernels(text: str, where: str) -> tuple[KernelShare, ...]:
    """Return the kernels of `kb profile read --json` by what the whole could gain from each, most first.

    Raises:
        BadInput: It is no such document.
    """
    kernels = list(_shares(_document(text, where)))
    if not kernels:
        raise BadInput("holds no kernel", where=where, fix="give kb profile read --json", code="KB405")
    return tuple(sorted(kernels, key=lambda one: (-one.gain, one.name)))


def _shares(document: Mapping[str, object]) -> Iterator[KernelShare]:
    for one in _list(document, "kernels"):
        yield _share(one)
