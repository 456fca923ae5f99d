"""A comparison of two revisions for people, in a terminal and in a pull request, and its exit code."""

from __future__ import annotations

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.output import table
from kopt_kb.launch.judge.blocks import ComparedKernel
from kopt_kb.launch.judge.revisions import ComparedCase, RunComparison
from kopt_kb.quantity.readable import duration

__all__ = ["CODES", "change_of", "comparison_text"]

CODES = {"no_regression": ExitCode.OK, "regression": ExitCode.FINDING, "undecided": ExitCode.UNKNOWN}
"""Verdict of a run → exit code."""


def comparison_text(found: RunComparison, *, markdown: bool = False) -> str:
    """Return a run for people: a line that says it all, a table, reasons of what is not plain."""
    title = f"{found.head} against {found.base} on {found.platform}: {found.verdict.replace('_', ' ')}"
    rows = [("kernel", "shape", "base", "head", "change", "")]
    rows += [
        (one.name, f"{one.shape} {one.dtype}", _time(one.kernel.base_s), _time(one.kernel.head_s),
         change_of(one.kernel), _word(one))
        for one in found.cases
    ]  # fmt: skip
    reasons = [f"{one.name} {one.shape}: {one.kernel.reason}" for one in found.cases if one.kernel.verdict != "equal"]
    rule = (
        f"{found.timed} of {len(found.cases)} kernels timed for a regression of {found.regression_pct:g} %; "
        f"a run without one fails at most {100 * found.false_alarm:g} % of the time"
    )
    if not markdown:
        said = [f"  {one}" for one in (*reasons, rule)]
        return "\n".join([title, table(rows, indent=2, right=(2, 3, 4)), *said])
    lines = [f"**{_escaped(title)}**", ""]
    for number, row in enumerate(rows):
        lines.append("| " + " | ".join(map(_escaped, row)) + " |")
        lines += ["|---|---|---:|---:|---:|---|"] if number == 0 else []
    return "\n".join([*lines, "", *(f"- {_escaped(one)}" for one in reasons), "", _escaped(rule)])


def _escaped(text: str) -> str:
    """Return a text of others as one line of Markdown: no cell ends in it, and nothing in it is markup."""
    plain = " ".join(text.split())
    return "".join(f"\\{one}" if one in "\\`*_[]<>|" else one for one in plain)


def _time(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)


def change_of(kernel: ComparedKernel) -> str:
    """Return by how much a kernel's time changed; nothing where that is not known."""
    return "" if kernel.ratio is None else f"{100 * (kernel.ratio - 1):+.2f} %"


def _word(case: ComparedCase) -> str:
    return case.kernel.verdict.replace("_", " ") if case.compared else "new"
