"""Which recorded configurations of a search wait: those that static facts speak against, so that time goes to others.

A fact is a claim until the device agrees. The first configuration that a rule speaks against is timed all the same: if
it launches where a limit says that it can't, or comes near the best although it spills, the rule holds for nothing on
this shape and what waited for it is timed. What a limit forbids is otherwise left out; what spills waits for the end,
and is timed then as far as evaluations and seconds are left. Whatever was not timed is named with its reason and, for a
limit, the row of the wiki.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import canonical
from kopt_kb.launch.counts.launch_facts import launch_facts
from kopt_kb.launch.counts.launch_limits import launch_refusal
from kopt_kb.launch.judge.makers import Made
from kopt_kb.launch.judge.shelf import Asked
from kopt_kb.launch.record.judge import stored

__all__ = ["Admission", "Objection", "WaitReason", "facts_by", "numbers_by"]

WaitReason = Literal["cannot_launch", "spills"]

_NEAR = 1.2
"""Times of the best so far up to which a configuration that spills speaks for others that do."""
_ENOUGH = 8
"""Times that are known before what is in use is held against them."""


_Rule = tuple[WaitReason, str]
_Pair = tuple[Asked, Made]


@dataclass(frozen=True, slots=True)
class Objection:
    """What speaks against a configuration: the rule, what is true of this one, the row that sets the limit."""

    reason: WaitReason
    detail: str
    source: str = ""

    @property
    def rule(self) -> _Rule:
        """What one counter-example is about: spilling, or one row."""
        return self.reason, self.source


_Waiting = tuple[Objection, _Pair]


def facts_by(limits: Limits) -> Callable[[Path], Objection | None]:
    """Return what reads the folder of a record and says what speaks against it under sourced limits."""

    def fact(folder: Path) -> Objection | None:
        try:
            record, code = stored(folder)
            if refusal := launch_refusal(record, code, limits):
                detail, _, source = refusal.partition("; ")
                return Objection("cannot_launch", detail, source) if source else None
            found = launch_facts(record, code, limits)
        except KoptError:
            return None  # what can't be read is judged by launching it
        if found is None or not found.stack_bytes:
            return None
        return Objection("spills", f"{found.registers} registers and {found.stack_bytes} B of local memory a thread")

    return fact


def numbers_by(limits: Limits) -> Callable[[Path], Sequence[float] | None]:
    """Return what reads the folder of a record, once, and says by which numbers configurations resemble each other."""

    @cache
    def numbers(folder: Path) -> Sequence[float] | None:
        try:
            found = launch_facts(*stored(folder), limits)
        except KoptError:
            return None
        if found is None:
            return None
        return found.registers, found.stack_bytes, found.shared_bytes, found.occupancy_pct, found.blocks

    return numbers


@dataclass(slots=True)
class Admission:
    """What waits in the search of one shape.

    Attributes:
        fact: Says what speaks against a record, by its folder.
        configs: Configuration by its key, as the search keeps them.
        times_s: Times by key so far, infinite for what does not work; the search goes on filling it.
        kept: The configuration that the shape has now: it never waits. No limit that it breaks holds; if it spills,
            nothing waits for that until it is seen to be slow beside others.
        tried: Rule → the configuration that was timed although the rule speaks against it.
        void: Rules that the device contradicted.
    """

    fact: Callable[[Path], Objection | None]
    configs: Mapping[bytes, Mapping[str, object]]
    times_s: Mapping[bytes, float]
    kept: bytes
    tried: dict[_Rule, bytes] = field(default_factory=dict)
    void: set[_Rule] = field(default_factory=set)
    _waiting: dict[bytes, _Waiting] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def admitted(
        self, stream: Iterator[_Pair], is_sound: Callable[[Asked, Made], bool], is_over: Callable[[], bool]
    ) -> Iterator[_Pair]:
        """Yield what is to be timed: what waits later, or never.

        Args:
            stream: Records as they are made.
            is_sound: Whether there is anything to time.
            is_over: Whether the budget is spent.
        """
        for one, made in stream:
            key = canonical(one.config)
            fact = self.fact(made.folder) if is_sound(one, made) else None
            if fact is not None and self._waits(key, fact):
                self._waiting[key] = fact, (one, made)
                continue
            yield one, made
            yield from self._released()
        while (nearest := self._nearest()) is not None and not is_over():
            yield self._waiting.pop(nearest)[1]
            yield from self._released()

    def _waits(self, key: bytes, fact: Objection) -> bool:
        if key == self.kept and fact.reason != "spills":
            self.void.add(fact.rule)
        if fact.rule in self.void:
            return False
        return self.tried.setdefault(fact.rule, key) != key and not self._undecided(fact.rule)

    def _undecided(self, rule: _Rule) -> bool:
        """Whether too little is known to hold what spills back: what is in use spills too, which may be its nature."""
        known = sum(map(math.isfinite, self.times_s.values()))
        return rule[0] == "spills" and self.tried[rule] == self.kept and known < _ENOUGH

    def _released(self) -> Iterator[_Pair]:
        """Yield what need not wait any more: the device contradicted its rule."""
        best_s = min(self.times_s.values(), default=math.inf)
        for rule, key in self.tried.items():
            time_s = self.times_s.get(key, math.inf)
            is_near = time_s <= _NEAR * best_s and not self._undecided(rule)
            if math.isfinite(time_s) and (rule[0] != "spills" or is_near):
                self.void.add(rule)
        for key in [key for key, (fact, _) in self._waiting.items() if fact.rule in self.void]:
            yield self._waiting.pop(key)[1]

    def _nearest(self) -> bytes | None:
        """Return what spills and waits, in the fewest knobs away from the best so far."""
        spilling = [key for key, (fact, _) in self._waiting.items() if fact.reason == "spills"]
        best = min(self.times_s, key=self.times_s.__getitem__, default=self.kept)

        def apart(key: bytes) -> int:
            return sum(self.configs[best].get(name) != value for name, value in self.configs[key].items())

        return min(spilling, key=apart, default=None)

    def reasons(self) -> dict[str, int]:
        """Return reason → how many wait."""
        return dict(sorted(Counter(fact.reason for fact, _ in self._waiting.values()).items()))

    def left(self) -> Iterator[str]:
        """Yield a line for each that waits: its values, why, and the source of the limit."""
        for key, (fact, _) in self._waiting.items():
            source = f" ({fact.source})" if fact.source else ""
            yield f"{dict(self.configs[key])}: not timed, {fact.reason}: {fact.detail}{source}"
