"""Only records below a floor are named; in workspaces without floors, those above a documented roof."""

from __future__ import annotations

from dataclasses import replace

from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.targets.conditions import above_roof
from kopt_kb.workspace.workspace import Workspace


def record(shape: str, median_s: float) -> Measured:
    """A record of a shape."""
    return Measured(f"m:{shape}", "v1", shape, 9, median_s, {}, "r", 4)


def test_shapes_below_a_floor_are_named(workspace: Workspace) -> None:
    """Of 134,225,920 B 50 MiB may stay written in the cache: 40.9 us at 2.0 TB/s; 50 us are no fault, 40 us are."""
    records = {"8192x4096": record("8192x4096", 5e-5), "1024x512": record("1024x512", 1.1e-6)}
    assert above_roof(workspace.state(), records) == {}
    records["8192x4096"] = record("8192x4096", 4e-5)
    said = "8192x4096 took 40 us, less than its floor of 40.9 us"
    assert above_roof(workspace.state(), records) == {"8192x4096": said}


def test_older_workspaces_are_judged_by_their_roofs(workspace: Workspace) -> None:
    """Their targets recorded no floors: 134,225,920 B in 50 us are 134.2 % of 2.0 TB/s; 2,098,176 B in 1.1 us 95.4 %."""
    state = workspace.state()
    assert state.targets is not None
    work = {name: one for name, one in state.targets.work.items() if name != "floors"}
    older = replace(state, targets=replace(state.targets, work=work))
    records = {"8192x4096": record("8192x4096", 5e-5), "1024x512": record("1024x512", 1.1e-6)}
    assert above_roof(older, records) == {"8192x4096": "8192x4096 is at 134.2% of its dram roof"}


def test_at_the_roof_and_of_no_known_shape_is_not_above(workspace: Workspace) -> None:
    """Exactly 100 % can be, and a shape without a roofline can't be judged."""
    records = {"8192x4096": record("8192x4096", 134_225_920 / 2.0e12), "7x7": record("7x7", 1e-30)}
    assert above_roof(workspace.state(), records) == {}
