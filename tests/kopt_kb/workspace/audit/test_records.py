"""Blobs, kernel.py, records, gates and commits are held against the journal, and each forgery is found at its line."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.audit.records import git_findings, run_findings
from kopt_kb.workspace.audit.sources import row_findings
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.snapshot import commit_workspace
from kopt_kb.workspace.workspace import Workspace

SOFTMAX = Path(__file__).parents[4] / "benchmarks/campaigns/h200_sxm/softmax_2"


@pytest.fixture
def campaign(tmp_path: Path) -> Workspace:
    """A copy of a recorded campaign."""
    shutil.copytree(SOFTMAX, tmp_path / "w")
    return Workspace.open(tmp_path / "w")


def found(workspace: Workspace) -> list[tuple[str, str, int]]:
    """(code, file, line) of each finding."""
    return [(one.code, one.file, one.line) for one in audit(workspace.layout.root, Registry.open()).findings]


def test_every_blob_that_the_journal_names_is_read_and_hashed(campaign: Workspace) -> None:
    """A lost output of a run, and a damaged profile: each at the event that names it."""
    events = campaign.events()
    ended = next(one for one in events if one.kind == "run_finished")
    profile = next(one for one in events if one.kind == "profile_read")
    (campaign.layout.objects / ended.data.output).unlink()
    damaged = campaign.layout.objects / profile.data.report
    damaged.chmod(0o644)
    damaged.write_bytes(damaged.read_bytes() + b"x")
    assert set(found(campaign)) >= {("object", "journal.jsonl", ended.seq), ("object", "journal.jsonl", profile.seq)}


def test_kernel_py_is_the_last_accepted_version(campaign: Workspace) -> None:
    """An edit, a link and a missing file are named; the link is not followed."""
    assert found(campaign) == []
    kernel = campaign.layout.kernel
    kernel.write_bytes(kernel.read_bytes() + b"# mine\n")
    assert found(campaign) == [("kernel", "kernel.py", 1)]
    kernel.unlink()
    assert found(campaign) == [("kernel", "kernel.py", 0)]
    kernel.symlink_to("/dev/zero")
    assert found(campaign) == [("kernel", "kernel.py", 0)]


def test_a_record_that_its_run_did_not_time_is_found(campaign: Workspace) -> None:
    """Every record of the campaign is in its run's output; half the time is not."""
    events, store = campaign.events(), ObjectStore(campaign.layout.objects)
    assert list(run_findings(events, store)) == []
    at, event = next((at, one) for at, one in enumerate(events) if one.kind == "measured")
    forged = replace(event, data=replace(event.data, median_s=event.data.median_s / 2))
    (finding,) = run_findings((*events[:at], forged, *events[at + 1 :]), store)
    assert (finding.code, finding.line) == ("record", event.seq)
    assert event.data.id in finding.message


@pytest.mark.parametrize(("change", "words"), [("outcome", "ended as crash"), ("passed", "found the kernel wrong")])
def test_a_gate_that_passed_against_its_run_is_found(campaign: Workspace, change: str, words: str) -> None:
    """A run that crashed, and one whose answer says wrong."""
    events, store = list(campaign.events()), ObjectStore(campaign.layout.objects)
    gate = next(one for one in events if one.kind == "gate_judged" and one.data.gate == "correctness")
    at = next(at for at, one in enumerate(events) if one.kind == "run_finished" and one.data.run in gate.data.runs)
    run = events[at].data
    answer = json.loads(store.get(run.output))
    answer["result"]["passed"] = False
    wrong = replace(run, output=store.put(json.dumps(answer).encode()))
    events[at] = replace(events[at], data=replace(run, outcome="crash") if change == "outcome" else wrong)
    findings = [one for one in run_findings(tuple(events), store) if one.line == gate.seq]
    assert [one.code for one in findings] == ["record"]
    assert words in findings[0].message


def test_a_commit_of_another_journal_is_found(played) -> None:
    """The chain holds, the events are not those the commit was made from."""
    layout, events = played.workspace.layout, played.workspace.events()
    commit_workspace(layout, next(one for one in events if one.kind == "decided"), "V0", {})
    assert list(git_findings(layout, events)) == []
    (finding, *_) = git_findings(layout, (*events[:2], *(replace(one, zh="0" * 64) for one in events[2:])))
    assert finding.code == "git" and "another journal" in finding.message
    (layout.root / ".git" / "HEAD").write_text("nonsense\n")
    (broken,) = git_findings(layout, events)
    assert (broken.code, broken.file) == ("git", ".git") and "can't be read" in broken.message and broken.fix
    shutil.rmtree(layout.root / ".git")
    assert list(git_findings(layout, events)) == []


def test_a_registered_value_that_its_row_does_not_say_is_found(workspace: Workspace, wiki_root: Path) -> None:
    """The row's hash holds, the value beside it was changed before the journal was written."""
    state = workspace.state()
    row = state.specs["memory_capacity"]
    state.specs = {**state.specs, "memory_capacity": replace(row, value="64")}
    (finding,) = row_findings(state, Registry.open(wiki_root).platform("T10"), "")
    assert finding.code == "changed" and "registered as 64 GB" in finding.message


def test_nothing_that_is_no_regular_file_is_opened(campaign: Workspace) -> None:
    """Pipes in every place the audit looks: it ends, and names what stands where a view should."""
    subprocess.run(["mkfifo", *(str(campaign.layout.root / name) for name in ("x.md", "logs/x.md"))], check=True)
    memory = campaign.layout.root / "memory/v1.json"
    memory.unlink()
    subprocess.run(["mkfifo", str(memory)], check=True)
    assert {file for _, file, _ in found(campaign)} == {"memory/v1.json"}
