"""A view of a stranger's pack is rendered, compared, kept where edited and swept; one that fails harms no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kopt_kb.doors.loop_part import LoopPart
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.table import PackFault, packs
from kopt_kb.doors.view import View
from kopt_kb.workspace.anchors import latest_view
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.journal.disk import TEMPORARY_PREFIX
from kopt_kb.workspace.layout import create_workspace
from kopt_kb.workspace.views.brought import (
    brought_texts,
    headed_files,
    is_rendered,
    raw_files,
    rendered_files,
    written_folders,
)
from kopt_kb.workspace.views.files import ViewError
from kopt_kb.workspace.views.render import render_workspace, texts_of

PAGE = "diary/day-1/page.md"


def _texts(state, _blob) -> dict[str, str]:
    lines = (f"- v{number}{' masked' if number in state.masked else ''}\n" for number in state.attempts)
    return {PAGE: "# Diary\n\n" + "".join(lines)}


def _masks(root: Path, _state) -> dict[int, str]:
    page = root / PAGE
    marked = re.search(r"^- v(\d+) MASK$", page.read_text(), re.MULTILINE) if page.is_file() else None
    return {int(marked[1]): PAGE} if marked else {}


def _pack(texts=_texts, name="strange", **options) -> Pack:
    options.setdefault("patterns", ("diary/day-*/page.md",))
    view = View(name="diary", what="a diary", texts=texts, **options)
    return Pack(name, "a stranger's", loop_parts=(LoopPart("diary", "a diary", views=(view,)),))


STRANGE = _pack(folders=("diary",), raw=lambda *_: {"diary/raw.bin": b"\0\1"}, hand_masks=_masks)


def _fails(*_: object) -> dict[str, str]:
    raise ZeroDivisionError("no day")


def test_a_strange_view_is_rendered_audited_and_kept_when_edited(played, registry, only_packs) -> None:
    """Text and bytes alike; the edit is named by the audit, and `kb render` keeps its bytes."""
    only_packs(STRANGE)
    root = played.workspace.layout.root
    report = render_workspace(played.workspace)
    assert set(report.written) == {PAGE, "diary/raw.bin"}
    assert audit(root, registry).clean
    edited = (root / PAGE).read_bytes() + b"mine\n"
    (root / PAGE).write_bytes(edited)
    (root / "diary" / "raw.bin").write_bytes(b"\2")
    assert [(one.code, one.file) for one in audit(root, registry).findings] == [
        ("edited-view", PAGE), ("edited-view", "diary/raw.bin"),
    ]  # fmt: skip
    kept = dict(render_workspace(played.workspace).kept)
    assert {path: played.store.get(sha) for path, sha in kept.items()} == {PAGE: edited, "diary/raw.bin": b"\2"}
    assert audit(root, registry).clean


def test_a_mask_set_by_hand_in_a_strange_file_becomes_an_event(played, only_packs) -> None:
    """It names the file; the file then shows it as the view does."""
    only_packs(STRANGE)
    render_workspace(played.workspace)
    page = played.workspace.layout.root / PAGE
    page.write_text(page.read_text().replace("- v2\n", "- v2 MASK\n"))
    assert render_workspace(played.workspace).masked == (2,)
    assert played.workspace.state().masked == {2: f"set by hand in {PAGE}"}
    assert "- v2 masked\n" in page.read_text()


def test_a_view_is_asked_for_where_it_applies(played, only_packs) -> None:
    """Neither its texts nor its bytes are there elsewhere."""
    only_packs(_pack(applies=lambda _: False, raw=_fails))
    assert PAGE not in texts_of(played.workspace.state(), played.store.get).files
    assert raw_files(played.workspace.state(), played.store.get) == {}


def test_a_view_that_fails_is_said_and_the_others_are_rendered(played, registry, only_packs) -> None:
    """With its pack and its error; the audit is clean and notes it."""
    only_packs(_pack(_fails, "broken"), STRANGE)
    report = render_workspace(played.workspace)
    assert PAGE in report.written
    assert report.lines() == ["the pack broken can't render its view diary: ZeroDivisionError: no day"]
    done = audit(played.workspace.layout.root, registry)
    assert done.clean and [one.code for one in done.notes if one.code != "other-wiki"] == ["unrendered"]
    only_packs(_pack(raw=_fails))
    with pytest.raises(ViewError, match="the pack strange can't render"):
        raw_files(played.workspace.state(), played.store.get)
    assert "unrendered" in [one.code for one in audit(played.workspace.layout.root, registry).notes]


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "journal.jsonl",
        "kernel.py",
        "plans/v1.md",
        "/etc/x.md",
        "../x.md",
        "a/../../x.md",
        ".git/x.md",
        "a.csv",
        "",
    ],
)
def test_a_view_writes_its_own_files(played, only_packs, path: str) -> None:
    """Not the truth, not what people write, not outside of the workspace, and nothing that has no header."""
    only_packs(_pack(lambda *_: {"diary/ok.md": "x\n", path: "x\n"}))
    brought = brought_texts(played.workspace.state(), played.store.get)
    assert brought.texts == {} and f"may not render {path}" in brought.faults[0]


def test_a_path_is_the_first_packs(played, only_packs) -> None:
    """The second pack that renders it is refused."""
    only_packs(STRANGE, _pack(name="late"))
    brought = brought_texts(played.workspace.state(), played.store.get)
    assert list(brought.texts) == [PAGE] and brought.faults[0].startswith("the pack late may not")


def test_places_of_views(played, only_packs, tmp_path) -> None:
    """Folders are made with a workspace, what killed writers left is swept, and a rendered file anchors the journal."""
    only_packs(STRANGE)
    assert (create_workspace(tmp_path, "other", lambda _: None).root / "diary").is_dir()
    layout = played.workspace.layout
    render_workspace(played.workspace)
    assert [path.relative_to(layout.root).as_posix() for path in rendered_files(layout)] == [PAGE]
    anchor = latest_view(layout)
    assert anchor is not None and anchor.name == PAGE
    left = layout.root / "diary" / "day-1" / f"{TEMPORARY_PREFIX}left"
    left.write_text("half")
    assert left.parent in written_folders(layout)
    render_workspace(played.workspace)
    assert not left.exists()
    assert (is_rendered(PAGE), is_rendered("logs/bench.md"), is_rendered("diary/other.md")) == (True, True, False)


def test_files_of_a_pack_that_is_absent_are_noted(played, registry, only_packs) -> None:
    """The audit stays clean and names what is not installed; with the pack there is nothing to say."""
    only_packs(STRANGE)
    render_workspace(played.workspace)
    assert [one.code for one in audit(played.workspace.layout.root, registry).notes] == ["other-wiki"]
    only_packs(faults=(PackFault("strange", "its modules are not installed", absent=True),))
    done = audit(played.workspace.layout.root, registry)
    assert done.clean
    (note,) = (one for one in done.notes if one.code != "other-wiki")
    assert (note.code, note.file) == ("unrendered", PAGE)
    assert "strange" in note.fix
    assert render_workspace(played.workspace).written == ()
    assert (played.workspace.layout.root / PAGE).is_file()


def test_everything_else_works_without_any_pack(played, registry, only_packs) -> None:
    """README blocks are rendered and compared; files of absent packs are left alone, and their count is said."""
    render_workspace(played.workspace)
    root = played.workspace.layout.root
    headed = set(headed_files(root))
    assert {"baseline_report.md", "memory/v0.json", "rounds/round-1/summary.md", "logs/optimize.md"} <= headed
    absent = [PackFault(name, "its modules are not installed", absent=True) for name in packs().usable]
    only_packs(faults=tuple(absent))
    memory = root / "memory" / "v0.json"
    memory.write_bytes(memory.read_bytes() + b"edited")
    done = audit(root, registry)
    assert done.clean and [one.code for one in done.notes if one.code != "other-wiki"] == ["unrendered"]
    readme = played.workspace.layout.readme
    readme.write_text(readme.read_text().replace("- `kb audit .`", "- my `kb audit .`"))
    assert [one.code for one in audit(root, registry).findings] == ["edited-block"]
    assert render_workspace(played.workspace).written == ("README.md",)
    assert memory.read_bytes().endswith(b"edited")


@pytest.mark.parametrize("path", ["journal.jsonl", "../out.bin", "/out.bin", ".git/config", "objects/aa"])
def test_a_raw_file_that_is_not_the_packs_is_refused(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """A pack may neither overwrite the journal nor leave the workspace."""
    from kopt_kb.doors.pack import Pack
    from kopt_kb.doors.view import View
    from kopt_kb.workspace.views import brought

    view = View("raw", "raw", ("raw/*",), lambda *_: {}, applies=lambda _: True, raw=lambda *_: {path: b"x"})
    monkeypatch.setattr(brought, "views", lambda: iter([(Pack("strange", "x"), view)]))
    with pytest.raises(brought.ViewError, match="the pack strange may not render"):
        brought.raw_files(None, None)  # type: ignore[arg-type]
