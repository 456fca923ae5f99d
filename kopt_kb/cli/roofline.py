"""Intensity, roofs, bound, attainable rate and 90 % target of a piece of work on one product.

kb roofline --platform H20 --op rms_norm --shape 8192x4096 --dtype bf16
kb roofline --platform H20 --flops 1.1e12 --bytes 4e8 --dtype bf16 --engine matrix
"""

from __future__ import annotations

import argparse

from kopt_kb.analysis.roofline import Roofline, roofline
from kopt_kb.cli.output import add_wiki, open_registry, print_json, table
from kopt_kb.cli.work_arguments import add_work, work_from
from kopt_kb.errors import ExitCode
from kopt_kb.registry.quantity import Unknown
from kopt_kb.registry.units import format_exact

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--platform", required=True, metavar="PLATFORM", help="exact product")
    add_work(parser)
    parser.add_argument("--min-grade", metavar="GRADE", help="refuse roofs of a weaker grade: vendor, device, measured")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the roofline of each shape; exit 4 when the target of one is UNKNOWN."""
    works = work_from(args)
    platform = open_registry(args).platform(args.platform)
    found = [roofline(one, platform, min_grade=args.min_grade) for one in works]
    if args.json:
        print_json(found[0].to_json() if len(found) == 1 else {"rooflines": [one.to_json() for one in found]})
    else:
        for at, one in enumerate(found):
            print("\n" * bool(at) + render(one))
    return ExitCode.UNKNOWN if any(one.unknown() for one in found) else ExitCode.OK


def render(one: Roofline) -> str:
    """Return the roofline as text for people."""
    work = one.work
    shape = "x".join(map(str, work.shape))
    texts = dict(work.definitions)
    lines = [" ".join(filter(None, (one.platform, work.op, shape, work.dtype))), "", "Work"]
    rows = [(f"useful operations, {f.dtype} {f.engine}", f"{f.useful.value:,}", f.useful.exactness) for f in work.flops]
    rows += [
        (f"compulsory bytes, {b.level} {b.direction}", f"{b.compulsory.value:,}", b.compulsory.exactness)
        for b in work.bytes
    ]
    rows += [(f"special functions, {s.function}", f"{s.count.value:,}", s.count.exactness) for s in work.special]
    lines += [table(rows, indent=2, right=(1,))]
    lines += [f"  {name}: {text}" for name, text in texts.items()]
    lines += ["", "Roofs"]
    roofs = []
    for ceiling in (*one.compute, one.memory):
        values = [("documented", ceiling.documented)]
        values += [("measured", ceiling.measured)] if ceiling.measured is not None else []
        roofs += [(ceiling.name, kind, _value(value), _grades(value), _where(value)) for kind, value in values]
    lines += [table(roofs, indent=2, right=(2,))]
    lines += ["", "Verdict", *(f"  {text}" for text in _verdict(one))]
    lines += ["", "Citations", *(f"  {citation}" for citation in one.citations())]
    lines += ["", "Notes", *(f"  {note}" for note in one.notes)] if one.notes else []
    return "\n".join(lines)


def _value(value: object) -> str:
    return "UNKNOWN" if isinstance(value, Unknown) else str(value)


def _grades(value: object) -> str:
    return "" if isinstance(value, Unknown) else ", ".join(sorted(value.grades()))  # type: ignore[attr-defined]


def _where(value: object) -> str:
    if isinstance(value, Unknown):
        return f"needs {', '.join(value.needs)}"
    return ", ".join(f"<gpu-wiki>/{one.location}" for one in value.citations()[:1])  # type: ignore[attr-defined]


def _verdict(one: Roofline) -> list[str]:
    ridge = "UNKNOWN" if isinstance(one.ridge, Unknown) else f"{format_exact(one.ridge.si, 4)} FLOP/B"
    name = "matrix" if "matrix" in one.limiter else "vector" if "vector" in one.limiter else "compute"
    lines = [
        f"intensity   {format_exact(one.intensity.si, 4)} FLOP/B, ridge {ridge}",
        f"bound       {one.bound}"
        + (f", by the {one.limiter} roof" if one.limiter else f" ({name} or memory roof UNKNOWN)"),
    ]
    for basis, value in one.attainable.items():
        shown = "UNKNOWN" if isinstance(value, Unknown) else f"{format_exact(value.to('TFLOPS').si / 10**12, 4)} TFLOPS"
        lines.append(f"attainable  {shown} ({basis} roofs)")
    for target in one.targets:
        basis = f"{format_exact(target.factor)} x {target.basis} {target.name}"
        lines.append(f"{'target' if target is one.target else '      '}      {target.line()}  ({basis})")
    return lines
