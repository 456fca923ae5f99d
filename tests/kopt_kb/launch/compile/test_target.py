"""Claims about target names."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.compile.target import TARGETS, CompileTarget


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sm_90", CompileTarget("sm_90", "cuda", 90, 32)),
        ("sm_100a", CompileTarget("sm_100", "cuda", 100, 32)),
        ("gfx942", CompileTarget("gfx942", "hip", "gfx942", 64)),
        ("gfx1100", CompileTarget("gfx1100", "hip", "gfx1100", 32)),
        ("gfx1201", CompileTarget("gfx1201", "hip", "gfx1201", 32)),
    ],
)
def test_names_become_tritons_targets(name, expected):
    """A feature suffix is dropped, since Triton adds its own."""
    assert CompileTarget.parse(name) == expected


@pytest.mark.parametrize("name", ["", "sm90", "h100", "gfx11", "gfx1300", "sm_9"])
def test_other_names_are_refused_with_the_choices(name):
    """The error lists the tested targets."""
    with pytest.raises(BadInput, match="one of sm_80, sm_90"):
        CompileTarget.parse(name)


def test_all_tested_targets_parse():
    """The list and the parser agree."""
    assert [CompileTarget.parse(name).name for name in TARGETS] == list(TARGETS)
