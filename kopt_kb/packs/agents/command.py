"""Serve the commands as tools over MCP, on stdin and stdout, for agents.

kb mcp
kb mcp --root ~/kernels --root /tmp/reports

Tools, whose answers are the JSON that the commands print: each call runs its command in a child, so the two can't
differ. Paths that a call names have to lie in a --root (default: KOPT_MCP_ROOT, folders divided by a colon, else
the current folder), relative ones are meant from the first.
Tools that write do so in a workspace or in the new folder that the call names. Long calls report progress; a cancelled
call, and a client that leaves, end the child and all it started. A client is told of it once; docs/agents.md says how.
"""

from __future__ import annotations

import argparse
import asyncio
import sys

from kopt_kb.base.errors import BadInput, ExitCode, MissingTool

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    folders = "folder of paths in calls (default: KOPT_MCP_ROOT, else .); repeatable"
    parser.add_argument("--root", metavar="DIR", action="append", default=[], help=folders)
    parser.add_argument(
        "--wiki",
        metavar="DIR",
        action="append",
        default=[],
        help="wiki folder of all calls (default: KOPT_GPU_WIKI, else the packaged one); repeatable",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until the client closes stdin."""
    from kopt_kb.packs.agents.roots import Roots

    roots, wikis = Roots.given(args.root), Roots.of(args.wiki).folders if args.wiki else ()
    try:
        from kopt_kb.packs.agents.server import serve
    except ModuleNotFoundError as error:
        raise MissingTool(
            f"the package {error.name} is not installed",
            where="kb mcp",
            fix="install kopt-kb with its extra [mcp]",
            code="KB120",
        ) from error
    if not hasattr(sys.stdin, "buffer"):
        raise BadInput("stdin is no stream of bytes", where="kb mcp", fix="let a client start it", code="KB116")
    asyncio.run(serve(roots, tuple(map(str, wikis))))
    return ExitCode.OK
