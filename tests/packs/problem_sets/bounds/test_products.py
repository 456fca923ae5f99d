"""Products of matrices: two that are part of one product have no least time of their own."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.packs.problem_sets.bounds.products import products_of  # noqa: E402
from kopt_kb.packs.problem_sets.bounds.traced import traced  # noqa: E402
from tests.packs.problem_sets.bounds.test_needed import problem  # noqa: E402

pytestmark = pytest.mark.torch
LIVE = frozenset({"input0", "input1", "input2"})


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda a, b, c: (a @ b).relu() @ c, ""),
        (lambda a, b, c: a @ b @ c, "mm follows it"),
        (lambda a, b, c: ((a @ b) * 2 + c).softmax(-1), ""),
        (lambda a, b, c: (a @ b).mean(0) + c, "mean follows it"),
        (lambda a, b, c: (a @ b)[:2] + c[:2], "slice follows it"),
        (lambda a, b, c: (a @ b).amax(1) + c, "amax follows it"),
    ],
)
def test_what_follows_a_product_decides(function, reason):
    found = products_of(traced(problem(function, (4, 4), (4, 4), (4, 4))), LIVE)
    assert found[0].left_out == reason


def test_a_product_of_inputs_that_were_not_shown_to_matter_is_left_out():
    found = traced(problem(lambda a, b: a @ b, (4, 4), (4, 4)))
    assert products_of(found, frozenset())[0].left_out
    assert not products_of(found, frozenset({"input0", "input1"}))[0].left_out
