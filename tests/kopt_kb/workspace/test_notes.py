"""Additional Notes of a README are added to, and nothing else of it changes; notes of the journal are blobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.notes import add_note, add_readme_notes


def test_notes_are_added(tmp_path: Path) -> None:
    """The word none goes; what was there stays."""
    layout = Layout(tmp_path)
    layout.readme.write_text("# a\n\n## Additional Notes\n\nnone\n\n## Tools\n\nx\n")
    add_readme_notes(layout, "no atomics")
    add_readme_notes(layout, "rows are sorted")
    assert layout.readme.read_text() == "# a\n\n## Additional Notes\n\nno atomics\n\nrows are sorted\n\n## Tools\n\nx\n"


@pytest.mark.parametrize("text", ["", "<!-- kb:begin a -->", "## Target"])
def test_what_would_break_the_readme(tmp_path: Path, text: str) -> None:
    """Is refused, as is a README without the section."""
    layout = Layout(tmp_path)
    layout.readme.write_text("# a\n")
    with pytest.raises(BadInput):
        add_readme_notes(layout, text)
    with pytest.raises(BadInput, match="no section"):
        add_readme_notes(layout, "words")


def test_notes_are_blobs(played) -> None:
    """Bytes of any kind, but not nothing."""
    event = add_note(played.workspace, "tip", b"wide \xff loads", "ann")
    assert played.store.get(event.data.text) == b"wide \xff loads"
    with pytest.raises(BadInput, match="empty"):
        add_note(played.workspace, "tip", b" \n", "ann")
