"""A conflict says where, why and what to do; a difference says which byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.errors import ExitCode
from kopt_kb.workspace.views.conflict import Conflict, Difference, first_difference, unified_diff


def test_the_error_names_file_line_and_both_ways_out():
    """Exit code 1: a finding, not bad input."""
    error = Conflict(Path("w/README.md"), "targets", 7, "the block was edited by hand", "").error()
    assert error.exit_code is ExitCode.FINDING
    assert error.where == "w/README.md:7"
    assert "kb adopt w/README.md" in error.fix
    assert "kb render --discard w/README.md" in error.fix


@pytest.mark.parametrize(
    ("expected", "found", "difference"),
    [
        (b"a\nb\n", b"a\nb\n", None),
        (b"a\nbc\n", b"a\nbd\n", Difference(3, 2, "bc", "bd")),
        (b"a\n", b"a\nb", Difference(2, 2, "", "b")),
        (b"ab", b"a", Difference(1, 1, "ab", "a")),
        (b"", b"\xff", Difference(0, 1, "", "\ufffd")),
    ],
)
def test_the_first_differing_byte_and_its_line(expected, found, difference):
    """Offsets count from 0, lines from 1."""
    assert first_difference(expected, found) == difference


def test_the_diff_goes_from_the_rendering_to_the_disk():
    """Minus is what kb would write, plus is what stands there; a missing final newline is said."""
    diff = unified_diff(b"a\nb\n", b"a\nc", "targets", Path("R"))
    assert diff == ("--- rendered targets\n+++ R on disk\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n")
