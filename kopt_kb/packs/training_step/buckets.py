"""Buckets of Rule 11: which part of a benchmark's gain a change can carry into a training step, and why."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from kopt_kb.base.wire import Wire
from kopt_kb.packs.training_step.caches import CacheUse, KeyPart, cache_uses

__all__ = [
    "Bucket",
    "BucketFinding",
    "BucketWord",
    "bucket_of",
    "bucket_of_cache",
    "changed_caches",
    "grouped_assumptions",
    "stated_bound_pct",
]

BucketWord = Literal["K1", "K2", "K3", "K4", "W1", "W2", "W3"]
"""K1 inside the kernel, K2 one layout's own kernel, K3 several steps in one launch, K4 data handed on within one call;
W1 a weight's cache, W2 of an activation, a gradient or a scale, W3 results by any other tensor's identity."""

_BOUND = re.compile(r"\bW1 bound[: ]+(?P<pct>\d+(?:\.\d+)?)\s*%", re.IGNORECASE)
_PER_GROUP = re.compile(r"^(?:M|TOKENS?|ROWS?)_PER_(?:GROUP|EXPERT)$", re.IGNORECASE)
_GROUP_SIZES = re.compile(r"tokens?_per_|rows?_per_|group_(?:sizes?|lens?|rows)|m_per_group|expert", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BucketFinding(Wire):
    """One thing that does not carry over: line and words."""

    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Bucket(Wire):
    """What a change is.

    Attributes:
        word: The bucket.
        why: What it was told by.
        caches: Caches that the change brings.
        findings: What Rule 11 forbids in it, by file and line; empty: nothing.
        bound_pct: Most that a weight's cache gains a step, in percent, as stated; None: not stated, or no W1.
    """

    word: BucketWord
    why: str
    caches: tuple[CacheUse, ...] = ()
    findings: tuple[BucketFinding, ...] = ()
    bound_pct: float | None = None

    @property
    def forbidden(self) -> bool:
        """Whether no candidate of it may be accepted."""
        return self.word in {"W2", "W3"} or bool(self.findings)


def bucket_of_cache(use: CacheUse) -> BucketWord | None:
    """Return the bucket of a cache; None for one that keeps no result of a tensor: configurations, buffers."""
    parts = {one.part for one in use.key}
    unstable = parts & {"id(activation)", "id(grad_out)", "id(scale)"}
    if unstable:
        return "W2" if use.how != "lru_cache" else "W3"
    if "id(weight)" in parts:
        return "W1" if use.how != "lru_cache" else "W3"
    if parts & {"version", "weight version"}:
        return "W3"
    return "W3" if use.holds_results and "layout" in parts else None


def bucket_of(old: Mapping[str, str], new: Mapping[str, str], *, category: str, claim: str, expected: str) -> Bucket:
    """Return the bucket of a change.

    Args:
        old: The incumbent's files, path → text.
        new: The candidate's.
        category: Kind of change, as stated.
        claim: What it claims.
        expected: What it expects; `W1 bound: 1.8 %` states the bound of a weight's cache.
    """
    caches = changed_caches(old, new)
    judged = [(word, one) for one in caches if (word := bucket_of_cache(one)) is not None]
    findings = [finding for path, text in new.items() for finding in _new_assumptions(old.get(path, ""), text)]
    bound = stated_bound_pct(f"{claim} {expected}")
    if judged:
        word, worst = max(judged, key=lambda one: one[0])
        findings += list(_cache_faults(judged, bound))
        why = f"line {worst.line}: {worst.how} {worst.name} keyed on {', '.join(one.text for one in worst.key)}"
        return Bucket(word, why, tuple(one for _, one in judged), tuple(findings), bound if word == "W1" else None)
    word, why = _kernel_bucket(old, new, f"{category} {claim}")
    return Bucket(word, why, (), tuple(findings))


def stated_bound_pct(text: str) -> float | None:
    """Return the stated bound of a weight's cache in percent; None without one."""
    found = _BOUND.search(text)
    return float(found["pct"]) if found else None


def changed_caches(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[CacheUse, ...]:
    """Return the caches that new files have beyond the old ones, by name and key."""
    before = {(one.name, one.key) for text in old.values() for one in _caches(text)}
    found = (one for path, text in new.items() if old.get(path) != text for one in _caches(text))
    return tuple(one for one in found if (one.name, one.key) not in before)


@lru_cache(maxsize=256)  # every view of a campaign asks for the same files of its rounds
def _caches(text: str) -> tuple[CacheUse, ...]:
    try:
        return cache_uses(text.encode())
    except (SyntaxError, ValueError):
        return _foreign_caches(text)


_FOREIGN = re.compile(r"(?:unordered_map|std::map|static\s+\w*map)[^;]*;|\[\s*\w+(?:\.|->)data_ptr[^\]]*\]")


def _foreign_caches(text: str) -> tuple[CacheUse, ...]:
    """Return maps by a tensor's address in C++, HIP and CUDA files."""
    if "data_ptr" not in text:
        return ()
    at = _FOREIGN.search(text)
    line = text[: at.start()].count("\n") + 1 if at else 0
    return (CacheUse(line, "map", "dict", (KeyPart("data_ptr", "id(activation)"),)),) if at else ()


def _cache_faults(judged: Sequence[tuple[str, CacheUse]], bound: float | None) -> Iterator[BucketFinding]:
    """Yield what makes a cache one that may not be."""
    for word, one in judged:
        parts = {part.part for part in one.key}
        if word in {"W2", "W3"}:
            yield BucketFinding(one.line, f"{word}: {one.name} is found by what is new in every training step")
        elif "weight version" not in parts:
            yield BucketFinding(
                one.line, f"W1 without the weight's _version: {one.name} is stale after the optimizer's step"
            )
        elif bound is None:
            yield BucketFinding(
                one.line, "W1 without its bound: state `W1 bound: X %` (saved calls × time / step time)"
            )


def _kernel_bucket(old: Mapping[str, str], new: Mapping[str, str], words: str) -> tuple[BucketWord, str]:
    """Return the bucket of a change without a cache."""
    added = "\n".join(text for path, text in new.items() if old.get(path) != text)
    before = "\n".join(old.values())
    if added.count("save_for_backward") + added.count("ctx.saved_tensors") > before.count("save_for_backward"):
        return "K4", "forward hands data to its own backward"
    if re.search(r"\bfus(?:e|ed|es|ing|ion)\b|one launch|single launch", words, re.IGNORECASE):
        return "K3", "several steps in one launch"
    if re.search(r"\b(?:NT|NN|TN|layout)\b", words):
        return "K2", "a kernel for one layout"
    return "K1", "inside the kernel; no cache"


def _new_assumptions(old: str, new: str) -> list[BucketFinding]:
    known = {one.what for one in grouped_assumptions(old)}
    return [one for one in grouped_assumptions(new) if one.what not in known]


@lru_cache(maxsize=256)
def grouped_assumptions(text: str) -> tuple[BucketFinding, ...]:
    """Return what a file assumes of the rows of groups: one size for all, a multiple of a tile, none empty."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    found: list[BucketFinding] = []
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.arg)
            and _PER_GROUP.match(node.arg)
            and "constexpr" in ast.unparse(node.annotation or ast.Constant(0))
        ):
            found.append(
                BucketFinding(node.lineno, f"{node.arg} is a compile-time constant: experts differ in every step")
            )
        elif isinstance(node, ast.Assert):
            found += _asserted(node)
    return tuple(found)


def _asserted(node: ast.Assert) -> Iterator[BucketFinding]:
    said = ast.unparse(node.test)
    if not _GROUP_SIZES.search(said):
        return
    if any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod) for one in ast.walk(node.test)):
        yield BucketFinding(node.lineno, f"asserts that groups are multiples of a tile: {said}")
    elif any(
        isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.Gt | ast.GtE | ast.NotEq)
        for one in ast.walk(node.test)
    ):
        yield BucketFinding(node.lineno, f"asserts that no group is empty: {said}")
