"""Packaged references: what torch's dispatcher sees them do is what the closed forms say, on several shapes."""

from __future__ import annotations

from collections import Counter

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.launch.compile.loader import load_module  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_reference  # noqa: E402
from kopt_kb.launch.kernel.judgement import Case, trials_of  # noqa: E402
from kopt_kb.launch.problems.one_float import in_one_float  # noqa: E402
from kopt_kb.packs.problem_sets.torch_count import count_made  # noqa: E402
from kopt_kb.problem.ops import FAMILIES  # noqa: E402
from kopt_kb.problem.tolerances import tolerance_of  # noqa: E402
from kopt_kb.problem.work import work  # noqa: E402

pytestmark = pytest.mark.torch

CASES = {
    "references/rope": [((2, 16, 3, 8), "bf16"), ((1, 5, 2, 64), "fp16"), ((3, 7, 1, 2), "fp32")],
    "references/transpose": [((8, 16), "bf16"), ((7, 5), "fp32"), ((2, 9), "fp16")],
    "references/embedding": [((16, 16, 8), "bf16"), ((5, 5, 3), "fp32"), ((64, 32, 8), "fp16")],
    "references/histogram": [((100, 16), "int32"), ((7, 8), "int32"), ((512, 64), "int32")],
    "references/scan": [((4, 32), "fp32"), ((3, 7), "bf16"), ((1, 1), "fp16")],
    "references/gelu": [((64,), "bf16"), ((3, 5), "fp32"), ((2, 3, 4), "fp16")],
    "references/geglu": [((8, 16), "bf16"), ((3, 5), "fp32"), ((1, 64), "fp16")],
    "references/moe_gate": [((16, 32), "bf16"), ((5, 8), "fp32"), ((7, 64), "fp16")],
    "references/add_rms_norm": [((8, 16), "bf16"), ((3, 7), "fp32"), ((1, 64), "fp16")],
    "references/rms_norm_backward": [((8, 16), "bf16"), ((3, 7), "fp32"), ((1, 64), "fp16")],
    "references/layer_norm_backward": [((8, 16), "bf16"), ((3, 7), "fp32"), ((1, 64), "fp16")],
    "references/cross_entropy_backward": [((8, 16), "bf16"), ((3, 7), "fp32"), ((1, 64), "fp16")],
    "references/gemv": [((8, 16), "bf16"), ((3, 7), "fp32"), ((64, 1), "fp16")],
    "references/batched_gemm": [((2, 8, 16, 4), "bf16"), ((3, 5, 7, 2), "fp32"), ((1, 1, 1, 9), "fp16")],
    "references/gemm_bias_act": [((8, 16, 4), "bf16"), ((5, 7, 2), "fp32"), ((1, 3, 9), "fp16")],
    "references/int4_gemm": [((8, 16, 128), "bf16"), ((3, 5, 256), "fp16"), ((1, 1, 384), "bf16")],
    "fp8_gemm": [((8, 128, 128), "fp8"), ((3, 256, 128), "fp8"), ((16, 128, 384), "fp8")],
    "references/conv2d": [((2, 3, 8, 8), "bf16"), ((1, 4, 5, 9), "fp32"), ((3, 1, 3, 3), "fp16")],
    "references/attention_decode": [((2, 4, 32, 8), "bf16"), ((1, 3, 16, 4), "fp32"), ((3, 2, 64, 16), "fp16")],
    "references/mamba_scan": [((2, 8, 4, 2), "bf16"), ((1, 3, 5, 7), "fp32"), ((3, 1, 2, 4), "fp16")],
}
EVERY = [(name.rpartition("/")[2], *case) for name, cases in CASES.items() for case in cases]


def _module(op):
    return load_module(str(packaged_reference(op)))


def _counted(op, dtype, make):
    """Count a reference that names the storage type wherever it says float64, bf16 for a narrower one."""
    kind = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp8": torch.bfloat16}.get(dtype, torch.float32)

    def run(*inputs):
        with in_one_float(kind):
            return _module(op).reference(*inputs)

    return count_made(run, make, fake=True)


def _engines(flops):
    found = Counter()
    for one in flops:
        found[one.engine] += one.useful.value
    return +found


@pytest.mark.parametrize(("op", "shape", "dtype"), EVERY, ids=lambda one: str(one).replace(" ", ""))
def test_the_closed_form_is_what_the_dispatcher_counts(op, shape, dtype):
    """Operations by engine, special functions, distinct bytes read and written: two ways to count agree."""
    counted = _counted(op, dtype, lambda: tuple(_module(op).make_inputs(shape, dtype, "cpu", 0)))
    closed = work(op, shape, dtype)
    assert not counted.uncounted
    assert _engines(counted.flops) == _engines(closed.flops)
    assert {one.function: one.count.value for one in counted.special} == closed.special_functions()
    assert counted.read_bytes.value == closed.compulsory_bytes("dram", "read")
    assert counted.write_bytes.value == closed.compulsory_bytes("dram", "write")


@pytest.mark.parametrize("shared", [1, 2, 4])
def test_shared_key_heads_are_read_once(shared):
    """Four query heads over fewer key heads: the cache shrinks, the operations stay."""
    made = (
        torch.empty(2, 4, 8, dtype=torch.bfloat16, device="meta"),
        *(torch.empty(4, 16, shared, 8, dtype=torch.bfloat16, device="meta") for _ in range(2)),
        torch.empty(2, 2, dtype=torch.int32, device="meta"),
    )
    counted = _counted("attention_decode", "bf16", lambda: tuple(torch.empty_like(one, device="cpu") for one in made))
    closed = work("attention_decode", (2, 4, 32, 8), "bf16", kv_heads=shared)
    assert _engines(counted.flops) == _engines(closed.flops)
    assert counted.read_bytes.value == closed.compulsory_bytes("dram", "read")


@pytest.mark.parametrize(("act", "special"), [("gelu", {"erf": 21}), ("silu", {"exp": 21})])
def test_other_epilogues(act, special):
    """A product of 3x7x2 with its bias, then 4 operations of GELU or 2 of SiLU a result."""
    functions = {"gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu}
    made = [torch.empty(*one, dtype=torch.bfloat16) for one in ((3, 2), (2, 7), (7,))]
    counted = count_made(lambda a, b, c: functions[act](torch.mm(a, b) + c), lambda: tuple(made), fake=False)
    closed = work("gemm_bias_act", (3, 7, 2), "bf16", act=act)
    assert _engines(counted.flops) == _engines(closed.flops)
    assert closed.special_functions() == special


def test_every_operation_of_a_family_has_its_reference():
    """And every file here is one of an operation."""
    assert sorted(name.rpartition("/")[2] for name in CASES) == sorted(one for ops in FAMILIES.values() for one in ops)
    assert all(op == _module(op).OP for op, _, _ in EVERY)


@pytest.mark.parametrize(
    ("op", "shape", "dtype"), [(op, *cases[0]) for op, cases in ((n.rpartition("/")[2], c) for n, c in CASES.items())]
)
def test_trials_pass_a_right_answer_and_catch_a_wrong_one(op, shape, dtype):
    """The reference rounded to its storage type is right on every trial; one with a half of it zero is not."""
    module = _module(op)
    kind = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp8": torch.bfloat16, "int32": torch.int32}.get(dtype)
    caught = 0
    for trial in trials_of(op):
        for wrong in (False, True):
            case = Case(module, shape, dtype, trial, 7, "cpu", op)
            for part in range(1 if wrong else trial.parts):
                if part:
                    case.second()
                wide = case.reference()
                outs = [one.to(kind or torch.float32) for one in (wide if isinstance(wide, tuple) else (wide,))]
                if wrong:
                    outs = [
                        one * (torch.arange(one.shape[0]) % 2).reshape(-1, *[1] * (one.ndim - 1)).to(one.dtype)
                        for one in outs
                    ]
                found = case.judge(tuple(outs) if len(outs) > 1 else outs[0], tolerance_of(dtype), wide)
                assert wrong or not found.problem, (trial.name, found.problem)
                caught += bool(wrong and found.problem)
    assert caught
