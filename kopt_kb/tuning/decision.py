"""From times and gate results to one of four decisions, with the rule that took it; a pure function."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.launch.candidate.answers import LEVELS, Contest, Trust
from kopt_kb.launch.record.source import CodeSource
from kopt_kb.quantity.statistics import change_pct, geometric_mean, speedup_pct
from kopt_kb.tuning.policy import Policy, gates_of

__all__ = [
    "SUSPICIOUS",
    "Decision",
    "GateResult",
    "RoundVerdict",
    "Times",
    "behind_first",
    "decide",
    "judge_gates",
    "repeat_gains",
    "score_pct",
    "unbound",
    "unmet",
    "untrusted",
]

RoundVerdict = Literal["accept", "accept_with_note", "rollback", "unverified"]
Times = Mapping[str, Sequence[float]]
"""Shape → one median a repeat, in seconds; the i-th repeats of incumbent and candidate ran interleaved."""

SUSPICIOUS = "suspicious gain"
"""Rule of a gain that has to be shown by more repeats before it is believed."""

_DIGITS = 9  # percents are compared after rounding, so that 1.05 against 1 is exactly 5 %


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate's result on a candidate."""

    gate: str
    result: Literal["pass", "fail", "unavailable"]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Decision(Wire):
    """The end of a round.

    Attributes:
        decision: One of four.
        rule: The rule that took it, such as `noise`, `R3 regression`, `gate correctness`.
        reason: The numbers behind it, one line.
        gain_pct: Change of the score; None when times did not matter.
        changes_pct: Shape → change, positive is faster.
    """

    decision: RoundVerdict
    rule: str
    reason: str
    gain_pct: float | None = None
    changes_pct: Mapping[str, float] | None = None

    @property
    def accepted(self) -> bool:
        """Whether the candidate becomes the incumbent."""
        return self.decision in {"accept", "accept_with_note"}


def score_pct(old_s: Sequence[float], new_s: Sequence[float]) -> float:
    """Return the speedup of the geometric mean over paired times, in percent; positive is faster.

    Raises:
        BadInput: No time, or one that is no positive number.
    """
    mean = geometric_mean(old / new if new else None for old, new in zip(old_s, new_s, strict=True))
    if mean is None:
        raise BadInput("a score needs a positive time of every shape", where="times", code="KB401")
    return round(change_pct(1, mean), _DIGITS)


def decide(
    policy: Policy,
    incumbent: Times,
    candidate: Times,
    gates: Sequence[GateResult],
    *,
    noise_pct: float = 0.0,
    best: Times | None = None,
    contest: Contest | None = None,
) -> Decision:
    """Return the decision on a candidate, by gates, contest or noise, regression (R3), skew (R11), chain (R9).

    How far the times can be trusted is the question of `untrusted`. A contest takes the place of the noise rules: it
    has tested the gain against a threshold that holds the policy's least gain and the noise, by samples enough for its
    bounds; a gain that it does not call faster is none.

    Args:
        policy: Thresholds.
        incumbent: Times of the last accepted version.
        candidate: Times of the candidate; may be empty when a gate failed.
        gates: All gates judged.
        noise_pct: Gain the incumbent seems to have over itself.
        best: Times of the best accepted version, measured alike; None: the incumbent is the best.
        contest: The verdict of a sequential test; None: none was made.

    Raises:
        BadInput: Times that are no positive numbers, or repeats that do not pair up.
    """
    stopped = judge_gates(policy, gates) or _shapes(incumbent, candidate)
    if stopped is not None:
        return stopped
    _check_times(incumbent, candidate)
    medians = {shape: (statistics.median(incumbent[shape]), statistics.median(candidate[shape])) for shape in incumbent}
    changes = {shape: round(speedup_pct(old, new), _DIGITS) for shape, (old, new) in medians.items()}
    gain = score_pct([old for old, _ in medians.values()], [new for _, new in medians.values()])
    if contest is None:
        doubt = _noise(policy, repeat_gains(incumbent, candidate), gain, noise_pct)
    else:
        gain = gain if contest.gain_pct is None else round(contest.gain_pct, _DIGITS)
        doubt = _contest(contest)
    verdict = (
        doubt
        or _regression(policy, changes, noise_pct)
        or _skew(policy, changes)
        or _chain(policy, best, candidate)
        or _accept(policy, changes, gain, noise_pct)
    )
    return Decision(*verdict, gain, changes)


_Ruling = tuple[RoundVerdict, str, str]


def untrusted(policy: Policy, trust: Trust | None) -> Decision | None:
    """Return the decision on what rests on less than the policy accepts; None where it rests on enough."""
    if trust is None or LEVELS.index(trust) >= LEVELS.index(policy.least_trust):
        return None
    return Decision("unverified", "trust", f"the times are {trust}, policy {policy.name} accepts {policy.least_trust}")


def unbound(policy: Policy, trust: Trust | None, source: CodeSource) -> Decision | None:
    """Return the decision on replayed code that is not known to come from the candidate's source; None where it may be.

    A language whose code objects nothing can make again is excused unless the policy says otherwise.
    """
    excused = policy.needs_bound == "no" or (policy.needs_bound == "where_possible" and source.reason == "language")
    if trust != "replayed" or source.state == "bound" or excused:
        return None
    reason = f"{source}: {source.detail}" if source.detail else str(source)
    return Decision("unverified", "source", reason)


def _contest(contest: Contest) -> _Ruling | None:
    """Return what a contest forbids; None where it called the candidate faster."""
    numbers = [f"threshold {contest.threshold_pct:.3f} %", f"{contest.rounds} quads a shape"]
    if contest.gain_pct is not None:
        bounds = "" if contest.least_pct is None else f" ({contest.least_pct:+.3f} to {contest.most_pct or 0.0:+.3f})"
        numbers.insert(0, f"{contest.gain_pct:+.3f} %{bounds}")
    text = ", ".join([*numbers, *([contest.reason] if contest.reason else [])])
    if contest.verdict == "faster":
        return None
    words = {"not_faster": "contest not faster", "undecided": "contest undecided"}
    if contest.verdict in words:
        return "rollback", words[contest.verdict], text
    return "unverified", "contest unavailable", text


def judge_gates(policy: Policy, gates: Sequence[GateResult]) -> Decision | None:
    """Return the decision that gates alone take: the first failure, else a required gate that is unavailable."""
    by_name = {gate.gate: gate for gate in gates}
    ordered = [by_name[name] for name in gates_of(policy) if name in by_name]
    for gate in ordered:
        if gate.result == "fail":
            return Decision("rollback", f"gate {gate.gate}", gate.reason or "failed")
    for name in policy.required_gates:
        gate = by_name.get(name, GateResult(name, "unavailable", "was not judged"))
        if gate.result == "unavailable":
            return Decision("unverified", f"gate {name}", gate.reason or "unavailable")
    return None


def _shapes(incumbent: Times, candidate: Times) -> Decision | None:
    missing = [shape for shape in incumbent if not candidate.get(shape)]
    if missing:
        return Decision("rollback", "R2 every shape", f"no time for {', '.join(missing)}")
    if not incumbent:
        return Decision("unverified", "R2 every shape", "there is nothing to compare")
    return None


def _check_times(incumbent: Times, candidate: Times) -> None:
    repeats = {len(times[shape]) for times in (incumbent, candidate) for shape in incumbent}
    if len(repeats) != 1:
        raise BadInput("incumbent and candidate have different numbers of repeats", where="times", code="KB096")
    for times in (incumbent, candidate):
        for shape in incumbent:
            if any(not (math.isfinite(time) and time > 0) for time in times[shape]):
                raise BadInput(f"a time of {shape} is no positive number", where="times", code="KB097")


def repeat_gains(incumbent: Times, candidate: Times) -> list[float]:
    """Return the score's change of each pair of repeats, in percent; positive is faster."""
    count = len(next(iter(incumbent.values())))
    return [
        score_pct([incumbent[shape][at] for shape in incumbent], [candidate[shape][at] for shape in incumbent])
        for at in range(count)
    ]


def _noise(policy: Policy, gains: Sequence[float], gain: float, noise_pct: float) -> _Ruling | None:
    if gain <= 0:
        return "rollback", "R3 not improved", f"{gain:+.3f} %"
    if gain <= noise_pct:
        return "rollback", "noise floor", f"{gain:+.3f} % is within the measured noise of {noise_pct:.3f} %"
    too_good = policy.suspicious_gain_pct
    if too_good is not None and gain > too_good and len(gains) < policy.suspicious_repeats:
        return "unverified", SUSPICIOUS, f"{gain:+.1f} % needs {policy.suspicious_repeats} repeats"
    if gain >= policy.small_gain_pct:
        return None
    if len(gains) < policy.small_gain_repeats:
        return "unverified", "noise", f"{gain:+.3f} % needs {policy.small_gain_repeats} repeats"
    mean, deviation = round(statistics.fmean(gains), _DIGITS), statistics.pstdev(gains)
    if mean <= policy.least_mean_gain_pct:
        return "rollback", "noise", f"mean {mean:+.3f} % is not above {policy.least_mean_gain_pct:g} %"
    if mean <= policy.least_gain_over_deviation * deviation:
        return "rollback", "noise", f"mean {mean:+.3f} % with a standard deviation of {deviation:.3f} %"
    return None


def _regression(policy: Policy, changes: Mapping[str, float], noise_pct: float) -> _Ruling | None:
    """Refuse what loses on a core shape: the policy's limit or more, or where that is 0 more than the noise."""
    limit, worst = policy.regression_limit_pct, {shape: one for shape, one in changes.items() if policy.is_core(shape)}
    lost = [f"{shape} {one:+.3f} %" for shape, one in worst.items() if (-one >= limit if limit else -one > noise_pct)]
    return ("rollback", "R3 regression", ", ".join(lost)) if lost else None


def behind_first(policy: Policy, found: Decision, since_first: Mapping[str, float]) -> Decision:
    """Return the decision, or a rollback of what falls behind the baseline on a core shape: losses add up.

    Args:
        policy: Its `first_loss_pct` is the limit.
        found: The decision against the incumbent.
        since_first: Shape → time of the baseline over the incumbent's.
    """
    changes = found.changes_pct or {}
    if policy.first_loss_pct is None or not found.accepted:
        return found
    core = [shape for shape in changes if policy.is_core(shape) and shape in since_first]
    total = {shape: round(change_pct(1, (1 + changes[shape] / 100) * since_first[shape]), _DIGITS) for shape in core}
    lost = [f"{shape} {value:+.3f} %" for shape, value in total.items() if -value > policy.first_loss_pct]
    reason = ", ".join(lost)
    return replace(found, decision="rollback", rule="R3 behind the baseline", reason=reason) if lost else found


def _skew(policy: Policy, changes: Mapping[str, float]) -> _Ruling | None:
    """Refuse a gain that is gone where experts are uneven, as they are in training."""
    lost = [f"{shape} {changes[shape]:+.3f} %" for shape in policy.skewed_shapes if changes.get(shape, 1.0) <= 0]
    return ("rollback", "R3 skew", f"no gain with uneven experts: {', '.join(lost)}") if lost else None


def _chain(policy: Policy, best: Times | None, candidate: Times) -> _Ruling | None:
    if best is None:
        return None
    behind = -score_pct(
        [statistics.median(best[shape]) for shape in best], [statistics.median(candidate[shape]) for shape in best]
    )
    if behind > policy.chain_loss_pct:
        return "rollback", "R9 chain", f"{behind:.3f} % behind the best accepted version"
    return None


def _accept(policy: Policy, changes: Mapping[str, float], gain: float, noise_pct: float) -> _Ruling:
    floor = max(policy.note_loss_pct, noise_pct)
    lost = [f"{shape} {value:+.3f} %" for shape, value in changes.items() if -value > floor]
    if lost:
        return "accept_with_note", "R3 trade-off", f"{gain:+.3f} % in all; {', '.join(lost)}"
    return "accept", "R3 improved", f"{gain:+.3f} %"


def unmet(shapes: Iterable[str], repeats: int, errors: Mapping[str, float | None], times: Times) -> tuple[str, ...]:
    """Return what is missing for a candidate whose gates passed to end Stage 1; empty when nothing is.

    That its kernel is one of the declared framework is the lint gate's word, that it is right the correctness gate's.

    Args:
        shapes: All shapes of the problem, as written.
        repeats: Timings that each shape needs.
        errors: Shape → relative L2 error that its correctness run recorded.
        times: Its recorded times.
    """
    missing = []
    for shape in shapes:
        error = errors.get(shape)
        if error is None or not math.isfinite(error):
            missing.append(f"no rel_l2_err of {shape} is recorded")
        if len(times.get(shape, ())) < repeats:
            missing.append(f"{shape} has fewer than {repeats} times")
    return tuple(missing)
