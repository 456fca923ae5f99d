"""What a reference file says of itself: shapes, results, counts; whatever its code does is an answer."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.launch.problems.find import read_problem  # noqa: E402
from kopt_kb.launch.problems.question import ReferenceRequest  # noqa: E402
from kopt_kb.packs.problem_sets.describe import described  # noqa: E402

pytestmark = pytest.mark.torch


def asked(path, tmp_path, dtype="bf16", shapes=()):
    """Ask about the problem at a path."""
    at = tmp_path / "asked.py"
    at.write_bytes(read_problem(path, dtype).text)
    return described(ReferenceRequest(str(at), shapes, dtype))


def test_a_kernelbench_problem_by_hand(bench_file, tmp_path):
    """x 8x32 with a 32x32 weight: 2*8*32*32 + the bias on the matrix engine of bf16; each byte once."""
    (one,) = asked(bench_file, tmp_path).shapes
    flops = {(f.dtype, f.engine): f.useful.value for f in one.flops}
    elements, rows = 8 * 32, 8
    # The bias, squares, their means, the sum with eps and the division.
    assert flops == {("bf16", "matrix"): 2 * elements * 32, ("fp32", "vector"): 4 * elements + rows}
    assert {s.function: s.count.value for s in one.special} == {"sqrt": rows}
    assert [b.compulsory.value for b in one.bytes] == [2 * (elements + 32 * 32 + 32), 2 * elements]
    assert [layout.name for layout in one.inputs] == ["x", "model.scale.weight", "model.scale.bias"]
    assert one.outputs[0].shape == (8, 32)


def test_casts_before_a_product_do_not_change_its_engine(rope_file, tmp_path):
    """A product after .float() of bf16 is work of the matrix engine; bytes are those of the types as published."""
    rope_file.with_name("rope.py").write_text(
        "def reference(x, cos, sin):\n    return (x.float() @ x.float().T).to(x.dtype)\n"
    )
    (one,) = asked(rope_file, tmp_path, shapes=((4, 8),)).shapes
    assert [(f.dtype, f.engine, f.useful.value) for f in one.flops] == [("bf16", "matrix", 2 * 4 * 4 * 8)]
    assert [b.compulsory.value for b in one.bytes] == [2 * 4 * 8, 2 * 4 * 4]


def test_a_reference_that_reads_values_runs_on_the_cpu(rope_file, tmp_path):
    """It is counted on one draw, and says so."""
    text = "def reference(x, cos, sin):\n    return x * 2 if x.sum().item() > -1e9 else x\n"
    rope_file.with_name("rope.py").write_text(text)
    (one,) = asked(rope_file, tmp_path, shapes=((4, 8),)).shapes
    assert not one.fake
    assert one.flops[0].useful.value == 31 + 32


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import torch\ndef reference(x, c, s):\n    return torch.nn.functional.dropout(x)\n", "draws random numbers"),
        ("def reference(x, c, s):\n    return 3\n", "no tensor"),
        ("def reference(x, c, s):\n    raise KeyError('gone')\n", "gone"),
        ("import no_such_package\ndef reference(x, c, s):\n    return x\n", "no_such_package"),
        ("def reference(x, c, s):\n    raise SystemExit(3)\n", "SystemExit"),
    ],
)
def test_what_its_code_does_is_an_answer(rope_file, tmp_path, text, says):
    """Never an exception of this side."""
    rope_file.with_name("rope.py").write_text(text)
    found = asked(rope_file, tmp_path, shapes=((4, 8),))
    assert says in found.what
    assert not found.shapes


def test_what_has_no_formula_makes_a_lower_bound(rope_file, tmp_path):
    """It is named, with how often it ran."""
    rope_file.with_name("rope.py").write_text(
        "import torch\ndef reference(x, c, s):\n    return torch.special.i0e(x + x)\n"
    )
    (one,) = asked(rope_file, tmp_path, shapes=((4, 8),)).shapes
    assert dict(one.uncounted) == {"special_i0e": 1}
    assert one.flops[0].useful.exactness == "lower"
