"""Kernel names without marks."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.readers.amd.amd_names import plain_name


@pytest.mark.parametrize("mark", ["", " [clone .kd]", " (.kd)", ".kd"])
def test_marks_of_the_tools_are_taken_off(mark):
    """All spellings give one name."""
    assert plain_name(f"void f<int>(int*){mark}") == "void f<int>(int*)"


def test_a_mark_inside_a_name_stays():
    """Only the end is looked at."""
    assert plain_name("a.kd_b") == "a.kd_b"
