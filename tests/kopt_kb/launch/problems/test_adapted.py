"""Which function of a candidate is called, and what a result may be."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.launch.problems.adapted import Places, entry_of, tensors_of, torch_dtype  # noqa: E402
from tests.kopt_kb.launch.problems.conftest import candidate  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("def run(x): ...\ndef other(x): ...", "", "run"),
        ("def launch(x): ...\ndef run(x): ...", "", "launch"),
        ("def norm(x): ...\ndef _helper(x): ...", "", "norm"),
        ("def run(x): ...\ndef norm(x): ...", "norm", "norm"),
    ],
)
def test_the_function_that_is_called(tmp_path, text, wanted, found):
    """A usual name, the only one, or the one the problem names."""
    assert entry_of(candidate(text, tmp_path / "c.py"), wanted).__name__ == found


@pytest.mark.parametrize(
    ("text", "wanted"), [("def a(x): ...\ndef b(x): ...", ""), ("x = 1", ""), ("def run(): ...", "no")]
)
def test_nothing_is_guessed(tmp_path, text, wanted):
    """Two could be meant, none is there, or it has another name."""
    with pytest.raises(BadInput):
        entry_of(candidate(text, tmp_path / "c.py"), wanted)


def test_places_hold_no_tensors():
    """What is kept of a call are its scalars; tensors go with whoever made them."""
    x, y = torch.ones(2), torch.zeros(2)
    places = Places((x, 3, y), (2,))
    assert (places.tensors, places.count) == (2, 3)
    assert places.filled((y, x)) == (y, 3, x)
    assert x not in vars(places).values()


def test_results_and_types():
    """Several results in order; a type in every spelling."""
    x = torch.ones(1)
    assert tensors_of({"a": x, "b": 3}) == (x,)
    assert tensors_of(None) == ()
    assert torch_dtype("fp8") == torch.float8_e4m3fn
    with pytest.raises(BadInput):
        torch_dtype("float4_e2m1")
