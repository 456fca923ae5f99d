"""What a proposer sees, and when two hypotheses are the same."""

from __future__ import annotations

from kopt_kb.tuning.proposals import Proposal, ProposerView, Tried
from kopt_kb.workspace.journal.campaign_events import SearchSpace

ONE = Tried(3, "caching", "keep the  weight", "rollback", "noise")
VIEW = ProposerView("softmax", ("2x4",), "bf16", "sm_90", "memory", "", 4, b"k = 1\n", (ONE,), frozenset({"caching"}))


def test_same_but_for_case_and_spaces() -> None:
    """Words decide; another category makes another hypothesis."""
    assert ONE.says("Caching", "Keep the weight ")
    assert not ONE.says("compute", "keep the weight")
    assert (VIEW.earlier("caching", "KEEP THE WEIGHT"), VIEW.earlier("caching", "other")) == (3, None)


def test_json_of_view_and_proposal() -> None:
    """As outside commands and the journal get them."""
    data = VIEW.document.to_json()
    assert (data["kernel"], data["avoid_categories"], data["limiter"]) == ("k = 1\n", ["caching"], None)
    proposal = Proposal("c", "d", "e", "p", b"s", {"2x4": ({"A": 1}, {"B": (1, 2)})})
    assert proposal.made(1, "ab").spaces == {"2x4": SearchSpace({"A": 1}, {"B": [1, 2]})}
