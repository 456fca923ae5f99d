"""A step as text for people, 80 columns wide, and as tables for --format."""

from __future__ import annotations

from collections.abc import Sequence

from kopt_kb.cli.kit.output import printable, say, table
from kopt_kb.packs.step_ranking.report import OperatorTime, StepReport
from kopt_kb.quantity.readable import duration

__all__ = ["print_step"]

_WHAT_CHARS = 28
_ADVISED = 5


def print_step(step: StepReport, top: int) -> None:
    """Print a step with the first `top` rows of each table."""
    say(f"{printable(step.file)}: {printable(_cut(step.step, 60))}, the median of {step.steps} ({step.found_by})")
    product = step.platform or "product not known"
    say(
        f"{printable(step.device or 'unnamed device')} ({product}): {duration(step.host_s)} on the host, "
        f"{duration(step.gpu_s)} of work on the GPU; {_pct(step.covered)} of the kernels' time has a roof"
    )
    for line in (*_idle(step), *(f"Note: {printable(one)}" for one in step.notes)):
        say(line)
    print()
    rows = [["category", "calls", "time", "share", "with a roof", "to win at most"]]
    rows += [
        [
            one.category,
            str(one.count),
            duration(one.total_s),
            _pct(one.share),
            _pct(one.roofed_s / one.total_s if one.total_s else 0.0),
            duration(one.won_s),
        ]
        for one in step.categories
    ]
    print(table(rows, right=range(1, 6)))
    _print_ranked(step.ranked, top)
    _print_unroofed(step.unroofed, top)


def _idle(step: StepReport) -> list[str]:
    lines = []
    for one in step.timelines:
        if one.gaps:
            host = max(one.host_s - one.synchronisation_s, 0.0)
            causes = (
                (host, "before the host had launched"),
                (one.synchronisation_s, "after the host waited for the GPU"),
                (one.device_s, "although launched (dependencies, latency)"),
                (one.unknown_s, "of unknown cause"),
            )
            parts = ", ".join(f"{duration(time)} {why}" for time, why in causes if time)
            lines.append(f"GPU {printable(one.device)} idle {one.idle_pct:.1f} % of {duration(one.span_s)}: {parts}")
        if one.communication_s:
            alone = one.communication_alone_s / one.communication_s
            lines.append(f"Collectives {duration(one.communication_s)}, {_pct(alone)} of it with no kernel beside")
    lines.append(
        f"{step.launches} launch calls took the host {duration(step.launch_s)}; a graph saves at most "
        f"{duration(step.graph_won_s)}"
    )
    return lines


def _print_ranked(times: Sequence[OperatorTime], top: int) -> None:
    if not times:
        return
    print("\nBy time that could be won at most (time minus time at the roof):\n")
    rows = [["to win", "time", "share", "of roof", "roof", "calls", "operator"]]
    rows += [
        [
            duration(one.won_s or 0.0),
            duration(one.total_s),
            _pct(one.share),
            _pct(one.share_of_roof or 0.0),
            one.roof,
            str(one.count),
            _what(one),
        ]
        for one in times[:top]
    ]
    print(table(rows, right=(0, 1, 2, 3, 5)))
    if len(times) > top:
        print(f"{len(times) - top} more; --top N or --json shows them")
    print()
    for number, one in enumerate(times[:_ADVISED], 1):
        library = f" ({one.library})" if one.library else ""
        what = f"{one.operator} {one.shapes}" if one.operator else _cut(one.kernels[0], _WHAT_CHARS)
        say(f"{number}. {printable(what)}{library}: {one.why}")


def _print_unroofed(times: Sequence[OperatorTime], top: int) -> None:
    if not times:
        return
    print("\nWithout a roof, by time:\n")
    rows = [["time", "share", "category", "calls", "why", "kernel"]]
    rows += [
        [duration(one.total_s), _pct(one.share), one.category, str(one.count), one.why, _cut(one.kernels[0], 22)]
        for one in times[:top]
    ]
    print(table(rows, right=(0, 1, 3)))
    if len(times) > top:
        print(f"{len(times) - top} more; --top N or --json shows them")


def _what(one: OperatorTime) -> str:
    name = one.operator.removeprefix("aten::") or one.kernels[0]
    return _cut(f"{name} {one.shapes}", _WHAT_CHARS)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _pct(share: float) -> str:
    return f"{100 * share:.1f} %"
