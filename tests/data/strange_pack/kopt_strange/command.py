"""Let a workspace dream: an event of this pack in its journal.

kb dream kernel_opt_norm --of sheep
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.output import add_common, print_json
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.notes import append_events
from kopt_kb.workspace.workspace import Workspace
from kopt_strange.codes import NIGHTMARE
from kopt_strange.events import Dreamt

__all__ = ["Dreams", "add_arguments", "run"]


@dataclass(frozen=True, slots=True)
class Dreams(Wire):
    """What was dreamt so far."""

    dreams: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("workspace", type=Path, help="its folder")
    parser.add_argument("--of", default="sheep", help="whom it dreams of")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Append the event, with a blob, and print all there are."""
    if args.of == "compilers":
        raise BadInput("that is a nightmare", where="kb dream", fix="dream of sheep", code=NIGHTMARE)
    workspace = Workspace.open(args.workspace)
    blob = ObjectStore(workspace.layout.objects).put(f"of {args.of}".encode())
    append_events(workspace, lambda state: (Dreamt(len(state.rounds), args.of, blob),))
    dreams = Dreams(tuple(one.of for one in workspace.state().pack_events("strange").values()))
    if args.json:
        print_json(dreams)
    else:
        print(", ".join(dreams.dreams))
    return 0
