"""`kb tune bundle`: a campaign in one file."""

from __future__ import annotations

import argparse
from pathlib import Path

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.output import print_plain
from kopt_kb.workspace.bundle import bundle
from kopt_kb.workspace.retarget import registry_of
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.workspace import Workspace

__all__ = ["write_bundle"]


def write_bundle(args: argparse.Namespace, workspace: Workspace, state: WorkspaceState) -> int:
    """Write the bundle and say what is in it."""
    platform = registry_of(state).platform(state.created.platform)
    output = Path(args.output)
    statement = bundle(workspace.layout, state, platform, output)
    if args.json:
        print_plain(statement)
        return ExitCode.OK
    head = statement.predicate.head
    print(f"{output}: {len(statement.subject)} files, {output.stat().st_size} bytes")
    print(f"journal ends with event {head['seq']}, {head['zh']}")
    print(f"{len(statement.predicate.citations)} cited values; verify with: kb audit {output}")
    return ExitCode.OK
