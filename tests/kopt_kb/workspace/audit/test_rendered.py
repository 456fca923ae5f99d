"""Rendered files and blocks held against the journal: edited, stale, missing and foreign ones told apart."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.audit.prose import words_of_people
from kopt_kb.workspace.journal.blobs import ObjectError
from kopt_kb.workspace.views.blocks import parse_blocks, replace_blocks
from kopt_kb.workspace.views.files import split_view, with_header
from kopt_kb.workspace.views.render import render_workspace


def codes(story, registry) -> list[str]:
    """Codes of the audit's findings on rendered files."""
    found = audit(story.workspace.layout.root, registry).findings
    return [f"{one.code} {one.file}" for one in found]


KILLED = """
import os, signal, sys
from kopt_kb.workspace.views import files
from kopt_kb.packs.memory_form.memory_edit import mask
from kopt_kb.workspace.views.render import render_workspace
from kopt_kb.workspace.workspace import Workspace
workspace, stop_at = Workspace.open(sys.argv[1]), int(sys.argv[2])
mask(workspace, [2], "noise")
real, count = files.replace_file, 0
def counted(*args, **options):
    global count
    if count == stop_at:
        os.kill(os.getpid(), signal.SIGKILL)
    count += 1
    return real(*args, **options)
files.replace_file = counted
render_workspace(workspace)
"""


def test_a_rendered_workspace_is_clean(played, registry):
    """Before the first rendering, and after it."""
    assert codes(played, registry) == []
    render_workspace(played.workspace)
    assert codes(played, registry) == []


def test_an_edit_is_found_with_its_byte(played, registry):
    """Also when its header was forged to fit."""
    render_workspace(played.workspace)
    path = played.workspace.layout.root / "memory/v1.json"
    old = split_view("v1.json", path.read_bytes())
    body = old.body.decode().replace('"latency_us": 31.6228', '"latency_us": 21.6228')
    path.write_bytes(with_header("v1.json", body, old.head))
    (finding,) = audit(played.workspace.layout.root, registry).findings
    assert (finding.code, finding.file) == ("edited-view", "memory/v1.json")
    assert finding.message.startswith(f"byte {old.body.index(b'31.6228')}: ")
    assert "21.6228" in path.read_text().split("\n")[finding.line - 1]


def test_what_another_version_rendered_is_not_called_an_edit_of_somebody(played, registry):
    """Its own hash fits its text: rendering is the remedy, and nothing of somebody's is promised to be kept."""
    render_workspace(played.workspace)
    root = played.workspace.layout.root
    path = root / "logs" / "optimize.md"
    old = split_view("optimize.md", path.read_bytes())
    path.write_bytes(with_header("optimize.md", old.body.decode().replace("Attempt", "Round"), old.head))
    readme = root / "README.md"
    body = parse_blocks(readme.read_bytes(), "README.md")[0].body.decode()
    name = parse_blocks(readme.read_bytes(), "README.md")[0].name
    readme.write_bytes(replace_blocks(readme.read_bytes(), {name: f"{body}one line more\n"}, "README.md"))
    for finding in (found := audit(root, registry).findings):
        assert "another version of kb" in finding.fix and "keeps these bytes" not in finding.fix
    assert {one.file for one in found} == {"README.md", "logs/optimize.md"}
    assert render_workspace(played.workspace).kept == ()
    assert codes(played, registry) == []


def test_a_stale_file_is_told_from_an_edited_one(played, registry):
    """Its body is what the journal rendered earlier."""
    render_workspace(played.workspace)
    played.say("memory_noted", '{"direction": "persist"}', version=3, field="open_directions", by="ann")
    found = codes(played, registry)
    assert found == [
        "stale-view logs/optimize.md",
        "stale-view memory/v3.json",
        "stale-view rounds/round-4/summary.md",
    ]
    render_workspace(played.workspace)
    assert codes(played, registry) == []


def test_a_removed_file_is_found(played, registry):
    """Hiding a failed round is no way out."""
    render_workspace(played.workspace)
    (played.workspace.layout.root / "memory/v2.json").unlink()
    assert codes(played, registry) == ["edited-view memory/v2.json"]


def test_a_foreign_file_in_a_view_s_place_is_found(played, registry):
    """It has no header."""
    (played.workspace.layout.root / "memory/v2.json").write_text("{}")
    assert codes(played, registry) == ["edited-view memory/v2.json"]


def test_a_link_in_a_view_s_place_is_found(played, registry):
    """It is not followed."""
    (played.workspace.layout.root / "memory/v2.json").symlink_to("/etc/hostname")
    (found,) = audit(played.workspace.layout.root, registry).findings
    assert (found.code, found.file) == ("edited-view", "memory/v2.json")
    assert "it is a link" in found.message and "remove it" in found.fix


def test_a_journal_that_lost_its_end_is_named_by_what_was_rendered_from_it(played, registry):
    """The chain of what is left is whole; the message says which file knows more, and rendering is no remedy."""
    layout = played.workspace.layout
    render_workspace(played.workspace)
    lines = layout.journal.read_bytes().splitlines(keepends=True)
    layout.journal.write_bytes(b"".join(lines[:-2]))
    found = [one for one in audit(layout.root, registry).findings if one.code == "journal"]
    assert [one.file for one in found] == ["journal.jsonl"]
    assert f"was rendered from event {len(lines)}" in found[0].message and "backup" in found[0].fix


def test_a_header_of_no_event_makes_no_file_stale(played, registry):
    """An old body under an invented event is an edit."""
    render_workspace(played.workspace)
    path = played.workspace.layout.root / "memory/v3.json"
    path.write_bytes(path.read_bytes().replace(b'"seq": ', b'"seq": 9', 1))
    played.say("memory_noted", '{"direction": "x"}', version=3, field="open_directions", by="ann")
    assert "edited-view memory/v3.json" in codes(played, registry)


def test_numbers_in_people_s_words_are_audited_in_rendered_files_too(played, registry):
    """A note that remembers another product's bandwidth; the gates' own words are not people's."""
    played.say("note_added", "an H100 has 3.35 TB/s", topic="tip", by="ann")
    played.add("gate_judged", candidate="v3", gate="limits", result="fail", reason="needs 96 KiB", runs=[])
    render_workspace(played.workspace)
    assert set(codes(played, registry)) == {"unsourced memory/v3.json", "unsourced rounds/round-4/summary.md"}
    assert "an H100 has 3.35 TB/s" in words_of_people(played.workspace.events(), played.store.get)


def test_a_lost_note_is_a_finding(played, registry):
    """No traceback; rendering names the blob."""
    played.say("note_added", "precious", topic="tip", by="ann")
    played.store.path(played.workspace.events()[-1].data.text).unlink()
    assert codes(played, registry) == ["object journal.jsonl"]
    with pytest.raises(ObjectError, match="missing"):
        render_workspace(played.workspace)


@pytest.mark.parametrize("stop_at", [0, 1, 3])
def test_render_repairs_what_a_kill_left(played, registry, stop_at):
    """Killed after the event and before or between the files: nothing is lost, one call repairs."""
    render_workspace(played.workspace)
    root = played.workspace.layout.root
    done = subprocess.run([sys.executable, "-c", KILLED, str(root), str(stop_at)], check=False, capture_output=True)
    assert done.returncode == -9, done.stderr
    assert played.workspace.events()[-1].kind == "memory_masked"
    assert all(code.startswith("stale-view") for code in codes(played, registry))
    assert codes(played, registry)
    assert render_workspace(played.workspace).kept == ()
    assert codes(played, registry) == []


def test_an_edited_block_names_its_line_and_both_texts(played, registry):
    """And says where to write instead."""
    readme = played.workspace.layout.readme
    readme.write_text(readme.read_text().replace("- `kb audit .`", "- my `kb audit .`"))
    (finding,) = audit(played.workspace.layout.root, registry).findings
    assert (finding.code, finding.file) == ("edited-block", "README.md")
    assert readme.read_text().split("\n")[finding.line - 1].startswith("- my `kb audit .`")
    assert "- my `kb audit .`" in finding.message and "'- `kb audit .`" in finding.message
    assert "plans/, notes/" in finding.fix
    render_workspace(played.workspace)
    assert codes(played, registry) == []


def test_an_edited_markdown_file_names_the_line_of_the_file(played, registry):
    """Its header is a line of its own."""
    render_workspace(played.workspace)
    log = played.workspace.layout.logs / "optimize.md"
    log.write_text(log.read_text().replace("- operator: rms_norm", "- operator: softmax"))
    (finding,) = audit(played.workspace.layout.root, registry).findings
    assert log.read_text().split("\n")[finding.line - 1] == "- operator: softmax"
    assert "'- operator: softmax' stands where the journal renders '- operator: rms_norm'" in finding.message
