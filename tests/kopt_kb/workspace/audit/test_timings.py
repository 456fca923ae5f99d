"""Claims about timings of a journal: each is read from the output of its run, and what is none is passed over."""

from __future__ import annotations

from kopt_kb.workspace.audit.timings import timings_of
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.workspace.audit.forging import CAMPAIGNS


def test_the_timings_of_a_campaign() -> None:
    """One of each version; checks and profiles are none."""
    workspace = Workspace.open(CAMPAIGNS / "h100_sxm/rms_norm")
    found = timings_of(workspace.events(), ObjectStore(workspace.layout.objects))
    assert set(found) == {"v0.timing.1", "v1.timing.1"}
    assert [len(one.shapes["8192x4096"]["candidate"]) for one in found.values()] == [3, 3]


def test_an_output_that_is_lost_is_passed_over(tmp_path) -> None:
    """It is a finding of its own."""
    events = Workspace.open(CAMPAIGNS / "h100_sxm/rms_norm").events()
    (tmp_path / "objects").mkdir()
    assert timings_of(events, ObjectStore(tmp_path / "objects")) == {}
