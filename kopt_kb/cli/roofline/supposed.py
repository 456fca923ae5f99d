"""Rooflines of a product with supposed values, for people and as a document; they judge nothing and are not drawn."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kopt_kb.analysis.roofline.what_if import Standing, SupposedRoofline, SupposedRooflines, what_if
from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.output import print_values, say, table
from kopt_kb.problem.work import Work
from kopt_kb.quantity.readable import duration, factor
from kopt_kb.wiki.registry import Platform

__all__ = ["add_what_if", "factors_of", "suppose"]

_UNUSED = ("file", "time", "profile", "plot", "picture", "html", "markdown", "min_grade")
"""Arguments that judge, draw or count what is there."""


def add_what_if(parser: argparse.ArgumentParser) -> None:
    """Declare the argument."""
    text = "suppose a documented value multiplied, such as memory_bandwidth=2; repeatable, sets no target"
    parser.add_argument("--what-if", metavar="METRIC=FACTOR", action="append", default=[], help=text)


def factors_of(words: Sequence[str]) -> dict[str, float]:
    """Return metric, or key in brackets, to factor.

    Raises:
        BadInput: A word that is no METRIC=FACTOR, or a metric twice.
    """
    found: dict[str, float] = {}
    for word in words:
        name, _, text = word.rpartition("=")
        try:
            value = float(text)
        except ValueError:
            name, value = "", 0.0
        if not name:
            fix = "give METRIC=FACTOR, such as memory_bandwidth=2"
            raise BadInput(f"--what-if {word}", where="kb roofline", fix=fix, code="KB102")
        if name in found:
            raise BadInput(f"--what-if {name} is given twice", where="kb roofline", fix="give it once", code="KB103")
        found[name] = value
    return found


def suppose(args: argparse.Namespace, works: Sequence[tuple[Work, Platform]]) -> int:
    """Print each work on each product as it is and as it is supposed; exit 4 where a time is UNKNOWN."""
    given = factors_of(args.what_if)
    unused = [f"--{name.replace('_', '-')}" if name != "file" else "a kernel file" for name in _UNUSED
              if getattr(args, name, None)]  # fmt: skip
    if unused:
        what = f"--what-if beside {', '.join(unused)}"
        fix = "leave one out: nothing is judged by supposed values or drawn with them"
        raise BadInput(what, where="kb roofline", fix=fix, code="KB103")
    found = SupposedRooflines(tuple(what_if(platform, **given).roofline(work) for work, platform in works))
    if args.json:
        print_values(found, list(dict.fromkeys(platform.wiki for _, platform in works)))
    else:
        say("\n\n".join(map(_text, found.rooflines)))
    lacking = any(one.least_s is None for each in found.rooflines for one in (each.now, each.supposed))
    return ExitCode.UNKNOWN if lacking else ExitCode.OK


def _text(found: SupposedRoofline) -> str:
    work = found.work
    title = " ".join(filter(None, (found.platform, work.op, "x".join(map(str, work.shape)), work.dtype, "(supposed)")))
    gain = "" if found.speedup is None else f", speedup {factor(found.speedup)}"
    changes = [(one.key, f"{one.now} -> {one.supposed}", one.citation.rpartition(" <- ")[2]) for one in found.changes]
    lines = [
        title, "", "Suppose", table(changes, indent=2, is_headed=False), "", "Documented roof",
        f"  now       {_standing(found.now)}", f"  supposed  {_standing(found.supposed)}{gain}", "", "Notes",
    ]  # fmt: skip
    return "\n".join([*lines, *(f"  {note}" for note in found.notes)])


def _standing(one: Standing) -> str:
    return "UNKNOWN" if one.least_s is None else f"{duration(one.least_s)}, by {one.limiter}"
