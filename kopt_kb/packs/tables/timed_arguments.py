"""Arguments that `kb table check` and `kb table tune` share: a table, its engine, and what no table says of a layer."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import check_new
from kopt_kb.base.wire import canonical
from kopt_kb.packs.tables.session import LayerAsked

__all__ = ["add_layer", "appending", "asked_of", "say"]

_MOST_THRESHOLD = 100.0
_MOST_EXTENT = 1 << 20


def add_layer(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    parser.add_argument("file", metavar="FILE", help="a fused-MoE table of vLLM or SGLang")
    parser.add_argument(
        "--engine", required=True, metavar="DIR", help="program that reads it: its folder, or vllm, sglang"
    )
    parser.add_argument("--hidden", type=int, required=True, metavar="K", help="depth of the first product")
    parser.add_argument("--top-k", type=int, required=True, metavar="N", help="experts that a token goes to")
    parser.add_argument("--activation", choices=("bf16", "fp16"), default="bf16", help="type of activations")
    parser.add_argument(
        "--routing", default="balanced", metavar="HOW",
        help="balanced, skew:S (shares fall as 1/rank^S), or a file with the tokens of each expert",
    )  # fmt: skip
    parser.add_argument("--platform", default="", metavar="NAME", help="product (default: the table's device)")
    parser.add_argument(
        "--threshold", type=float, default=0.0, metavar="PCT", help="least gain that counts (default and least: 0.5)"
    )
    parser.add_argument(
        "--makers", type=int, default=0, metavar="N", help="recorders side by side (default: a core each)"
    )
    parser.add_argument(
        "--results", metavar="FILE", help="also write each row there as soon as it is known, a line each"
    )


def asked_of(args: argparse.Namespace) -> LayerAsked:
    """Return what was given.

    Raises:
        BadInput: An extent, a threshold or a number of recorders is out of range, or the results' file is there.
    """
    for name, value in (("--hidden", args.hidden), ("--top-k", args.top_k)):
        if not 1 <= value <= _MOST_EXTENT:
            raise BadInput(f"{value} is no extent", where=name, fix=f"from 1 to {_MOST_EXTENT}", code="KB102")
    if not 0 <= args.threshold < _MOST_THRESHOLD:
        raise BadInput(f"{args.threshold:g} is no gain in percent", where="--threshold", fix="such as 2", code="KB102")
    if args.makers < 0:
        raise BadInput("a number of recorders is 1 or more", where="--makers", fix="leave it out", code="KB103")
    if args.results is not None:
        check_new(args.results)
    return LayerAsked(
        args.file, args.engine, args.hidden, args.top_k, args.platform, args.activation, args.routing, args.threshold,
        args.makers,
    )  # fmt: skip


def appending(name: str | None) -> Callable[[Any], None]:
    """Return what writes a row as a line of a file, at once; nothing without a file."""

    def write(row: Any) -> None:
        if name is not None:
            with Path(name).open("ab") as stream:
                stream.write(canonical(row.to_json()) + b"\n")

    return write


def say(text: str) -> None:
    """Say on stderr what will be done, or is done now: it takes minutes."""
    print(f"kb: {text}", file=sys.stderr, flush=True)
