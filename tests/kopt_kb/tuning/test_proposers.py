"""Declared variants and spaces become hypotheses, each once, best category first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.analysis.rules.categories import ranked_categories
from kopt_kb.tuning.known import ProposerKnowledge
from kopt_kb.tuning.proposals import ProposerView, Tried
from kopt_kb.tuning.proposers import KnobsProposer, VariantsProposer, declared_of, packaged_kernel


@pytest.fixture
def view(naive: Path) -> ProposerView:
    """A memory-bound RMS norm on two shapes that starts from the naive kernel."""
    return ProposerView("rms_norm", ("8192x4096", "1024x512"), "bf16", "sm_90", "memory", "", 1, naive.read_bytes())


def tried(view: ProposerView, category: str, claim: str) -> ProposerView:
    """The view after that hypothesis was decided."""
    one = Tried(view.round, category, claim, "rollback", "r")
    return replace(view, round=view.round + 1, tried=(*view.tried, one))


def test_a_naive_kernel_gets_the_packages_variants(view: ProposerView) -> None:
    """Memory-bound: less traffic first; the variant covers every shape, for the file replaces the naive one."""
    found = VariantsProposer().propose(view)
    assert found is not None
    assert (found.category, set(found.spaces)) == ("memory_traffic", set(view.shapes))
    assert found.source == packaged_kernel("rms_norm")
    assert found.claim.startswith("single_pass: ")


def test_each_variant_is_offered_once(view: ProposerView) -> None:
    """Until none is left; preconditions hold on the shapes that are searched."""
    claims = []
    while (found := VariantsProposer().propose(view)) is not None:
        claims.append(found.claim)
        view = tried(view, found.category, found.claim)
    assert len(claims) == len(set(claims)) == 4  # two_pass needs rows longer than 2048


def test_a_stagnant_category_is_left_out(view: ProposerView) -> None:
    """The next best one is chosen."""
    found = VariantsProposer().propose(replace(view, avoid=frozenset({"memory_traffic"})))
    assert found is not None
    assert found.category == "memory_access"


def test_the_profile_outweighs_the_roofline(view: ProposerView) -> None:
    """What the table asks for first comes first; without a table the vocabulary's own order."""
    known = ProposerKnowledge(categories=ranked_categories(("imbalance",)))
    found = VariantsProposer().propose(replace(view, known=known))
    assert found is not None
    assert found.category == "scheduling"
    other = VariantsProposer().propose(view)
    assert other is not None
    assert other.category == "memory_traffic"


def test_without_the_package_a_naive_kernel_has_only_knobs(view: ProposerView) -> None:
    """Its own small space, once."""
    assert VariantsProposer(packaged=False).propose(view) is None
    found = KnobsProposer().propose(view)
    assert found is not None
    assert found.claim == "search 6 configurations: BLOCK, num_warps"
    assert KnobsProposer().propose(tried(view, found.category, found.claim)) is None


@pytest.mark.parametrize(("target", "knobs"), [("sm_90", ["TOGETHER", "TURNS"]), ("sm_80", []), ("gfx942", [])])
def test_knobs_of_variants_for_other_targets_are_not_searched(
    view: ProposerView, target: str, knobs: list[str]
) -> None:
    """TOGETHER and TURNS of attention are those of its variant for Hopper: elsewhere they would change nothing."""
    source = packaged_kernel("attention")
    assert source is not None
    found = KnobsProposer().propose(
        replace(view, op="attention", shapes=("1x4x1024x128",), target=target, incumbent=source)
    )
    assert found is not None
    ((_, space),) = found.spaces.values()
    assert sorted({*space} & {"TOGETHER", "TURNS"}) == knobs
    assert {"BLOCK_M", "BLOCK_N", "num_warps", "num_stages"} <= {*space}


def test_another_operation_or_no_declaration_proposes_nothing(view: ProposerView) -> None:
    """A kernel of another operation is not offered; unreadable files declare nothing."""
    assert packaged_kernel("no_such_op") is None
    assert declared_of(b"def (") is None
    other = replace(view, op="no_such_op")
    assert VariantsProposer().propose(other) is None
    assert KnobsProposer().propose(replace(view, incumbent=b"x = 1\n")) is None
