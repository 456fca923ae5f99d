"""Prints what the state of a campaign costs at each step: folding the whole journal, and taking up new events only.

Usage: python benchmarks/campaign_state.py [EVENTS]

The journal is synthetic: rounds of 35 events each, as a measured round on two shapes leaves them, every fourth round
accepted.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator

from kopt_kb.workspace.fold import Fold, fold
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed, ProposalMade
from kopt_kb.workspace.journal.events import Event, EventData
from kopt_kb.workspace.journal.round_events import (
    CandidateSubmitted,
    Decided,
    GateJudged,
    HypothesisStated,
    Measured,
    RoundStarted,
    RunFinished,
    RunStarted,
    SnapshotTaken,
)
from kopt_kb.workspace.journal.setup_events import EnvironmentRecorded, WikiState, WorkspaceCreated

BLOB = "ab" * 32
_EVERY = 25
SHAPES = ("8192x4096", "1024x512")
GATES = ("lint", "limits", "build", "correctness", "timing", "roofline", "evidence")


def no_blob(sha: str) -> bytes:
    raise KeyError(sha)


def one_round(number: int) -> Iterator[EventData]:
    name = f"v{number}"
    yield RoundStarted(number, BLOB)
    yield ProposalMade(number, "c", f"claim {number}", "less time", "bench", BLOB, {})
    yield HypothesisStated(number, "c", f"claim {number}", "less time", (1,), "bench")
    yield CandidateSubmitted(number, name, BLOB, {}, "bench")
    for gate in ("check", "timing"):
        run = f"{name}.{gate}.1"
        yield RunStarted(run, name, gate, 1, ("python",), {"wall_s": 300.0}, 1, None)
        yield RunFinished(run, "ok", 0, None, 1.0, BLOB)
    for side in (f"v{max(number - 1, 0)}", name):
        for shape in SHAPES:
            for at in range(1, 4):
                record = f"{name}.timing.1:{side}:{shape}:{at}"
                yield Measured(record, side, shape, 100, 1e-4, {"mad_s": 1e-6}, f"{name}.timing.1", 3)
    for gate in GATES:
        yield GateJudged(name, gate, "pass", "", ())
    accepted = number % 4 == 0
    yield Decided(number, "accept" if accepted else "rollback", "gpu-wiki", "R3", ())
    if accepted:
        yield SnapshotTaken(number, BLOB, None)


def journal(events: int) -> list[Event]:
    problem = {"op": "rms_norm", "shapes": list(SHAPES), "dtype": "bf16", "task": {}}
    wiki = WikiState("wiki", {})
    data: list[EventData] = [
        WorkspaceCreated("bench", "H200_SXM", problem, BLOB, wiki, {}),
        CampaignConfirmed({}, False, "bench", (), {}),
        EnvironmentRecorded("device", None, None, {}, {}, BLOB),
    ]
    number = 0
    while len(data) < events:
        data += one_round(number)
        number += 1
    t = "2026-01-31T12:00:00.000000Z"
    return [Event(1, seq, t, one.kind, one, BLOB) for seq, one in enumerate(data[:events], 1)]


def main() -> None:
    last = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    events = journal(last)
    growing = Fold(no_blob)
    taken_s = []
    for event in events:
        start_s = time.perf_counter()
        growing.take((event,))
        growing.state()
        taken_s.append(time.perf_counter() - start_s)
    print("state() after one more event, medians of 11 folds of the whole journal and of the last 101 events taken up")
    for length in (100, 500, 1000, last):
        folds_s = []
        for _ in range(11):
            start_s = time.perf_counter()
            fold(events[:length], no_blob)
            folds_s.append(time.perf_counter() - start_s)
        fold_ms = statistics.median(folds_s) * 1e3
        take_ms = statistics.median(taken_s[max(0, length - 101) : length]) * 1e3
        print(f"{length:>6} events: whole journal {fold_ms:8.3f} ms, new events {take_ms:6.4f} ms")
    sampled_s = 0.0
    for length in range(_EVERY, last + 1, _EVERY):
        start_s = time.perf_counter()
        fold(events[:length], no_blob)
        sampled_s += time.perf_counter() - start_s
    whole_s = sampled_s * _EVERY
    print(f"all {last} states of a campaign: whole journal {whole_s:.1f} s (every {_EVERY}th timed, times {_EVERY}),")
    print(f"  new events {sum(taken_s):.3f} s")


if __name__ == "__main__":
    main()
