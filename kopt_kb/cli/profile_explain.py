"""kb profile explain: a rule, the thresholds it reads, and who says so."""

from __future__ import annotations

import argparse
import difflib

from kopt_kb.analysis.rules.advice import load_advice
from kopt_kb.analysis.rules.base import Rule
from kopt_kb.analysis.rules.ordered import RULES
from kopt_kb.analysis.rules.table import LIMITERS, ROOT_CAUSES
from kopt_kb.analysis.rules.thresholds import load_thresholds
from kopt_kb.cli.output import add_common, print_json
from kopt_kb.errors import BadInput, ExitCode

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("code", metavar="CODE", help="code of a rule, such as BN-TAIL, or a limiter")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Print the rule."""
    rule, limiters = _find(args.code)
    rows = [
        row for code in dict.fromkeys([rule.code, *_own(limiters), *rule.reads]) for row in load_thresholds().of(code)
    ]
    advice = {one: list(load_advice(one).steps) for one in limiters}
    if args.json:
        print_json(
            {
                "code": rule.code,
                "summary": rule.summary,
                "limiters": [
                    {"limiter": one, "class": LIMITERS[one], "root_cause": ROOT_CAUSES[one], "advice": advice[one]}
                    for one in limiters
                ],
                "needs": list(rule.needs),
                "thresholds": [row.to_json() for row in rows],
            }
        )
        return ExitCode.OK
    print(f"{rule.code}: {rule.summary}")
    print("finds: " + ", ".join(f"{LIMITERS[one]}/{one}" for one in limiters))
    if rule.needs:
        print("needs: " + ", ".join(rule.needs))
    for row in rows:
        print(f"threshold: {row.code} {row.metric} {row.op} {row.value:g} {row.unit} <- {row.citation}: {row.source}")
    for one in limiters:
        for number, step in enumerate(advice[one], 1):
            print(f"{one} {number}. {step}")
    return ExitCode.OK


def _own(limiters: tuple[str, ...]) -> list[str]:
    return [f"BN-{one.upper()}" for one in limiters]


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
