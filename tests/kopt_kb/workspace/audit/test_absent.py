"""A journal that names an absent pack is audited all the same, and the audit says which pack is missing."""

from __future__ import annotations

import pytest
from kopt_strange.events import Dreamt
from kopt_strange.pack import PACK

from kopt_kb.cli.main import main
from kopt_kb.packs.memory_form.pack import PACK as FORM
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.bundle import bundle
from kopt_kb.workspace.journal.chain import Head
from kopt_kb.workspace.retarget import registry_of
from kopt_kb.workspace.views.files import read_file, with_header
from kopt_kb.workspace.views.render import render_workspace
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.conftest import OnlyPacks
from tests.kopt_kb.workspace.test_needs import confirmed


@pytest.fixture
def dreaming(played, only_packs: OnlyPacks):
    """A story with two events of a pack that is installed, and a blob of the second."""
    only_packs(PACK, FORM)
    blob = played.store.put(b"of wool")
    played.add("strange.dreamt", round=1, of="sheep")
    played.add("strange.dreamt", round=2, of="sheep", text=blob)
    return played


def test_the_state_keeps_what_a_pack_wrote(dreaming, only_packs: OnlyPacks) -> None:
    """Typed for the pack; without it counted, and the rest of the state is the same."""
    state = dreaming.workspace.state()
    assert [type(data) for data in state.pack_events("strange").values()] == [Dreamt, Dreamt]
    assert state.unread_events == {}
    only_packs(FORM)
    other = dreaming.workspace.state()
    assert other.pack_events("strange") == {}
    assert other.unread_events == {"strange": (state.seq - 1, state.seq)}
    assert (other.attempts, other.measured, other.head) == (state.attempts, state.measured, state.head)


def test_with_the_pack_its_blobs_are_read(dreaming, registry) -> None:
    """They are named by its events, as those of the core's are."""
    assert audit(dreaming.workspace.layout.root, registry).clean
    seq = dreaming.add("strange.dreamt", round=3, of="sheep", text="0" * 64)
    (lost,) = audit(dreaming.workspace.layout.root, registry).findings
    assert (lost.code, lost.line) == ("object", seq)


def test_without_it_the_audit_is_clean_and_names_it(dreaming, registry, only_packs: OnlyPacks, capsys) -> None:
    """Exit 0, one note with the number of events; so for its bundle."""
    root, only = dreaming.workspace.layout.root, dreaming.workspace.state().seq - 1
    only_packs(FORM)
    found = audit(root, registry)
    assert found.clean
    (note,) = [one for one in found.notes if one.code == "absent-pack"]
    assert note.line == only
    assert "2 events of the pack strange, which is not installed" in note.message
    assert main(["audit", str(root)]) == 0
    assert "note: journal.jsonl" in capsys.readouterr().out


def test_without_it_everything_else_works(dreaming, registry, only_packs: OnlyPacks, capsys, tmp_path) -> None:
    """Render, status, report, bundle and the bundle's audit."""
    only_packs(FORM)
    workspace = Workspace.open(dreaming.workspace.layout.root)
    root, state = str(workspace.layout.root), workspace.state()
    assert main(["render", root]) == 0
    assert main(["tune", "status", root]) in {0, 1}
    assert main(["tune", "report", root]) in {0, 1}
    bundle(workspace.layout, state, registry_of(state).platform(state.created.platform), tmp_path / "all.kbb")
    found = audit(tmp_path / "all.kbb", registry)
    assert found.clean
    assert "absent-pack" in {one.code for one in found.notes}
    assert "Traceback" not in capsys.readouterr().err


def test_a_policy_of_an_absent_pack_is_told(played, registry, only_packs: OnlyPacks) -> None:
    """With the words that the audit could not check."""
    only_packs(FORM)
    seq = played.add("campaign_confirmed", **confirmed(required_gates=["lint", "strange.rested"], pack="strange"))
    found = audit(played.workspace.layout.root, registry)
    assert found.clean
    (note,) = [one for one in found.notes if one.code == "absent-pack"]
    assert note.line == seq
    assert "policy dreams needs the pack strange" in note.message
    assert "strange.rested" in note.message


def test_a_view_that_nobody_can_render_again_is_noted_and_an_edited_one_still_told(
    played, registry, only_packs: OnlyPacks
) -> None:
    """A file that a pack added words to is not called edited where the pack is absent."""
    only_packs(FORM)
    played.add("campaign_confirmed", **confirmed(pack="strange"))
    render_workspace(played.workspace)
    root, state = played.workspace.layout.root, played.workspace.state()
    log = root / "logs" / "optimize.md"
    file = read_file(root, "logs/optimize.md")
    assert file is not None
    text = file.body.decode() + "words of a pack\n"
    log.write_bytes(with_header("optimize.md", text, Head(state.seq, state.head)))
    found = audit(root, registry)
    assert found.clean
    assert "logs/optimize.md" in {one.file for one in found.notes if one.code == "absent-pack"}
    log.write_bytes(log.read_bytes() + b"and of a hand\n")
    assert [one.code for one in audit(root, registry).findings] == ["edited-view"]
