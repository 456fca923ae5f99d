"""kb profile explain: a rule, the thresholds it reads, and who says so."""

from __future__ import annotations

import argparse
import difflib
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.analysis.evidence import Threshold
from kopt_kb.analysis.rules.advice import load_advice
from kopt_kb.analysis.rules.table import LIMITERS, ROOT_CAUSES, RULES, Rule
from kopt_kb.analysis.rules.thresholds import load_thresholds
from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.output import add_common, print_json

__all__ = ["ExplainedRule", "add_arguments", "run"]


@dataclass(frozen=True, slots=True)
class ExplainedLimiter(Wire):
    """Something a rule can find: its class, its root cause, and what helps, step by step."""

    WIRE: ClassVar = ("limiter", "class=bottleneck", "root_cause", "advice")
    limiter: str
    bottleneck: str
    root_cause: str
    advice: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplainedRule(Wire):
    """A rule of the ordered list.

    Attributes:
        code: Stable code.
        summary: What it finds, in one sentence.
        limiters: What it can find.
        needs: Metrics without which it can't decide.
        thresholds: The rows that it reads.
    """

    code: str
    summary: str
    limiters: tuple[ExplainedLimiter, ...]
    needs: tuple[str, ...]
    thresholds: tuple[Threshold, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("code", metavar="CODE", help="code of a rule, such as BN-TAIL, or a limiter")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Print the rule."""
    rule, limiters = _find(args.code)
    codes = dict.fromkeys([rule.code, *(f"BN-{limiter.upper()}" for limiter in limiters), *rule.reads])
    told = ExplainedRule(
        rule.code,
        rule.summary,
        tuple(ExplainedLimiter(word, LIMITERS[word], ROOT_CAUSES[word], load_advice(word).steps) for word in limiters),
        rule.needs,
        tuple(row for code in codes for row in load_thresholds().of(code)),
    )
    print_json(told) if args.json else print(_text(told))
    return ExitCode.OK


def _text(rule: ExplainedRule) -> str:
    lines = [f"{rule.code}: {rule.summary}"]
    lines.append("finds: " + ", ".join(f"{one.bottleneck}/{one.limiter}" for one in rule.limiters))
    if rule.needs:
        lines.append("needs: " + ", ".join(rule.needs))
    for row in rule.thresholds:
        limit = f"{row.code} {row.metric} {row.op} {row.value:g} {row.unit}"
        lines.append(f"threshold: {limit} <- {row.citation}: {row.source}")
    for limiter in rule.limiters:
        lines += [f"{limiter.limiter} {number}. {step}" for number, step in enumerate(limiter.advice, 1)]
    return "\n".join(lines)


def _find(word: str) -> tuple[Rule, tuple[str, ...]]:
    """Return the rule of a code, or of a limiter with that limiter alone."""
    name = word.upper()
    for rule in RULES:
        if name == rule.code:
            return rule, rule.limiters
        for limiter in rule.limiters:
            if name in {limiter.upper(), f"BN-{limiter.upper()}"}:
                return rule, (limiter,)
    known = [one.code for one in RULES] + [one for rule in RULES for one in rule.limiters]
    near = difflib.get_close_matches(word, known, n=3, cutoff=0.4) or [one.code for one in RULES]
    raise BadInput(f"{word!r} is no rule", fix=f"did you mean {', '.join(near)}", code="KB106")
