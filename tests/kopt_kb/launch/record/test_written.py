"""Parameters that stores may reach, of recorded IR."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.launch.record.written import written_parameters

DATA = Path(__file__).resolve().parents[3] / "data" / "ttir"


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*.3.6.0.ttir")))
def test_parameters_that_stores_reach(name: str) -> None:
    """Of every recorded kernel: something is written, and nothing that its name calls an input."""
    found = written_parameters((DATA / name).read_text())
    assert found
    assert not found & {"x_ptr", "a_ptr", "b_ptr", "q_ptr", "k_ptr", "v_ptr"}, found


def test_a_parameter_with_a_place_behind_each_is_known() -> None:
    """As Triton prints functions whose parameters have locations of their own."""
    ttir = """
tt.func public @kernel(%x: !tt.ptr<f16> loc("x"(#loc)), %y: !tt.ptr<f16> loc("y"(#loc))) attributes {noinline = false} {
  %0 = tt.load %x : !tt.ptr<f16> loc(#loc1)
  tt.store %y, %0 : !tt.ptr<f16> loc(#loc2)
}
"""
    assert written_parameters(ttir) == {"y"}
