"""Prints where the seconds of rounds went, and configurations searched a second, from journals.

Usage: python benchmarks/round_seconds.py WORKSPACE...
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from kopt_kb.launch.candidate.answers import Search, read_answer
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.journal import read_journal
from kopt_kb.workspace.journal.round_events import (
    CandidateSubmitted,
    Decided,
    GateJudged,
    RoundStarted,
    RunFinished,
    RunStarted,
)
from kopt_kb.workspace.layout import Layout


@dataclass
class Seconds:
    """One round: from its begin to its decision, what its runs took by kind, and what they say of their parts."""

    number: int
    begin: datetime
    whole_s: float = 0.0
    decision: str = "open"
    trust: str = ""
    runs: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    parts: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    gates: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    configs: int = 0

    @property
    def fixed_s(self) -> float:
        """All but the search."""
        return self.whole_s - self.runs["search"]

    @property
    def decided_s(self) -> float:
        """All but the search and the profile of what is accepted: what every round costs."""
        return self.fixed_s - self.runs["evidence"]


def rounds_of(workspace: Path) -> Iterator[Seconds]:
    """Yield the rounds of a workspace's journal that have ended."""
    layout = Layout(workspace)
    store, current, kinds = ObjectStore(layout.objects), None, dict[str, str]()
    before = datetime.max.replace(tzinfo=UTC)
    for event in read_journal(layout.journal):
        data, now = event.data, datetime.fromisoformat(event.t)
        if isinstance(data, RoundStarted):
            current, before = Seconds(data.round, now), now
        elif isinstance(data, CandidateSubmitted):
            before = now
        elif isinstance(data, GateJudged) and current is not None:
            current.gates[data.gate] += (now - before).total_seconds()
            before = now
        elif isinstance(data, RunStarted):
            kinds[data.run] = data.gate
        elif isinstance(data, RunFinished) and current is not None:
            kind = kinds[data.run]
            current.runs[kind] += data.wall_s
            kept = json.loads(store.get(data.output)) if data.output else {}
            answer = read_answer(kind, kept["result"]) if kept.get("result") else None
            basis = getattr(answer, "basis", None)
            if basis is not None:
                current.parts.update({f"{kind}: {name}": value for name, value in basis.seconds.items()})
            if isinstance(answer, Search):
                current.configs += sum(one.evaluated for one in answer.shapes.values())
        elif isinstance(data, Decided) and current is not None:
            current.whole_s = (now - current.begin).total_seconds()
            current.decision, current.trust = f"{data.decision} ({data.rule})", data.trust
            yield current
            current = None


def main() -> None:
    for name in sys.argv[1:]:
        found = list(rounds_of(Path(name)))
        print(Path(name).name)
        for one in found:
            runs = ", ".join(f"{kind} {value:.2f}" for kind, value in one.runs.items())
            print(f"  round {one.number}: {one.whole_s:.2f} s, without search {one.fixed_s:.2f} s, nor profile "
                  f"{one.decided_s:.2f} s; {one.decision}, {one.trust}; runs: {runs}")  # fmt: skip
            print(f"    gates: {', '.join(f'{gate} {value:.2f}' for gate, value in one.gates.items())}")
            for part, value in one.parts.items():
                print(f"    {part} {value:.2f} s")
            if one.configs:
                rate = one.configs / one.runs["search"]
                print(f"    {one.configs} configurations in {one.runs['search']:.2f} s: {rate:.2f} a second")
        for what, plain in (
            ("search", sorted(one.fixed_s for one in found if one.number)),
            ("search and profile", sorted(one.decided_s for one in found if one.number)),
        ):
            if plain:
                print(f"  median of a round without its {what}: {plain[len(plain) // 2]:.2f} s, n {len(plain)}")


if __name__ == "__main__":
    main()
