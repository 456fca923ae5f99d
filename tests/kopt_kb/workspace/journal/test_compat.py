"""What earlier journals called something, and what it is called now."""

from __future__ import annotations

from pathlib import Path

from kopt_strange.events import Dreamt
from kopt_strange.pack import PACK

from kopt_kb.workspace.journal import compat
from kopt_kb.workspace.journal.compat import present_kind, present_policy
from kopt_kb.workspace.journal.events import ForeignData
from kopt_kb.workspace.journal.reader import read_journal
from tests.kopt_kb.conftest import OnlyPacks
from tests.kopt_kb.workspace.journal.test_reader import envelope, write_lines


def test_kinds_of_today_keep_their_names() -> None:
    """The core's and those of packs."""
    assert [present_kind(kind) for kind in ("decided", "mine.kind")] == ["decided", "mine.kind"]


def test_a_kind_that_became_a_pack_s_is_read_by_its_class(tmp_path: Path, only_packs: OnlyPacks, monkeypatch) -> None:
    """Under its recorded name, which the chain holds; without the pack it is kept as it is."""
    monkeypatch.setattr(compat, "_KINDS", {"dreamt": "strange.dreamt"})
    write_lines(tmp_path / "j", envelope({"round": 1, "of": "sheep", "text": None}, kind="dreamt"))
    only_packs(PACK)
    (event,) = read_journal(tmp_path / "j")
    assert (event.kind, event.data) == ("dreamt", Dreamt(1, "sheep"))
    only_packs()
    assert isinstance(read_journal(tmp_path / "j")[0].data, ForeignData)


def test_a_switch_became_a_gate() -> None:
    """A policy that held gains to a training step asks for the gate that does; the recorded document stays."""
    recorded = {"name": "primus", "required_gates": ["lint", "build"], "transfer": True}
    assert present_policy(recorded) == {
        "name": "primus", "required_gates": ["lint", "build", "training_step.transfer"], "named": True,
        "pack": "training_step",
    }  # fmt: skip
    assert recorded["transfer"] is True
    assert present_policy({"name": "gpu-wiki", "required_gates": ["lint"], "transfer": False}) == {
        "name": "gpu-wiki",
        "required_gates": ["lint"],
    }
    now = {"name": "gpu-wiki", "required_gates": ["lint"]}
    assert present_policy(now) is now
