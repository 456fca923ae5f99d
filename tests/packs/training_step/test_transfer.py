"""Eight training steps of files with caches, counted in a child."""

from __future__ import annotations

import pytest

from kopt_kb.packs.training_step.transfer import count_steps
from tests.packs.training_step.test_caches import W1

STEP = """
import torch
def quantize(w):
    return w * 2
def training_step(activation, weight, grad_out):
    out = activation @ quantized(weight)
    return out, grad_out @ quantized(weight).t()
"""


@pytest.mark.torch
@pytest.mark.parametrize(
    ("source", "said"),
    [
        (W1 + STEP, ""),
        (W1.replace("weight._version, ", "") + STEP, "found as it was"),
        (W1 + STEP.replace("quantized(weight)", "quantized(weight.clone())"), "another tensor"),
    ],
    ids=["weight", "stale", "recycled"],
)  # fmt: skip
def test_what_steps_count(source: str, said: str) -> None:
    """A weight's cache is found once a step; without its version it is stale; a freed
    tensor's id is another's."""
    found = count_steps({"op.py": source}, "op.py")
    assert said in found.refusal
    assert bool(found.refusal) == bool(said)
    if not said:
        assert (found.lookups, found.hits) == ((2,) * 8, (1,) * 8)


def test_a_file_without_steps_can_add_no_cache() -> None:
    """Nothing is run."""
    assert "training_step" in count_steps({"op.py": W1}, "op.py").refusal
