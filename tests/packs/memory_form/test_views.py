"""The form is rendered through the door as it was by the core, and its files carry the names that its view declares."""

from __future__ import annotations

from kopt_kb.packs.memory_form.pack import PACK
from kopt_kb.packs.memory_form.views import form_texts
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.views.brought import is_rendered
from kopt_kb.workspace.views.render import texts_of


def test_the_form_is_all_files_of_a_plain_campaign(played) -> None:
    """A memory and a summary an attempt, the baseline's report, two logs; each under a name of the view."""
    state = played.workspace.state()
    files = form_texts(state, played.store.get)
    attempts = [f"memory/v{number}.json" for number in range(4)]
    attempts += [f"rounds/round-{number}/summary.md" for number in range(1, 5)]
    logs = ["baseline_report.md", "logs/optimize.md", "logs/performance_trend.md"]
    assert sorted(files) == sorted([*attempts, *logs])
    assert texts_of(state, played.store.get).files == files
    assert all(map(is_rendered, files))


def test_a_workspace_has_the_folders_of_the_form(played, only_packs) -> None:
    """With the pack alone; the core's are there without it."""
    root = played.workspace.layout.root
    assert {root / "memory", root / "rounds"} <= set(Layout(root).folders)
    only_packs()
    assert {folder.name for folder in Layout(root).folders} == {"objects", "plans", "notes", "profiles", "logs"}


def test_views_of_the_pack() -> None:
    """The manifest is of campaigns that have a name; masks are set in memory files."""
    (part,) = PACK.loop_parts
    assert [(view.name, view.hand_masks is not None, view.raw is not None) for view in part.views] == [
        ("memory", True, False), ("manifest", False, True),
    ]  # fmt: skip
