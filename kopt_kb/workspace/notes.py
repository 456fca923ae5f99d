"""Adds to the section of README.md that belongs to people."""

from __future__ import annotations

from kopt_kb.errors import BadInput
from kopt_kb.workspace.journal.disk import read_regular, replace_file
from kopt_kb.workspace.layout import Layout

__all__ = ["add_readme_notes"]

_HEAD = "## Additional Notes"


def add_readme_notes(layout: Layout, text: str) -> None:
    """Add a paragraph to Additional Notes; the word none goes.

    Raises:
        BadInput: The README or the section is missing, the text holds a marker, or the file changed meanwhile.
    """
    where = str(layout.readme)
    old = read_regular(layout.readme)
    words = text.strip()
    if not words or "<!-- kb:" in words or words.startswith("#"):
        raise BadInput("these notes can't stand in a README", where="--notes", fix="give plain words", code="KB102")
    lines = (old or b"").decode("utf-8", "replace").split("\n")
    if _HEAD not in lines:
        raise BadInput(f"there is no section {_HEAD}", where=where, fix="put the heading back", code="KB306")
    at = lines.index(_HEAD) + 1
    end = next((n for n in range(at, len(lines)) if lines[n].startswith("## ")), len(lines))
    kept = "\n".join(lines[at:end]).strip()
    body = [words] if kept in {"", "none"} else [kept, "", words]
    new = "\n".join([*lines[:at], "", *body, "", *lines[end:]]).encode()
    if not replace_file(layout.readme, new, expected=old):
        raise BadInput("changed while it was written", where=where, fix="run it again", code="KB328")
