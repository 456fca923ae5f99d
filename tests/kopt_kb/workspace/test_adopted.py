"""Lines people added stand at the end of their block or file, with author and event."""

from __future__ import annotations

from kopt_kb.workspace.adopted import README_VIEW, adopted_lines
from kopt_kb.workspace.attempts import attempts_of


def test_adopted_lines_by_path_and_block(story):
    """A file's under a heading, a block's without; others get none."""
    blob = story.store.put(b"ask the model team\n")
    seq = story.add("file_adopted", path="logs/optimize.md", block=None, blob=blob, by="ann")
    story.add("file_adopted", path="README.md", block="tools", blob=blob, by="ann")
    history = attempts_of(story.workspace.events())
    assert adopted_lines(history, "logs/optimize.md", None, story.store.get) == [
        "## Added by people", "", "ask the model team", "", f"(added by ann, event {seq})", "",
    ]  # fmt: skip
    assert adopted_lines(history, "README.md", "tools", story.store.get)[0] == "ask the model team"
    assert adopted_lines(history, "README.md", "inputs", story.store.get) == []


def test_the_readme_view_holds_all_blocks(story):
    """Each ends in one newline; an addition follows what is rendered."""
    before = README_VIEW.render(story.workspace.events(), story.store.get)
    assert len(before) == 10 and all(text.endswith("\n") for text in before.values())
    blob = story.store.put(b"- and my own tool\n")
    story.add("file_adopted", path="README.md", block="tools", blob=blob, by="ann")
    after = README_VIEW.render(story.workspace.events(), story.store.get)
    assert after["README.md#tools"].startswith(before["README.md#tools"])
    assert "- and my own tool" in after["README.md#tools"]
