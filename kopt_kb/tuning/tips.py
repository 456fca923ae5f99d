"""Tips: what decided rounds taught, each with the conditions under which it was seen, kept in a file for later ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.doors.loop_part import GainTip
from kopt_kb.tuning.versions import GainInterval
from kopt_kb.workspace.gains import gain_checks
from kopt_kb.workspace.levels import round_words
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["Gains", "add_tips", "kept_tips", "latest_tips", "tip_of"]

Gains = Callable[[WorkspaceState, Round], GainInterval | None]
"""Gives a round's gain and its bounds; None: it was not timed."""

_Verdict = Literal["worked", "did not work", "undecided", "did not pass"]
_LOSSES = ("R3 regression", "R3 behind the baseline", "R3 skew", "R9 chain")
"""Rules that rest on a loss which was measured to be larger than the noise."""
_WITHIN_NOISE = ("noise floor", "noise", "contest undecided", "contest not faster", "R3 not improved")
_LINE = re.compile(
    r"- (?P<verdict>[^:]+): (?P<claim>.*?); (?P<rest>[^;]*?)(?: \[(?P<where>[^\]]*)\])? (?P<name>\(\S+ v\d+\))"
)
_COMPILERS = ("triton", "cuda")


@dataclass(frozen=True, slots=True)
class _Tip:
    verdict: str
    claim: str
    rest: str
    where: str
    name: str

    @property
    def line(self) -> str:
        return f"- {self.verdict}: {self.claim}; {self.rest}{f' [{self.where}]' if self.where else ''} {self.name}"


def kept_tips(state: WorkspaceState, text: str) -> str:
    """Return tips as a proposer gets them: the latest verdict of each, and no line that a gate would refuse."""
    for check in gain_checks(state):
        text = check.kept_tips(text)
    return latest_tips(text)


def latest_tips(text: str) -> str:
    """Return tips in which the last verdict on a claim under its conditions stands first, earlier ones below it.

    Lines of earlier releases, which called a round within the noise a failure, read `undecided`.
    """
    tips: dict[tuple[str, str], list[_Tip]] = {}
    lines: list[str | tuple[str, str]] = []
    for line in text.splitlines():
        tip = _read(line)
        if tip is None:
            lines.append(line)
            continue
        key = (tip.claim, tip.where)
        if key not in tips:
            lines.append(key)
        tips.setdefault(key, []).append(tip)
    shown: list[str] = []
    for entry in lines:
        if isinstance(entry, str):
            shown.append(entry)
            continue
        *earlier, last = tips[entry]
        shown.append(last.line)
        shown += [f"  - earlier: {one.verdict}; {one.rest} {one.name}" for one in reversed(earlier)]
    return "\n".join(shown) + ("\n" if text.endswith("\n") else "")


def _read(line: str) -> _Tip | None:
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    verdict, rest, where = found["verdict"], found["rest"], found["where"] or ""
    rule = rest.rpartition(", ")[2]
    if not where and verdict == "did not work" and rule in _WITHIN_NOISE:
        verdict = "undecided"
    return _Tip(verdict, found["claim"], rest, where, found["name"])


def tip_of(state: WorkspaceState, attempt: Round, blob: Callable[[str], bytes], gains: Gains) -> str:
    """Return what a round teaches in one line; empty for one that teaches nothing: unverified, open, a confirmation."""
    stated, decided, named = attempt.hypothesis, attempt.decided, state.named
    confirms = attempt.proposal is not None and bool(attempt.proposal.confirms)
    if stated is None or decided is None or attempt.is_baseline or confirms or attempt.name not in attempt.submitted:
        return ""
    if decided.decision == "unverified" or named is None:
        return ""
    told = next(
        (tip for check in gain_checks(state) if (tip := check.tip(state, attempt, blob)) is not None), GainTip()
    )
    claim, name = " ".join(stated.claim.split()).replace(";", ","), f"({named.name} {attempt.name})"
    if told.refused:
        return f"- anti-pattern, do not retry: {claim}; {told.refused} {name}"
    gain = gains(state, attempt)
    shown = told.words or _shown(gain)
    shown += f" ({round_words(state, attempt)})".replace(";", ",") if gain is not None else ""
    rule = f"refuted by v{attempt.refuted_by}" if attempt.refuted_by is not None else decided.rule
    category = " ".join(stated.category.split())
    return _Tip(
        _verdict(attempt, gain), f"{category}: {claim}", f"{shown}, {rule}", _conditions(state, attempt), name
    ).line


def _shown(gain: GainInterval | None) -> str:
    if gain is None:
        return "not timed"
    return f"{gain.gain_pct:+.2f} % ({gain.least_pct:+.2f} to {gain.most_pct:+.2f})"


def _verdict(attempt: Round, gain: GainInterval | None) -> _Verdict:
    """Return what was decided of a claim: a gain or a loss larger than the noise, a gate's refusal, or nothing."""
    rule = attempt.decided.rule if attempt.decided is not None else ""
    if attempt.accepted:
        return "worked"
    if rule.startswith("gate ") or rule == "R2 every shape":
        return "did not pass"
    lost = rule in _LOSSES or (gain is not None and gain.most_pct < 0)
    return "did not work" if lost or attempt.refuted_by is not None else "undecided"


def _conditions(state: WorkspaceState, attempt: Round) -> str:
    """Return what a verdict depends on besides operation, backend and target, which the file's folder says."""
    seq = next((record.environment for record in attempt.measured.values()), state.environment_seq)
    machine = state.environments.get(seq)
    versions = machine.versions if machine is not None else {}
    compiler = next((f"{name} {versions[name]}" for name in _COMPILERS if versions.get(name)), "")
    base = next((one for one in state.rounds if one.snapshot and one.snapshot.blob == attempt.incumbent), None)
    after = " ".join(base.hypothesis.claim.split()) if base is not None and base.hypothesis is not None else ""
    parts = (
        f"shapes about {', '.join(_classes(state.problem.shapes))}", state.problem.dtype, compiler,
        machine.device if machine is not None else "", f"after: {after[:80]}" if after else "on the baseline",
    )  # fmt: skip
    return "; ".join(re.sub(r"[;\[\]]", ",", part) for part in parts if part)


def _classes(shapes: Iterable[tuple[int, ...]]) -> list[str]:
    """Return shapes with each dimension at its nearest power of two, each once, the smallest first."""
    rounded = {tuple(_power(dim) for dim in shape) for shape in shapes}
    return ["x".join(map(str, shape)) for shape in sorted(rounded)]


def _power(dim: int) -> int:
    """Return the power of two nearest to a dimension; what is not positive stays."""
    if dim < 1:
        return dim
    below = 1 << (dim.bit_length() - 1)
    return below if dim * dim <= 2 * below * below else 2 * below


def add_tips(state: WorkspaceState, blob: Callable[[str], bytes], gains: Gains) -> int:
    """Add the tips of decided rounds to the campaign's file, folders included; return how many were new.

    A round whose tip changed, such as one that a later round refuted, gets another line.

    Raises:
        BadInput: The file can't be read or written.
    """
    if state.named is None or not state.named.tips:
        return 0
    path = Path(state.named.tips)
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        known = {line[line.rindex("(") :]: line for line in text.splitlines() if re.search(r"\(\S+ v\d+\)$", line)}
        tips = [tip_of(state, one, blob, gains) for one in state.rounds]
        new = [tip for tip in tips if tip and known.get(tip[tip.rindex("(") :]) != tip]
        if not new:
            return 0
        head = "" if text else f"# {state.named.op}, {state.named.backend}, {state.task.target}\n\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(head + ("" if text.endswith("\n") or not text else "\n") + "\n".join(new) + "\n")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise BadInput(
            f"tips can't be written: {why}", where=str(path), fix="name another folder", code="KB112"
        ) from error
    return len(new)
