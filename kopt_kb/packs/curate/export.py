"""Export cited values in the forms that other tools read; `kb wiki diff` reads each of them back.

kb export peaks --for csv > peaks.csv
kb export peaks MI355X --for geak
kb export peaks H100_SXM H200_SXM --for solar --output arch/

Each value carries its citation, as a column or a comment. Dense and sparse rates are never one field. What is UNKNOWN
is left out and said.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_json
from kopt_kb.doors.export import Export
from kopt_kb.packs.curate.peaks.forms import forms, write
from kopt_kb.wiki.collect import collect
from kopt_kb.wiki.version import DataVersion

if TYPE_CHECKING:
    from kopt_kb.wiki.collect import ProductPeaks

__all__ = ["Exported", "add_arguments", "run"]

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class LeftOut(Wire):
    """A product that a form can't hold."""

    platform: str
    reason: str


@dataclass(frozen=True, slots=True)
class Exported(Wire):
    """What an export wrote.

    Attributes:
        products: How many the form holds.
        unknown: How many of their rows say UNKNOWN; no form holds those.
        left_out: Products that the form can't hold, each with the reason.
    """

    form: str
    files: tuple[str, ...]
    products: int
    unknown: int
    left_out: tuple[LeftOut, ...]
    data: DataVersion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    names = tuple(forms())
    peaks = commands.add_parser("peaks", help="values in another tool's form", allow_abbrev=False)
    peaks.add_argument("platforms", metavar="PLATFORM", nargs="*", help="products (default: all)")
    peaks.add_argument("--for", dest="form", metavar="FORM", required=True, choices=names, help=", ".join(names))
    peaks.add_argument(
        "--output", "--out", metavar="PATH", help="file, or folder for solar and tileops (default: print)"
    )
    add_wiki(peaks)


def run(args: argparse.Namespace) -> int:
    """Write or print the export."""
    form = forms()[args.form]
    found = collect(open_registry(args), args.platforms)
    if args.output is not None:
        files = tuple(str(path) for path in write(form, found, Path(args.output)))
    elif args.json or form.store is not None:
        raise BadInput("no place to write to", where="kb export peaks", fix="name one with --output", code="KB104")
    else:
        files = ()
        _print(form.render(found) if form.render else {}, [_lacks(form, one) for one in found.products])
    out = tuple(LeftOut(one.identity.platform, why) for one in found.products if (why := _lacks(form, one)))
    unknown = sum(row.kind == "unknown" for product in found.products for row in product.without)
    done = Exported(args.form, files, len(found.products) - len(out), unknown, out, found.data)
    print_json(done) if args.json else _say(done)
    return ExitCode.OK


def _lacks(form: Export, product: ProductPeaks) -> str:
    return form.lacks(product) if form.lacks is not None else ""


def _say(done: Exported) -> None:
    """Say on stderr what was written and what is not in it; stdout may be the export itself."""
    shown = [f"wrote {path}" for path in done.files[:_SHOWN]]
    more = [f"wrote {len(done.files) - _SHOWN} more"] if len(done.files) > _SHOWN else []
    reasons = dict.fromkeys(one.reason for one in done.left_out)
    left = [
        f"left out, {why}: {', '.join(one.platform for one in done.left_out if one.reason == why)}" for why in reasons
    ]
    total = f"{done.products} product(s), {done.unknown} row(s) say UNKNOWN and are left out; {done.data}"
    print("\n".join([*shown, *more, *left, total]), file=sys.stderr)


def _print(files: dict[str, str], lacks: list[str]) -> None:
    if not files:
        what = f"this form can't hold any of the products: {next(filter(None, lacks), 'nothing is known of them')}"
        raise BadInput(what, where="kb export peaks", fix="`kb export peaks --help` names the forms", code="KB106")
    if len(files) != 1:
        fix = "name a folder with --output, or one product"
        raise BadInput(f"{len(files)} files", where="kb export peaks", fix=fix, code="KB104")
    (text,) = files.values()
    sys.stdout.write(text)
