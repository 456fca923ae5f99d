"""Tips never offer what no training step keeps; whole campaigns are in test_naming."""

from __future__ import annotations

import pytest

from kopt_kb.packs.training_step.tips import praised_overfits, without_overfits


@pytest.mark.parametrize(
    ("line", "praised"),
    [
        ("- cache the quantized input by id(activation)", True),
        ("- keep weakref.ref(grad_out) and skip the work", True),
        ("- a fixed M_per_group lets the tile loop unroll", True),
        ("- anti-pattern, benchmark over-fit, do not retry: keyed on id(x)", False),
        ("- cache by (id(weight), weight._version), at most 1.8 %", False),
        ("- larger tiles reuse B", False),
    ],
)
def test_praise_and_warning(line: str, praised: bool) -> None:
    """A line that warns of it may stay."""
    text = f"# tips\n\n{line}\n- another\n"
    assert bool(praised_overfits(text)) == praised
    assert (line in without_overfits(text)) != praised
    assert "- another" in without_overfits(text)
