"""What proposers may know: the problem, the stage, and decided rounds that are not masked."""

from __future__ import annotations

from kopt_kb.tuning.proposals import view_of
from kopt_kb.workspace.workspace import Workspace


def test_a_fresh_workspace_has_nothing_tried(workspace: Workspace, pytorch: Workspace, make_campaign) -> None:
    """The stage depends on the route until there is a baseline."""
    for where, stage in ((workspace, "optimize"), (pytorch, "implement")):
        with make_campaign(where) as campaign:
            found = view_of(campaign.state(), b"source", frozenset({"caching"}))
        assert (found.op, found.dtype, found.shapes) == ("rms_norm", "bf16", ("8192x4096", "1024x512"))
        assert (found.round, found.tried, found.incumbent) == (0, (), b"source")
        assert (found.bound, found.framework, found.stage) == ("memory", "Triton", stage)
        assert found.avoid == {"caching"}


def test_decided_rounds_are_told_unless_masked(pytorch: Workspace, make_campaign) -> None:
    """Stage 1 is over, its hypothesis is among what was tried; a masked round is not."""
    with make_campaign(pytorch, rounds=2) as campaign:
        campaign.run()
        state = campaign.state()
        found = view_of(state, b"")
        assert (found.stage, found.round) == ("optimize", 3)
        assert [(one.round, one.decision) for one in found.tried][:2] == [(0, "accept"), (1, "accept")]
        hidden = next(number for number in (1, 2) if number not in state.unmaskable())
        state.hand_masks = {hidden: "by hand"}
        assert [one.round for one in view_of(state, b"").tried] == [0, 3 - hidden]
