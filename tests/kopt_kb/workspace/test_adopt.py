"""An edit becomes events and survives rendering, or is refused with what stands against it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.workspace.adopt import FIXED_BLOCKS, AdoptRefusedError, adopt_file, find_workspace
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.layout import LayoutError
from kopt_kb.workspace.memory import read_memory
from kopt_kb.workspace.memory_edit import FieldRefusedError
from kopt_kb.workspace.views.memory_model import MemoryFileError
from kopt_kb.workspace.views.render import render_workspace


@pytest.fixture
def rendered(played):
    """The played story, rendered."""
    render_workspace(played.workspace)
    return played


def edit(path: Path, old: str, new: str) -> Path:
    """Replace text that must be there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


def change(path: Path, **fields) -> Path:
    """Change members of a memory file as an editor would."""
    head, _, rest = path.read_text().partition("\n")
    members = json.loads("{" + rest)
    members.update(fields)
    path.write_text(head + "\n" + json.dumps(members, indent=2)[2:] + "\n")
    return path


def clean(story, registry) -> bool:
    """Whether the audit finds nothing."""
    return audit(story.workspace.layout.root, registry).clean


def refused(story, path, error, match):
    """Adopting raises, and neither the journal nor the file changes."""
    before, text = len(story.workspace.events()), path.read_bytes()
    with pytest.raises(error, match=match):
        adopt_file(path, "ann")
    assert (len(story.workspace.events()), path.read_bytes()) == (before, text)


class TestMemory:
    def test_words_become_entries(self, rendered, registry):
        """A direction and a reference; the file is rendered again and the audit is clean."""
        path = rendered.workspace.layout.memory_file(3)
        references = [{"source_type": "gpu-wiki", "path_or_url": "ops/norm.md", "description": ""}]
        change(path, open_directions=[{"direction": "persist", "rationale": ""}], references=references)
        done = adopt_file(path, "ann")
        assert [one.kind for one in done.events] == ["memory_noted", "memory_noted", "file_adopted"]
        one = read_memory(rendered.workspace).get(3)
        assert one.open_directions[0].direction == "persist"
        assert one.wiki_references.kernel_wiki == ["ops/norm.md"]
        assert clean(rendered, registry)

    def test_a_hand_set_mask_becomes_an_event(self, rendered, registry):
        """And unmasking by hand too."""
        path = edit(rendered.workspace.layout.memory_file(2), '"masked": false', '"masked": true')
        adopt_file(path, "ann")
        assert read_memory(rendered.workspace).masked == {2: "set by hand in memory/v2.json by ann"}
        assert clean(rendered, registry)
        edit(path, '"masked": true', '"masked": false')
        adopt_file(path, "ann")
        assert read_memory(rendered.workspace).masked == {}
        assert clean(rendered, registry)

    @pytest.mark.parametrize("number", [0, 1])
    def test_the_baseline_and_the_best_can_not_be_masked(self, rendered, number):
        """By a file neither."""
        path = edit(rendered.workspace.layout.memory_file(number), '"masked": false', '"masked": true')
        refused(rendered, path, BadInput, "can't be masked")

    @pytest.mark.parametrize(
        ("old", "new", "match"),
        [
            ('"latency_us": 31.6228', '"latency_us": 21.6228', "copied from `measured` events"),
            ('"median_s": 0.0001', '"median_s": 0.00005', "copied from `measured` events"),
            ('"status": "accept"', '"status": "rollback"', "policy's decision"),
            ('"action_description": "idea 1"', '"action_description": "better"', "stated once"),
        ],
    )
    def test_what_has_a_record_is_refused(self, rendered, old, new, match):
        """Numbers, decisions, hypotheses."""
        path = edit(rendered.workspace.layout.memory_file(1), old, new)
        refused(rendered, path, FieldRefusedError, match)

    def test_removed_words_are_refused(self, rendered):
        """What was said stays said."""
        path = rendered.workspace.layout.memory_file(3)
        adopt_file(change(path, open_directions=[{"direction": "persist", "rationale": ""}]), "ann")
        change(path, open_directions=[])
        refused(rendered, path, AdoptRefusedError, "changed or removed")

    def test_broken_files_are_refused(self, rendered):
        """NaN, wrong types, a lost header."""
        path = rendered.workspace.layout.memory_file(1)
        text = path.read_text()
        edit(path, "31.6228", "NaN")
        refused(rendered, path, MemoryFileError, "NaN")
        path.write_text(text.replace('"git_commit_hash": "', '"git_commit_hash": 12, "x": "'))
        refused(rendered, path, MemoryFileError, "field")
        path.write_text("{}\n")
        refused(rendered, path, BadInput, "header")

    def test_an_edit_of_a_stale_file_is_compared_with_what_it_was(self, rendered, registry):
        """The journal went on meanwhile; only the person's words are taken."""
        path = rendered.workspace.layout.memory_file(3)
        rendered.say("memory_noted", '{"direction": "other"}', version=3, field="open_directions", by="bob")
        adopt_file(change(path, open_directions=[{"direction": "persist", "rationale": ""}]), "ann")
        said = [one.direction for one in read_memory(rendered.workspace).get(3).open_directions]
        assert said == ["other", "persist"]
        render_workspace(rendered.workspace)
        assert clean(rendered, registry)


class TestText:
    def test_added_lines_stay(self, rendered, registry):
        """In a report, and once more after that."""
        path = rendered.workspace.layout.logs / "optimize.md"
        path.write_text(path.read_text() + "\nAsk the model team first.\n")
        adopt_file(path, "ann")
        path.write_text(path.read_text() + "They said yes.\n")
        adopt_file(path, "bob")
        text = path.read_text()
        assert "Ask the model team first.\n\n(added by ann" in text and "They said yes.\n\n(added by bob" in text
        assert clean(rendered, registry)

    def test_added_lines_of_a_readme_block_stay(self, rendered, registry):
        """Also when the targets change later."""
        readme = edit(rendered.workspace.layout.readme, "- `kb lookup", "- my own profiler wrapper\n- `kb lookup")
        done = adopt_file(readme, "ann")
        assert (done.events[0].data.block, rendered.store.get(done.events[0].data.blob)) == (
            "tools", b"- my own profiler wrapper\n",
        )  # fmt: skip
        assert "(added by ann, event" in readme.read_text()
        assert clean(rendered, registry)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("| round-2 | ACCEPTED", "| round-2 | ROLLBACK"),
            ("| round-3 |", "| round-9 |"),
            ("# Performance trend\n", ""),
        ],
    )
    def test_changed_lines_are_refused_with_their_number(self, rendered, old, new):
        """They are rendered from records."""
        path = edit(rendered.workspace.layout.logs / "performance_trend.md", old, new)
        refused(rendered, path, AdoptRefusedError, r"logs/performance_trend.md:\d+: .*rendered from the journal")

    @pytest.mark.parametrize(
        "line",
        [
            "| round-9 | ACCEPTED |",
            "It takes 12.5 us.",
            "We reach 93% now.",
            "1.9 TB/s",
            "<!-- kb:end x -->",
            "2.1x faster",
        ],
    )
    def test_added_numbers_without_a_record_are_refused(self, rendered, line):
        """And rows of tables, and markers."""
        path = rendered.workspace.layout.logs / "optimize.md"
        path.write_text(path.read_text() + f"\n{line}\n")
        refused(rendered, path, AdoptRefusedError, r"logs/optimize.md:\d+: ")

    @pytest.mark.parametrize("block", sorted(FIXED_BLOCKS))
    def test_targets_and_sourced_values_are_refused(self, rendered, block):
        """Whatever was changed in those blocks."""
        readme = edit(rendered.workspace.layout.readme, f"<!-- kb:end {block} -->", f"- mine\n<!-- kb:end {block} -->")
        refused(rendered, readme, AdoptRefusedError, f"block {block} can't be edited")

    def test_nothing_to_adopt(self, rendered):
        """Unedited, or only blank lines."""
        path = rendered.workspace.layout.logs / "optimize.md"
        refused(rendered, path, BadInput, "nothing that is not in the record")
        refused(rendered, rendered.workspace.layout.readme, BadInput, "nothing that is not in the record")
        path.write_text(path.read_text() + "\n\n")
        refused(rendered, path, BadInput, "blank lines")
        path.write_bytes(path.read_bytes() + b"\xff\n")
        refused(rendered, path, BadInput, "not UTF-8")


class TestAuthored:
    def test_an_authored_file_is_captured(self, rendered):
        """Once; again only when it changed; the file stays as it is."""
        plan = rendered.workspace.layout.plan_file(4)
        plan.write_text("# Plan\n")
        done = adopt_file(plan, "ann")
        assert (done.path, rendered.store.get(done.events[0].data.blob)) == ("plans/v4_plan.md", b"# Plan\n")
        refused(rendered, plan, BadInput, "nothing that is not in the record")
        plan.write_text("# Plan 2\n")
        assert len(adopt_file(plan, "ann").events) == 1

    @pytest.mark.parametrize("name", ["journal.jsonl", "objects/x", ".gitignore", ".git/config"])
    def test_kb_s_own_files_are_never_adopted(self, rendered, name):
        """They are no texts of people."""
        with pytest.raises(AdoptRefusedError, match="belongs to kb"):
            adopt_file(rendered.workspace.layout.root / name, "ann")

    def test_files_that_can_not_be_read(self, rendered, tmp_path):
        """Missing, a link, too large, outside."""
        root = rendered.workspace.layout.root
        (root / "link.md").symlink_to("/etc/hostname")
        (root / "big.txt").write_bytes(b"x" * (1 << 20) + b"x")
        for name, match in (("none.md", "no such file"), ("link.md", "can't be read"), ("big.txt", "more than")):
            with pytest.raises(BadInput, match=match):
                adopt_file(root / name, "ann")
        with pytest.raises(LayoutError, match="no folder above it"):
            find_workspace(tmp_path / "elsewhere.md")
