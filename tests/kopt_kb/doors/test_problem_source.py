"""The door for forms of problems."""

from __future__ import annotations

from kopt_kb.doors.table import behind
from kopt_kb.launch.problems.find import sources


def test_our_own_form_goes_first() -> None:
    """Then those of packs, each by a name of its own."""
    names = [source.name for source in sources()]
    assert names[0] == "problem.toml"
    assert len(set(names)) == len(names)
    assert names[1:] == [source.name for _, source in behind("problem_sources")]


def test_a_suffix_has_a_point() -> None:
    """It is compared with that of a path."""
    assert all(source.suffix.startswith(".") for source in sources())
