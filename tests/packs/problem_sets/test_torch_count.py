"""Counts of torch functions equal the closed forms, which share no code with them."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.packs.problem_sets.torch_count import count_torch  # noqa: E402
from kopt_kb.problem.work import work  # noqa: E402

pytestmark = pytest.mark.torch
F = torch.nn.functional


def _table():
    path = Path(__file__).with_name("count_cases.py")
    spec = importlib.util.spec_from_file_location("count_cases", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.CASES


CASES = _table()


def _norm(case, function, vectors):
    given = [case.options.get(name) for name in vectors]

    def call(x, *parts):
        parts = iter(parts)
        return function(x, (case.shape[1],), *(next(parts) if one else None for one in given))

    shapes = [(case.shape[1:], case.dtype)] * sum(given)
    return call, [(case.shape, case.dtype), *shapes]


def _attention(case):
    batch, heads, length, depth = case.shape
    options = case.options
    keys = (batch, options.get("kv_heads", heads), options.get("kv_length", length), depth)

    def call(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=options["causal"], enable_gqa=heads != keys[1])

    return call, [(case.shape, case.dtype), (keys, case.dtype), (keys, case.dtype)]


def _gemm(case):
    rows, cols, depth = case.shape
    batch = (case.options["batch"],) if "batch" in case.options else ()
    return torch.matmul, [((*batch, rows, depth), case.dtype), ((*batch, depth, cols), case.dtype)]


def _grouped(case):
    rows, cols, depth = case.shape
    groups = case.options["groups"]

    def call(a, *bs):
        active = [(part, b) for part, b in zip(a.split(groups), bs, strict=True) if part.shape[0]]
        return [part @ b for part, b in active]

    return call, [((rows, depth), case.dtype), *[((depth, cols), case.dtype)] * len(groups)]


def _reduction(case):
    kind = {"sum": "sum", "max": "amax", "mean": "mean"}[case.options.get("kind", "sum")]
    axes = () if case.options.get("all") else (case.options["axis"],)
    return lambda x: getattr(x, kind)(*axes), [(case.shape, case.dtype)]


def _call_of(case):
    """Return the torch function of a case and its inputs as (shape, dtype)."""
    x = (case.shape, case.dtype)
    simple = {
        "softmax": (lambda a: torch.softmax(a, -1), [x]),
        "swiglu": (lambda a, b: F.silu(a) * b, [x, x]),
        "elementwise": (torch.add, [x, x]),
        "cross_entropy": (
            lambda a, t: F.cross_entropy(a, t, reduction=case.options["reduction"]),
            [x, (case.shape[:1], "int64")],
        ),
    }
    if case.verdict == "not countable":
        return torch.special.i0e, [x]
    if case.op in simple:
        return simple[case.op]
    builders = {"attention": _attention, "gemm": _gemm, "grouped_gemm": _grouped, "reduction": _reduction}
    if case.op in builders:
        return builders[case.op](case)
    if case.op == "rms_norm":
        return _norm(case, F.rms_norm, ("weight",))
    return _norm(case, F.layer_norm, ("weight", "bias"))


def _useful(flops):
    sums = Counter()
    for one in flops:
        sums[(one.dtype, one.engine)] += one.useful.value
    return {key: value for key, value in sums.items() if value}


def _name(case):
    return f"{case.op}-{'x'.join(map(str, case.shape))}-{case.dtype}-{len(case.options)}"


def test_the_table_has_at_least_sixty_cases_of_which_fifty_are_equal():
    """The table covers every operation, odd shapes included."""
    verdicts = Counter(case.verdict for case in CASES)
    assert sum(verdicts.values()) >= 60
    assert verdicts["equal"] >= 50
    assert len({case.op for case in CASES}) == 10


@pytest.mark.parametrize("case", [c for c in CASES if c.verdict == "equal"], ids=_name)
def test_flops_special_functions_and_bytes_equal_the_closed_form(case):
    """Two independent ways to count agree to the last FLOP and byte."""
    function, inputs = _call_of(case)
    counted = count_torch(function, *inputs)
    closed = work(case.op, case.shape, case.dtype, **case.options)
    assert not counted.uncounted
    assert _useful(counted.flops) == _useful(closed.flops)
    assert {one.function: one.count.value for one in counted.special} == closed.special_functions()
    assert counted.read_bytes.value == closed.compulsory_bytes("dram", "read")
    assert counted.write_bytes.value == closed.compulsory_bytes("dram", "write")


@pytest.mark.parametrize("case", [c for c in CASES if c.verdict == "closed form is less"], ids=_name)
def test_torch_may_compute_more_than_the_operation_asks_for(case):
    """Cross entropy in torch takes V-2 operations a row more; its bytes are the same."""
    function, inputs = _call_of(case)
    counted = count_torch(function, *inputs)
    closed = work(case.op, case.shape, case.dtype, **case.options)
    extra = _useful(counted.flops)[("fp32", "vector")] - closed.flops_of("fp32", "vector").value
    rows, classes = case.shape
    assert extra == rows * (classes - 2)
    assert counted.read_bytes.value == closed.compulsory_bytes("dram", "read")
    assert counted.write_bytes.value == closed.compulsory_bytes("dram", "write")


@pytest.mark.parametrize("case", [c for c in CASES if c.verdict == "not countable"], ids=_name)
def test_an_operation_without_a_formula_is_named_and_makes_the_count_a_lower_bound(case):
    """Nothing is guessed for what is not known."""
    function, inputs = _call_of(case)
    counted = count_torch(lambda a: function(a + a), *inputs)
    assert counted.uncounted == (("special_i0e", 1),)
    assert {one.useful.exactness for one in counted.flops} == {"lower"}


@pytest.mark.parametrize("device", ["cpu", "cuda", "meta"])
def test_causal_attention_counts_its_triangle_on_any_device(device):
    """A 3x3 triangle has 6 pairs: 4*6*8 matrix FLOPs, whatever kernel the device would take."""
    shape = ((1, 1, 3, 8), "bf16")
    counted = count_torch(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), shape, shape, shape, device=device
    )
    assert _useful(counted.flops)[("bf16", "matrix")] == 4 * 6 * 8


def test_a_broadcast_input_counts_its_distinct_bytes_once():
    """A row added to 100 rows reads 100*8 and 8 elements of 4 bytes."""
    counted = count_torch(lambda x, row: x + row.expand(100, 8), ((100, 8), "fp32"), ((8,), "fp32"))
    assert counted.read_bytes.value == (100 * 8 + 8) * 4


def test_unfused_bytes_show_what_fusion_can_save():
    """x*2+1 unfused reads and writes twice; fused it reads once and writes once."""
    counted = count_torch(lambda x: x * 2 + 1, ((10,), "fp32"))
    assert (counted.unfused_bytes, counted.read_bytes.value, counted.write_bytes.value) == (160, 40, 40)


def test_writing_in_place_writes_the_input():
    """An in-place addition has no new result but writes its input."""
    counted = count_torch(lambda x, y: x.add_(y), ((10,), "fp32"), ((10,), "fp32"))
    assert (counted.read_bytes.value, counted.write_bytes.value) == (80, 40)


def test_a_gather_reads_at_most_the_table():
    """Which rows are picked is not known from shapes: the bytes are an upper bound."""
    counted = count_torch(F.embedding, ((5,), "int64"), ((1000, 8), "fp32"))
    assert counted.read_bytes.exactness == "upper"
    assert counted.read_bytes.value == 5 * 8 + 1000 * 8 * 4


def test_a_function_of_values_is_refused():
    """Fake tensors have no values to branch on."""
    with pytest.raises(BadInput, match="can't be counted"):
        count_torch(lambda x: x.sum().item() > 0, ((3,), "fp32"))


def test_an_unknown_dtype_is_refused():
    """The message lists what is known."""
    with pytest.raises(BadInput, match="unknown dtype 'fp7'"):
        count_torch(torch.neg, ((3,), "fp7"))


def test_batch_normalisation_in_training_writes_its_statistics_and_its_counter_is_no_work():
    norm = torch.nn.BatchNorm1d(8)
    found = count_torch(norm, ((4, 8), "fp32"))
    assert dict(found.ran) == {"native_batch_norm": 1}
    assert found.write_bytes.value == 4 * 8 * 4 + 2 * 8 * 4
    assert not any(one.dtype == "int32" for one in found.flops)
