"""Claims about the proposer of what a user's own Triton file leaves to choose."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.tuning.own_space import OwnSpaceProposer, own_spaces
from kopt_kb.tuning.proposals import Proposal, ProposerView, Tried


@pytest.fixture
def view(repo_root: Path) -> ProposerView:
    """What is known of a user's autotuned kernel after its baseline."""
    source = (repo_root / "tests" / "data" / "users" / "silu_mul.py").read_bytes()
    return ProposerView("silu_mul", ("64x4096", "8x4096"), "fp16", "sm_90", "memory", "", 1, source)


def after(view: ProposerView, proposal: Proposal) -> ProposerView:
    """Return the view once a proposal was rolled back."""
    tried = Tried(view.round, proposal.category, proposal.claim, "rollback", "noise floor")
    return replace(view, round=view.round + 1, tried=(*view.tried, tried))


def test_its_own_configurations_come_first_and_each_space_once(view: ProposerView) -> None:
    """Then what lies beside the first of them; on the largest shape, since settings hold for all."""
    claims = []
    while (proposal := OwnSpaceProposer().propose(view)) is not None:
        claims.append(proposal.claim)
        assert [*proposal.spaces] == ["64x4096"]
        assert "line 15" in proposal.expected
        view = after(view, proposal)
    assert claims == [
        "search 3 configurations, its own configurations: _silu_mul.config",
        "search 20 configurations, beside it: _silu_mul.BLOCK 16-256, _silu_mul.num_warps 1-8",
    ]


def test_kernels_that_no_run_launched_are_left_alone(view: ProposerView) -> None:
    """A file may hold more kernels than the call reaches."""
    assert OwnSpaceProposer().propose(replace(view, configurations={"other": ()})) is None
    found = own_spaces(view.incumbent, (64, 4096), {"_silu_mul": ()})
    assert [len(space) for _, space in found] == [1, 2, 0]


@pytest.mark.parametrize(
    "more",
    [{"stage": "implement"}, {"avoid": frozenset({"launch_configuration"})}, {"project": object()}],
    ids=["no kernel yet", "avoided", "a project"],
)
def test_nothing_is_proposed_where_there_is_nothing_to_search(view: ProposerView, more: dict[str, Any]) -> None:
    """Before there is a kernel, of a category to avoid, and of a project's own files."""
    assert OwnSpaceProposer().propose(replace(view, **more)) is None


def test_a_file_that_declares_its_values_is_left_to_others(view: ProposerView, repo_root: Path) -> None:
    """Its TUNING_SPACE says what may be tried."""
    source = (repo_root / "kernels" / "rms_norm.py").read_bytes()
    assert OwnSpaceProposer().propose(replace(view, op="rms_norm", incumbent=source)) is None
