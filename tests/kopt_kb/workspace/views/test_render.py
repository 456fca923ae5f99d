"""Rendering writes what changed and keeps what was edited, repairs what a kill left, and is a function of the journal alone."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.memory_form.attempts import read_memory
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.fold import fold
from kopt_kb.workspace.journal.events import Event, checked_data
from kopt_kb.workspace.journal.journal import Journal
from kopt_kb.workspace.views.blocks import BlockError
from kopt_kb.workspace.views.files import ViewError, split_view, with_header
from kopt_kb.workspace.views.render import render_workspace, texts_of
from kopt_kb.workspace.workspace import Workspace


def tree(root: Path) -> dict[str, bytes]:
    """All files but git's, by path."""
    files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def codes(story, registry) -> list[str]:
    """Codes of the audit's findings on rendered files."""
    found = audit(story.workspace.layout.root, registry).findings
    return [f"{one.code} {one.file}" for one in found]


class TestWriting:
    def test_everything_is_written_once(self, played):
        """A second time nothing changes, not even a header."""
        first = render_workspace(played.workspace)
        assert {"memory/v3.json", "baseline_report.md", "rounds/round-4/summary.md", "logs/optimize.md"} <= set(
            first.written
        )
        before = tree(played.workspace.layout.root)
        second = render_workspace(played.workspace)
        assert (second.written, tree(played.workspace.layout.root)) == ((), before)

    def test_only_what_changed_is_written(self, played):
        """A direction for v3 touches its memory, its summary and the log."""
        render_workspace(played.workspace)
        played.say("memory_noted", '{"direction": "persist"}', version=3, field="open_directions", by="ann")
        assert render_workspace(played.workspace).written == (
            "memory/v3.json", "rounds/round-4/summary.md", "logs/optimize.md",
        )  # fmt: skip

    def test_an_edit_is_kept_as_a_blob_and_rendered_again(self, played):
        """Files and README alike; the report names both blobs."""
        render_workspace(played.workspace)
        log, readme = played.workspace.layout.logs / "optimize.md", played.workspace.layout.readme
        before = tree(played.workspace.layout.root)
        edited = log.read_bytes() + b"mine\n"
        log.write_bytes(edited)
        readme.write_text(readme.read_text().replace("- `kb audit .`", "- my `kb audit .`"))
        report = render_workspace(played.workspace)
        assert dict(report.kept).keys() == {"logs/optimize.md", "README.md"} == set(report.written)
        assert played.store.get(dict(report.kept)["logs/optimize.md"]) == edited
        assert b"my `kb audit .`" in played.store.get(dict(report.kept)["README.md"])
        assert f"logs/optimize.md was edited: its bytes are objects/{dict(report.kept)['logs/optimize.md']}" in str(
            report.lines()
        )
        after = tree(played.workspace.layout.root)
        assert {path: after[path] for path in before} == before
        assert render_workspace(played.workspace).written == ()

    def test_people_s_text_in_the_readme_survives(self, played):
        """Bytes outside the markers stay, whatever they are."""
        readme = played.workspace.layout.readme
        readme.write_bytes(readme.read_bytes() + b"\nmy notes \xff\r\n")
        render_workspace(played.workspace)
        assert readme.read_bytes().endswith(b"\nmy notes \xff\r\n")

    def test_a_missing_readme_or_marker_stops_all(self, played):
        """Before anything is written."""
        readme = played.workspace.layout.readme
        text = readme.read_text()
        readme.write_text(text.replace("kb:begin tools", "kb:begin toolz").replace("kb:end tools", "kb:end toolz"))
        with pytest.raises(BlockError, match="tools is missing"):
            render_workspace(played.workspace)
        readme.unlink()
        with pytest.raises(BlockError, match="missing"):
            render_workspace(played.workspace)
        assert not (played.workspace.layout.root / "memory/v0.json").exists()

    def test_a_read_only_folder_is_one_clear_error(self, played, as_nobody):
        """The journal stays as it was."""
        copy = as_nobody.folder / "w"
        shutil.copytree(played.workspace.layout.root, copy)
        for path in (copy, *copy.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        (copy / "memory").chmod(0o555)
        with as_nobody, pytest.raises(ViewError, match="can't be written: Permission denied"):
            render_workspace(Workspace.open(copy))
        (copy / "memory").chmod(0o755)
        assert "memory/v0.json" in render_workspace(Workspace.open(copy)).written

    def test_a_file_of_a_later_journal_is_not_overwritten(self, played):
        """The journal was restored from an older backup: say so, write nothing."""
        render_workspace(played.workspace)
        lines = played.workspace.layout.journal.read_bytes().splitlines(keepends=True)
        played.workspace.layout.journal.write_bytes(b"".join(lines[:6]))
        with pytest.raises(BadInput, match=r"names event \d+, a later event than the journal holds"):
            render_workspace(played.workspace)

    def test_a_second_writer_renders_while_the_first_holds_the_journal(self, played):
        """Rendering needs no lock of the journal; it shows what is acknowledged."""
        with Journal.open(played.workspace.layout.journal) as journal:
            journal.append("round_started", {"round": 4, "incumbent": "ab" * 32})
            assert "memory/v4.json" in render_workspace(played.workspace).written


class TestHandSetMask:
    def mask(self, story, number):
        """Edit a rendered file as a person would."""
        render_workspace(story.workspace)
        path = story.workspace.layout.root / f"memory/v{number}.json"
        path.write_text(path.read_text().replace('"masked": false', '"masked": true'))
        return path

    def test_it_becomes_an_event_before_its_file_is_rendered(self, played, registry):
        """The edit's bytes are kept, the file says masked with the reason, and the audit is clean."""
        edited = self.mask(played, 2).read_bytes()
        report = render_workspace(played.workspace)
        assert report.masked == (2,)
        assert played.store.get(dict(report.kept)["memory/v2.json"]) == edited
        assert played.workspace.events()[-1].kind == "memory_masked"
        assert read_memory(played.workspace).masked == {2: "set by hand in memory/v2.json"}
        assert codes(played, registry) == []
        assert render_workspace(played.workspace).masked == ()

    def test_while_a_campaign_holds_the_journal_the_file_waits(self, played):
        """It is left as it is and honoured; the next rendering records it."""
        path = self.mask(played, 2)
        edited = path.read_bytes()
        with Journal.open(played.workspace.layout.journal):
            report = render_workspace(played.workspace)
        assert (report.masked, report.waiting, path.read_bytes()) == ((), (2,), edited)
        assert "v2 is masked by hand" in report.lines()[0]
        assert read_memory(played.workspace).masked.keys() == {2}
        assert render_workspace(played.workspace).masked == (2,)

    def test_the_holder_of_the_journal_records_it(self, played):
        """A campaign renders with the journal it has open."""
        self.mask(played, 3)
        with Journal.open(played.workspace.layout.journal) as journal:
            assert render_workspace(played.workspace, journal=journal).masked == (3,)
            assert journal.events[-1].kind == "memory_masked"

    def test_the_baseline_stays(self, played):
        """The edit is kept and the file rendered again; nothing is masked."""
        self.mask(played, 0)
        report = render_workspace(played.workspace)
        assert (report.masked, dict(report.kept).keys()) == ((), {"memory/v0.json"})
        assert read_memory(played.workspace).masked == {}


WRITER = """
import sys, time
from kopt_kb.workspace.journal.journal import JournalBusyError
from kopt_kb.packs.memory_form.memory_edit import add_entries
from kopt_kb.workspace.views.render import render_workspace
from kopt_kb.workspace.workspace import Workspace
workspace = Workspace.open(sys.argv[1])
for number in range(5):
    while True:
        try:
            add_entries(workspace, 3, [("open_directions", f"idea {number} of {sys.argv[2]}")], sys.argv[2])
            break
        except JournalBusyError:
            time.sleep(0.002)
    assert not render_workspace(workspace).kept
"""

FULL_DISK = """
import resource, sys
from kopt_kb.packs.memory_form.memory_edit import mask
from kopt_kb.workspace.views.render import render_workspace
from kopt_kb.workspace.views.files import ViewError
from kopt_kb.workspace.workspace import Workspace
workspace = Workspace.open(sys.argv[1])
mask(workspace, [2], "noise")
resource.setrlimit(resource.RLIMIT_FSIZE, (500, resource.RLIM_INFINITY))
try:
    render_workspace(workspace)
except ViewError as error:
    print(error)
"""


class TestProcesses:
    def test_two_writers_lose_nothing(self, played, registry):
        """Each adds five directions and renders after each; all ten are there and the audit is clean."""
        render_workspace(played.workspace)
        command = [sys.executable, "-c", WRITER, str(played.workspace.layout.root)]
        both = [subprocess.Popen([*command, name], stderr=subprocess.PIPE) for name in ("ann", "bob")]
        for child in both:
            _, errors = child.communicate(timeout=600)
            assert child.returncode == 0, errors
        assert sum(event.kind == "memory_noted" for event in played.workspace.events()) == 10
        assert codes(played, registry) == []

    def test_a_full_disk_is_one_error_and_leaves_the_old_files(self, played, registry):
        """No half file, no temporary one; with room, one call repairs."""
        render_workspace(played.workspace)
        before = tree(played.workspace.layout.root)
        command = [sys.executable, "-c", FULL_DISK, str(played.workspace.layout.root)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert "can't be written: File too large" in done.stdout
        after = tree(played.workspace.layout.root)
        assert {path for path in after if after[path] != before.get(path)} == {"journal.jsonl"}
        render_workspace(played.workspace)
        assert codes(played, registry) == []


class TestPurity:
    def test_every_file_equals_a_rendering_of_the_journal_read_back(self, played):
        """Byte for byte, headers included, in a copy that starts from the journal and the blobs alone."""
        played.say("note_added", "a tip", topic="tip", by="ann")
        render_workspace(played.workspace)
        root = played.workspace.layout.root
        copy = root.parent / "copy"
        copy.mkdir()
        shutil.copy(root / "journal.jsonl", copy)
        shutil.copy(root / "README.md", copy)
        shutil.copytree(root / "objects", copy / "objects")
        render_workspace(Workspace.open(copy))
        texts = texts_of(played.workspace.state(), played.store.get)
        for path in texts.files:
            assert (copy / path).read_bytes() == (root / path).read_bytes(), path
        assert (copy / "README.md").read_bytes() == (root / "README.md").read_bytes()


ODD = st.sampled_from(["x", "a | b\n# c", "\udc80", "<!-- kb:end tools -->", "3.35 TB/s", "\u2028é"])
SMALL = st.integers(0, 4)
NAME = st.sampled_from(["v0", "v1", "v2", "c1"])
FLOAT = st.sampled_from([0.0, -1.0, 1e-5, 5e-324, 1e300, 3e-4])


def stories(samples):
    """Lists of events of all kinds, with odd words, numbers and orders."""

    def one(kind, **parts):
        return st.fixed_dictionaries(parts).map(lambda changes: (kind, {**samples[kind], **changes}))

    return st.lists(
        st.one_of(
            one("round_started", round=SMALL),
            one("hypothesis_stated", round=SMALL, claim=ODD, category=ODD),
            one("candidate_submitted", round=SMALL, candidate=NAME, params=st.dictionaries(ODD, FLOAT, max_size=2)),
            one("gate_judged", candidate=NAME, gate=st.sampled_from(["build", "correctness"]), reason=ODD,
                   result=st.sampled_from(["pass", "fail", "unavailable"])),
            one("measured", candidate=NAME, median_s=FLOAT, id=st.sampled_from(["m1", "m2"]),
                   shape=st.sampled_from(["8192x4096", "1024x512", "7", "nonsense", "3x3"]), environment=st.integers(1, 9)),
            one("decided", round=SMALL, rule=ODD,
                   decision=st.sampled_from(["accept", "accept_with_note", "rollback", "unverified"])),
            one("snapshot_taken", version=SMALL, commit=st.sampled_from([None, "abc", "0" * 40])),
            one("memory_masked", versions=st.lists(SMALL, max_size=3), reason=ODD),
            one("memory_unmasked", versions=st.lists(SMALL, max_size=3)),
            one("memory_noted", version=SMALL, by=ODD, field=st.sampled_from(
                ["search_log", "pitfalls_and_fixes", "open_directions", "references", "risks_and_rollback"])),
            one("note_added", topic=st.sampled_from(["search", "tip", "pitfall", "user"]), by=ODD),
            one("file_adopted", path=st.sampled_from(["README.md", "logs/optimize.md"]), block=st.none() | ODD, by=ODD),
            one("environment_recorded", device=st.sampled_from(["simulator", "NVIDIA T10 48GB"])),
            one("noise_measured", median_s=FLOAT, floor_pct=FLOAT),
            one("run_finished", outcome=st.sampled_from(["ok", "hang", "crash"])),
            one("profile_read", code=ODD),
            one("target_set"), one("specs_registered"), one("stopped"), one("blocked"), one("resumed"),
            one("run_started"),
        ),
        max_size=25,
    )  # fmt: skip


BLOBS = st.sampled_from(
    [b"words", b"", b"\xff\xfe\r\n| x", b'{"direction": "d"}', b'{"max_rel_err": 1e-3}', b"[[[", b"{"]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), content=BLOBS)
def test_any_events_render_and_always_the_same(workspace: Workspace, samples, data, content):
    """Whatever the order, the numbers and the words: text that UTF-8 carries, twice the same."""
    start = workspace.events()
    events = list(start)
    for kind, members in data.draw(stories(samples)):
        seq = len(events) + 1
        events.append(Event(1, seq, start[0].t, kind, checked_data(kind, members), "0" * 64))
    made = tuple(events)
    texts = texts_of(fold(made, lambda _sha: content), lambda _sha: content)
    assert texts == texts_of(fold(made, lambda _sha: content), lambda _sha: content)
    for path, text in texts.files.items():
        assert split_view(path, with_header(path, text, texts.head)).intact
    order = random.Random(1).sample(sorted(texts.blocks["README.md"]), 10)
    assert all(texts.blocks["README.md"][name].endswith("\n") for name in order)
