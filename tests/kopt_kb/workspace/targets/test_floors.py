"""What a workspace recorded as the floor of its products, and what caches may keep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.analysis.roofline.last_caches import last_caches
from kopt_kb.problem.problem import Problem
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.registration import specs_registered
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.floors import cache_bytes, floor_s, has_floors, is_flushed, product_floor_s
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace

SHAPE = "4096x4096x4096"


@pytest.fixture
def made(tmp_path: Path) -> Workspace:
    """A product of fp32 matrices on an H100."""
    problem = Problem.of("gemm", [SHAPE], "fp32")
    return Workspace.create(tmp_path, "w", Task("H100_SXM", "", None, problem), Registry.open())


def _without(state: WorkspaceState) -> WorkspaceState:
    assert state.targets is not None
    work = {name: one for name, one in state.targets.work.items() if name != "floors"}
    return replace(state, targets=replace(state.targets, work=work))


def test_recorded_floors_take_the_place_of_roofs(made: Workspace) -> None:
    """147.4 us instead of the 2.054 ms of the vector roof; workspaces from before keep theirs."""
    state = made.state()
    least = product_floor_s(state, SHAPE)
    assert has_floors(state) and least is not None and float(least) == pytest.approx(147.44e-6, rel=1e-4)
    assert floor_s(state, cold=True)[SHAPE] == float(least)
    older = _without(state)
    assert (has_floors(older), product_floor_s(older, SHAPE)) == (False, None)
    assert floor_s(older, cold=True)[SHAPE] == pytest.approx(2.054e-3, rel=1e-3)


def test_the_caches_of_the_product(made: Workspace) -> None:
    """60 MiB of L2: what the whole chip has, which no part exceeds."""
    assert cache_bytes(made.state()) == 60 * 2**20


def test_recorded_rows_give_the_caches_that_the_wiki_gives() -> None:
    """One rule of every floor, for each product: that of a workspace is no other than that of a page."""
    registry = Registry.open()
    for name in registry.platforms():
        platform = registry.platform(name)
        event = specs_registered(platform, (), {})
        state: Any = SimpleNamespace(
            specs={row.key: row for row in event.rows}, unknown={row.key: row for row in event.unknown}
        )
        assert cache_bytes(state) == last_caches(platform).held, name


def test_caches_that_nobody_states_are_flushed_only_by_default(made: Workspace) -> None:
    """So many bytes evict a known cache, none evict an unknown one; 0 writes as many as the device asks for."""
    state = made.state()
    assert [is_flushed(state, size) for size in (0, 2**20, 60 * 2**20)] == [True, False, True]
    unknown = replace(state, specs={}, unknown={})
    assert [is_flushed(unknown, size) for size in (0, 2**40)] == [True, False]


def test_the_audit_computes_floors_again(made: Workspace) -> None:
    """As they are there is nothing to find."""
    assert audit(made.layout.root, Registry.open()).clean
