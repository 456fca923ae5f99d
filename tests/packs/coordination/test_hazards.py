"""What keeps a callable from being captured, by its text."""

from __future__ import annotations

import pytest

from kopt_kb.packs.coordination.hazards import hazards_of


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("n = x.sum().item()", "reads the host"), ("y = x.cpu()", "reads the host"), ("y = x.to('cpu')", "reads the host"),
        ("torch.cuda.synchronize()", "synchronizes"), ("e.synchronize()", "synchronizes"),
        ("y = x.nonzero()", "dynamic shape"), ("y = torch.where(x > 0)", "dynamic shape"),
        ("y = x[x > 0]", "dynamic shape"), ("if x.sum() > 0:\n        x = -x", "data-dependent branch"),
        ("while not x.isnan().any():\n        x = x * 2", "data-dependent branch"), ("print(x)", "host side effect"),
        ("s = torch.cuda.Stream()", "own stream"), ("p = random.random()", "host randomness"),
        ("y = torch.tensor([1.0])", "host copy"), ("g = torch.cuda.CUDAGraph()", "capture inside"),
        ("global N\n    N = 1", "host side effect"),
    ],
)  # fmt: skip
def test_each_hazard(body: str, kind: str) -> None:
    """With its line."""
    source = f"import random\nimport torch\ndef forward(x):\n    {body}\n    return x\n"
    found = hazards_of(source.encode(), "forward")
    assert [one.kind for one in found] == [kind]
    assert found[0].line == 4


@pytest.mark.parametrize(
    "body",
    ["y = x @ x.t()", "if x.shape[0] > 4:\n        x = x * 2", "y = torch.where(x > 0, x, -x)", "y = x.to(torch.bfloat16)",
     "if x.max().dtype == torch.float32:\n        x = x * 2", "y = torch.empty_like(x)"],
)  # fmt: skip
def test_what_is_harmless(body: str) -> None:
    """Layout is known at capture."""
    assert hazards_of(f"import torch\ndef forward(x):\n    {body}\n    return x\n".encode(), "forward") == ()


def test_callees_and_classes_are_followed() -> None:
    """Only what the callable reaches counts."""
    source = b"""
def helper(x):
    return x.item()
def unused(x):
    return x.cpu()
class Model:
    def forward(self, x):
        return helper(x)
"""
    assert [one.function for one in hazards_of(source, "Model")] == ["helper"]
    assert len(hazards_of(source)) == 2
    with pytest.raises(KeyError):
        hazards_of(source, "other")
