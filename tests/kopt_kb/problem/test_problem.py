"""A problem is checked once, when it is made or read."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.problem import Problem, recorded_problem
from kopt_kb.problem.tolerances import Tolerance


def test_a_problem_reads_back_from_json_as_written():
    """Options and tolerance included."""
    tolerance = Tolerance(Fraction("3e-3"), Fraction("1e-2"), "agreed with the owner")
    one = Problem.of("attention", ["1x8x128x64"], "fp16", options={"causal": "true"}, tolerance=tolerance)
    assert recorded_problem(json.loads(json.dumps(one.to_json()))) == one
    assert dict(one.options)["causal"] is True


def test_the_tolerance_is_that_of_the_storage_type_unless_given():
    """bf16 allows 1 %."""
    assert Problem.of("softmax", ["2x3"], "bf16").tolerance.rel_l2_err == Fraction(1, 100)


def test_work_is_counted_for_each_shape_in_order():
    """Two shapes, two pieces of work."""
    found = Problem.of("rmsnorm", ["8192x4096", (16384, 8192)], "bf16").works()
    assert [one.shape for one in found] == [(8192, 4096), (16384, 8192)]


@pytest.mark.parametrize(
    ("op", "shapes", "options", "complaint"),
    [
        ("rms_norm", [], {}, "at least one shape"),
        ("rms_norm", ["2x3", "2x3"], {}, "given twice"),
        ("rms_norm", ["2x3", "2"], {}, "1 dimensions"),
        ("reduction", ["2x3"], {"axis": 2}, "axis 2"),
        ("grouped_gemm", ["8x4x4"], {"groups": "3,4"}, "groups sum to 7"),
    ],
)
def test_a_problem_that_can_not_be_counted_is_refused(op, shapes, options, complaint):
    """Every shape must have countable work."""
    with pytest.raises(BadInput, match=complaint):
        Problem.of(op, shapes, "bf16", options=options)
