"""One floating type for all that a function names."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.launch.problems.one_float import in_one_float, with_floats  # noqa: E402

pytestmark = pytest.mark.torch


def casting(x):
    """As published references are written: down, up and back."""
    wide = x.to(torch.float32).half().float().to(dtype=torch.bfloat16)
    return (wide + torch.zeros(3) + torch.tensor(0.1)).to(x.dtype), torch.full((1,), 1.0, dtype=torch.float16)


def test_every_cast_is_to_the_one_type():
    """A third in bf16 would be off in the third digit."""
    with in_one_float(torch.float64):
        found, made = casting(torch.full((3,), 1 / 3, dtype=torch.float64))
    assert found.dtype == made.dtype == torch.float64
    assert abs(float(found[0]) - (1 / 3 + 0.1)) < 1e-16
    assert torch.get_default_dtype() == torch.float32


def test_narrow_types_and_integers_stay():
    """What was quantised on purpose is part of the problem."""
    eight = torch.ones(2).to(torch.float8_e4m3fn)
    given = (torch.ones(2, dtype=torch.float16), torch.ones(2, dtype=torch.int32), eight, 3)
    assert [getattr(one, "dtype", None) for one in with_floats(given, torch.float64)] == [
        torch.float64, torch.int32, torch.float8_e4m3fn, None,
    ]  # fmt: skip
    with in_one_float(torch.float64):
        assert torch.ones(2, dtype=torch.float64).to(torch.float8_e4m3fn).dtype == torch.float8_e4m3fn


def test_the_default_comes_back_after_a_failure():
    """A reference that raises leaves nothing behind."""
    with pytest.raises(ValueError, match="own"), in_one_float(torch.float64):
        raise ValueError("own")
    assert torch.get_default_dtype() == torch.float32
