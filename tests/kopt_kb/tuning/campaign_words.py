"""Words of the tests of whole campaigns on a small project: answers, states, decisions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kopt_kb.tuning.campaign import Campaign
from kopt_kb.workspace.journal.round_events import Decided
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.workspace import Workspace

Make = Callable[..., Campaign]
SOURCE = (Path(__file__).parents[2] / "data" / "project" / "ops" / "gemm.py").read_text()


def kernel(tile: int, more: str = "") -> dict[str, object]:
    """An answer that sets the tile and appends lines."""
    return {"source": SOURCE.replace("TILE = 64", f"TILE = {tile}") + more}


def stages(number: float) -> dict[str, object]:
    """An answer that changes the other editable file."""
    return {"files": {"ops/config.py": f"STAGES = {number}\n"}}


PLAIN = ["512x512x512", "1024x1024x1024", "2048x2048x2048", "4096x4096x4096", "8192x8192x8192"]
RATE = "\n\nplain_rate = rate_tflops\n\n\ndef rate_tflops(m, n, k):\n"


def state_of(workspace: Workspace) -> WorkspaceState:
    return workspace.state()


def decisions(workspace: Workspace) -> list[tuple[int, str, str]]:
    return [(e.data.round, e.data.decision, e.data.rule) for e in workspace.events() if isinstance(e.data, Decided)]


def finish(campaign: Campaign) -> object:
    with campaign:
        return campaign.run()


def reason(workspace: Workspace, number: int) -> str:
    """Why a round's gate failed."""
    return next(one.reason for one in state_of(workspace).rounds[number].gates.values() if one.result == "fail")
