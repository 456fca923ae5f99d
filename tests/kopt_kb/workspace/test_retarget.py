"""Targets change through one event with reason and author; the audit stays clean and says who."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.journal import Journal
from kopt_kb.workspace.retarget import (
    Terms,
    aim_in_force,
    factor_in_force,
    parse_factor,
    parse_threshold,
    registry_of,
    set_targets,
)
from kopt_kb.workspace.views.render import render_workspace


def values(workspace):
    """Shape → limit of the targets in force."""
    return {one.shape: (one.value, one.unit) for one in workspace.state().targets.targets if one.shape}


def test_another_factor(workspace, registry):
    """0.75 of 2.0 TB/s is 1.5 TB/s; it supersedes the first targets; README and audit say by whom."""
    first = workspace.state().targets_seq
    done = set_targets(workspace, registry, factor=Fraction(3, 4), reason="agreed", by="ann")
    assert values(workspace) == {"8192x4096": ("1.5", "TB/s"), "1024x512": ("1.5", "TB/s")}
    assert (done.targets.supersedes, done.targets.by, done.targets.reason) == (first, "ann", "agreed")
    assert "README.md" in done.report.written
    readme = workspace.layout.readme.read_text()
    assert ">= 1.5 TB/s" in readme and f"Set by event {done.event.seq} (ann): agreed." in readme
    report = audit(workspace.layout.root, registry)
    assert report.clean
    assert [one.code for one in report.notes] == ["set-by", "other-wiki"]
    assert "set by ann" in report.notes[0].message


def test_other_shapes(workspace, registry):
    """All conditions are for the new shapes; the factor in force is kept."""
    set_targets(workspace, registry, factor=Fraction(3, 4), reason="agreed", by="ann")
    done = set_targets(workspace, registry, terms=Terms(shapes=["512x1024"]), reason="small batch", by="bob")
    assert values(workspace) == {"512x1024": ("1.5", "TB/s")}
    assert [one.shape for one in done.targets.targets] == ["512x1024", None]
    assert factor_in_force(workspace.state()) == Fraction(3, 4)
    assert "- shapes: 512x1024" in workspace.layout.readme.read_text()
    assert audit(workspace.layout.root, registry).clean
    assert [one.shape for one in workspace.stop_conditions().conditions] == ["512x1024"]


def test_tiny_shapes_lose_their_condition_and_keep_the_factor(workspace, registry):
    """33 KB take 16 ns: no condition, which README and audit know; larger shapes have 0.75 again."""
    set_targets(workspace, registry, factor=Fraction(3, 4), reason="agreed", by="ann")
    set_targets(workspace, registry, terms=Terms(shapes=["64x128"]), reason="small batch", by="bob")
    assert workspace.stop_conditions().conditions == ()
    assert "No condition for 64x128: its target is shorter than " in workspace.layout.readme.read_text()
    assert audit(workspace.layout.root, registry).clean
    assert factor_in_force(workspace.state()) == Fraction(3, 4)
    set_targets(workspace, registry, terms=Terms(shapes=["512x1024"]), reason="larger", by="bob")
    assert values(workspace) == {"512x1024": ("1.5", "TB/s")}


def test_a_target_event_that_does_not_follow_from_its_rows_is_found(workspace, registry, clock):
    """An author and a reason don't make a number right."""

    state = workspace.state()
    wrong = tuple(replace(one, value="1.2") if one.shape else one for one in state.targets.targets)
    made = replace(state.targets, targets=wrong, supersedes=state.targets_seq, by="ann", reason="easier")
    with Journal.open(workspace.layout.journal) as journal:
        journal.append("target_set", made)
    render_workspace(workspace)
    assert {one.code for one in audit(workspace.layout.root, registry).findings} == {"target"}


def test_rows_are_registered_again(workspace, wiki_root, product):
    """The page changed and was reviewed: afterwards the workspace rests on the new row."""
    text = product.read_text()
    product.write_text(
        text.replace(
            '| 48 | GB | - | vendor | [^sheet] memory row quote="48GB"',
            '| 64 | GB | - | vendor | [^sheet] memory row quote="64GB"',
        )
    )
    assert [one.code for one in audit(workspace.layout.root, Registry.open(wiki_root)).findings] == ["changed"]
    set_targets(workspace, Registry.open(wiki_root), reason="new sheet", by="ann")
    assert workspace.state().specs["memory_capacity"].value == "64"
    assert audit(workspace.layout.root, Registry.open(wiki_root)).clean


def test_an_edited_readme_is_kept_and_rendered_again(workspace, registry):
    """What somebody wrote over a target is a blob, and the README says the new one."""
    readme = workspace.layout.readme
    readme.write_text(readme.read_text().replace(">= 1.8 TB/s", ">= 1.2 TB/s"))
    done = set_targets(workspace, registry, factor=Fraction(1, 2), reason="x", by="ann")
    assert b">= 1.2 TB/s" in ObjectStore(workspace.layout.objects).get(dict(done.report.kept)["README.md"])
    assert ">= 1 TB/s" in readme.read_text() and ">= 1.2 TB/s" not in readme.read_text()


@pytest.mark.parametrize(("reason", "by"), [("", "ann"), ("x", " ")])
def test_a_reason_and_an_author_are_needed(workspace, registry, reason, by):
    """Blank is none."""
    with pytest.raises(BadInput, match="reason and an author"):
        set_targets(workspace, registry, factor=Fraction(1, 2), reason=reason, by=by)


@pytest.mark.parametrize("shape", ["0x5", "64", "x", "64x64x64"])
def test_shapes_that_do_not_fit(workspace, registry, shape):
    """And nothing is appended."""
    before = len(workspace.events())
    with pytest.raises(BadInput):
        set_targets(workspace, registry, terms=Terms(shapes=[shape]), reason="x", by="ann")
    assert len(workspace.events()) == before


@pytest.mark.parametrize("text", ["0", "-1", "1.01", "nan", "inf", "much", "1/0", ""])
def test_factors_are_shares(text):
    """Above 0 and at most 1."""
    with pytest.raises(BadInput):
        parse_factor(text)


def test_the_wiki_of_the_workspace_is_used(workspace, wiki_root, monkeypatch):
    """Unless another one is named; a vanished folder gives the packaged one."""
    monkeypatch.delenv("KOPT_GPU_WIKI", raising=False)
    assert str(registry_of(workspace.state()).platform("T10").id) == "T10"
    assert str(registry_of(workspace.state(), [str(wiki_root)]).platform("T10").id) == "T10"
    wiki_root.rename(wiki_root.with_name("gone"))
    assert "H20" in {str(one) for one in registry_of(workspace.state()).platforms()}


def test_a_performance_target(workspace, registry):
    """Half of each documented roof; other shapes keep it; the audit computes it again; null goes back to 0.9."""
    set_targets(workspace, registry, aim="> 50% peak efficiency", reason="agreed", by="ann")
    assert aim_in_force(workspace.state()) == "> 50% peak efficiency"
    assert set(values(workspace).values()) == {("1", "TB/s")}
    assert audit(workspace.layout.root, registry).clean
    set_targets(workspace, registry, terms=Terms(shapes=["512x1024"]), reason="small batch", by="bob")
    assert values(workspace) == {"512x1024": ("1", "TB/s")}
    assert audit(workspace.layout.root, registry).clean
    set_targets(workspace, registry, aim="null", reason="back", by="ann")
    assert values(workspace) == {"512x1024": ("1.8", "TB/s")} and aim_in_force(workspace.state()) == ""
    set_targets(workspace, registry, aim=">= 1.5 TB/s", reason="more", by="ann")
    set_targets(workspace, registry, factor=Fraction(1, 4), reason="less", by="ann")
    assert values(workspace) == {"512x1024": ("0.5", "TB/s")} and aim_in_force(workspace.state()) == ""
    assert audit(workspace.layout.root, registry).clean


def test_a_performance_target_above_a_roof_changes_nothing(workspace, registry):
    """Refused before an event is written."""
    before = len(workspace.events())
    with pytest.raises(BadInput, match="3 TB/s is above the 2 TB/s that the documented dram roof"):
        set_targets(workspace, registry, aim="> 3 TB/s", reason="agreed", by="ann")
    assert len(workspace.events()) == before


def test_an_edited_performance_target_is_found(workspace, registry):
    """The audit computes the share from the rows: other numbers under the same words are a finding."""
    set_targets(workspace, registry, aim="> 50%", reason="agreed", by="ann")
    last = workspace.events()[-1].data
    changed = tuple(replace(one, value="1.1") if one.shape else one for one in last.targets)
    with Journal.open(workspace.layout.journal) as journal:
        journal.append("target_set", replace(last, targets=changed))
    render_workspace(workspace)
    assert {one.code for one in audit(workspace.layout.root, registry).findings} == {"target"}


def test_type_tolerance_and_language(workspace, registry):
    """Each is in force at once, in the README too; a language for another vendor is refused."""
    terms = Terms(dtype="fp32", threshold=Fraction(1, 500), framework="CuteDSL")
    set_targets(workspace, registry, terms=terms, reason="agreed", by="ann")
    state = workspace.state()
    assert (state.problem.dtype, state.problem.tolerance.rel_l2_err) == ("fp32", Fraction(1, 500))
    assert state.task.framework == "CuteDSL"
    readme = workspace.layout.readme.read_text()
    assert "- framework: CuteDSL" in readme and "- dtype: fp32" in readme and "- correctness_threshold: 0.002" in readme
    with pytest.raises(BadInput, match="builds for AMD"):
        set_targets(workspace, registry, terms=Terms(framework="FlyDSL"), reason="x", by="ann")
    with pytest.raises(BadInput, match="no relative error"):
        parse_threshold("2")
