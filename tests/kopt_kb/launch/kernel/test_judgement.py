"""Answers that follow from the distribution of inputs fail in every type; honest arithmetic in fp32 passes."""

from __future__ import annotations

import importlib
import math
import secrets
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.launch.kernel.judgement import Case, trials_of, wrong_result  # noqa: E402
from kopt_kb.problem.ops import OPS  # noqa: E402
from kopt_kb.problem.tolerances import tolerance_of  # noqa: E402
from kopt_kb.problem.trials import GENERIC, RANDOM, Edit, Trial  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.triton]

DTYPES = ("fp16", "bf16", "fp32")
SHAPES = {
    "attention": (1, 2, 48, 16), "cross_entropy": (24, 4096), "elementwise": (40, 96), "layer_norm": (16, 4096),
    "matmul": (24, 40, 256), "reduction": (24, 16384), "rms_norm": (16, 4096), "softmax": (16, 2048),
    "swiglu": (40, 96),
}  # fmt: skip
Answer = Callable[..., Any]


def _problems(
    name: str, shape: tuple[int, ...], dtype: str, answer: Answer, trials: tuple[Trial, ...] = ()
) -> dict[str, str]:
    """Return trial → what is wrong with an answer, of those where something is."""
    module = importlib.import_module(f"kopt_kb.kernels.{name}")
    found = {}
    for trial in trials or trials_of(module.OP):
        case = Case(module, shape, dtype, trial, secrets.randbelow(2**31), "cpu")
        for part in range(trial.parts):
            if part:
                case.second()
            stored = next(one.dtype for one in case.inputs if one.is_floating_point())
            out = answer(*case.inputs).to(stored)
            if problem := case.judge(out, tolerance_of(dtype)).problem:
                found[trial.name] = problem
    return found


def _softmax(x: Any) -> Any:
    wide = x.float()
    e = (wide - wide.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


def _attention(q: Any, k: Any, v: Any) -> Any:
    score = q.float() @ k.float().mT / math.sqrt(q.shape[-1])
    weights = _softmax(score.masked_fill(torch.ones(score.shape[-2:]).triu(1).bool(), -math.inf))
    return weights.to(v.dtype).float() @ v.float()


def _layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    centred = x.float() - x.float().mean(-1, keepdim=True)
    scale = (centred.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
    return centred * scale * weight.float() + bias.float()


def _losses(x: Any, target: Any) -> Any:
    return torch.logsumexp(x.float(), -1) - x.float().gather(1, target[:, None])[:, 0]


HONEST: dict[str, Answer] = {
    "attention": _attention,
    "cross_entropy": _losses,
    "elementwise": lambda x, y: x.float() + y.float(),
    "layer_norm": _layer_norm,
    "matmul": lambda a, b: a.float() @ b.float(),
    "reduction": lambda x: x.float().sum(-1),
    "rms_norm": lambda x, w: x.float() * (x.float().square().mean(-1, keepdim=True) + 1e-6).rsqrt() * w.float(),
    "softmax": _softmax,
    "swiglu": lambda a, b: a.float() * torch.sigmoid(a.float()) * b.float(),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SHAPES)
def test_honest_arithmetic_passes_every_trial(name: str, dtype: str) -> None:
    """In fp32, rounded once to the storage type."""
    module = importlib.import_module(f"kopt_kb.kernels.{name}")
    assert _problems(name, SHAPES[name], dtype, HONEST[name]) == {}
    assert module.OP in OPS


def _quantised(x: Any, axis: int) -> Any:
    scale = x.float().abs().amax(axis, keepdim=True) / 127
    return (x.float() / scale).round() * scale


def _fp8(x: Any) -> Any:
    scale = x.float().abs().amax() / 448
    return (x.float() / scale).to(torch.float8_e4m3fn).float() * scale


WRONG: dict[str, tuple[str, Answer]] = {
    "one logit a row": (
        "cross_entropy",
        lambda x, t: math.log(x.shape[1]) + 2 - x.float().gather(1, t[:, None])[:, 0],
    ),
    "an RMS scale of 1": ("rms_norm", lambda x, w: x.float() * w.float()),
    "no epsilon": ("rms_norm", lambda x, w: x.float() * x.float().square().mean(-1, keepdim=True).rsqrt() * w.float()),
    "half of the row": (
        "rms_norm",
        lambda x, w: x.float() * x[:, : x.shape[1] // 2].float().square().mean(-1, keepdim=True).rsqrt() * w.float(),
    ),
    "mean 0.5, deviation 1": ("layer_norm", lambda x, w, b: (x.float() - 0.5) * w.float() + b.float()),
    "a row sum of N/4": ("reduction", lambda x: torch.full((x.shape[0],), x.shape[1] / 4)),
    "every other element": ("reduction", lambda x: x[:, ::2].float().sum(-1) * 2),
    "1/n": ("softmax", lambda x: torch.full_like(x, 1 / x.shape[1])),
    "no maximum": ("softmax", lambda x: x.float().exp() / x.float().exp().sum(-1, keepdim=True)),
    "the sum of the distribution": ("softmax", lambda x: x.float().exp() / (x.shape[1] * math.exp(2))),
    "the mean of v": ("attention", lambda _q, _k, v: v.float().mean(2, keepdim=True).expand(v.shape)),
    "no mask": ("attention", lambda q, k, v: _softmax(q.float() @ k.float().mT / q.shape[-1] ** 0.5) @ v.float()),
    "the first of two halves of the keys": (
        "attention",
        lambda q, k, v: _attention(q, torch.cat((k[:, :, :24], 0 * k[:, :, 24:]), 2), v),
    ),
    "a part of K": ("matmul", lambda a, b: a[:, :-1].float() @ b[:-1].float()),
    "int8 by row and column": ("matmul", lambda a, b: _quantised(a, 1) @ _quantised(b, 0)),
    "int8 on one operand": ("matmul", lambda a, b: a.float() @ _quantised(b, 0)),
    "fp8 operands": ("matmul", lambda a, b: _fp8(a) @ _fp8(b)),
    "fp8 on one operand": ("matmul", lambda a, b: a.float() @ _fp8(b)),
    "one wrong row": ("elementwise", lambda x, y: torch.cat(((x.float() + y.float())[:-1], x[-1:].float()))),
    "a linear gate": ("swiglu", lambda a, b: a.float() * (0.5 + a.float() / 4) * b.float()),
    "a gate cut off at 10": ("swiglu", lambda a, b: a.float() * torch.sigmoid(a.float().clamp(-4, 4)) * b.float()),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("wrong", WRONG)
def test_an_answer_without_the_work_fails_in_every_type(wrong: str, dtype: str) -> None:
    """With seeds of the system's entropy, each time."""
    name, answer = WRONG[wrong]
    trials = trials_of(importlib.import_module(f"kopt_kb.kernels.{name}").OP)
    assert any(_problems(name, SHAPES[name], dtype, answer, (one,)) for one in trials)


def test_some_of_them_are_right_on_drawn_inputs() -> None:
    """Else the trials would be for nothing."""
    passing = {
        wrong
        for wrong, (name, answer) in WRONG.items()
        if not _problems(name, {**SHAPES, "reduction": (4, 1 << 22)}[name], "bf16", answer, (RANDOM,))
    }
    assert {"a row sum of N/4", "no epsilon", "no maximum", "int8 on one operand"} <= passing


@pytest.mark.parametrize("op", OPS)
def test_declared_trials_are_told_apart_and_say_why(op: str) -> None:
    """Names are unique, the first is what is drawn, at least one more may be timed."""
    trials = trials_of(op)
    assert trials[0] is RANDOM
    assert len({one.name for one in trials}) == len(trials)
    assert all(one.why for one in trials)
    assert sum(one.dense for one in trials) >= 2
    with pytest.raises(BadInput, match="random"):
        trials_of(op, ["nothing"])


def _foreign(reference: Answer) -> Any:
    return SimpleNamespace(
        make_inputs=lambda shape, _dtype, _device, seed: (
            torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) + 0.1,
        ),
        reference=reference,
    )


def test_any_operation_has_trials() -> None:
    """A constant in place of a row's maximum fails; a reference that is not finite there is no verdict."""
    module = _foreign(lambda x: x.double() / x.double().amax(-1, keepdim=True))
    for answer, right in ((lambda x: x / x.amax(-1, keepdim=True), True), (lambda x: x / 1.1, False)):
        cases = [Case(module, (64, 512), "fp32", trial, 9, "cpu") for trial in GENERIC]
        found = [case.judge(answer(case.inputs[0]), tolerance_of("bf16")).problem for case in cases]
        assert any(found) is not right
    odd = _foreign(lambda x: (33 - x.double()).log())
    case = Case(odd, (4, 4), "fp32", GENERIC[2], 1, "cpu")
    assert case.judge(case.inputs[0], tolerance_of("fp32")).skipped == ""
    odd = _foreign(lambda x: (2 - x.double()).log())
    case = Case(odd, (4, 4), "fp32", GENERIC[2], 1, "cpu")
    assert "not finite" in case.judge(case.inputs[0], tolerance_of("fp32")).skipped


def test_a_relation_is_asked_only_where_the_reference_keeps_it() -> None:
    """Twice the input is twice the result of a linear operation; of others nothing is said."""
    trial = Trial("twice", "not linear", then=(Edit("scale", value=2.0),), result=(Edit("scale", value=2.0),))
    for reference, holds in ((lambda x: x.double() * 3, True), (lambda x: x.double().square(), False)):
        case = Case(_foreign(reference), (8, 8), "fp32", trial, 1, "cpu")
        first = case.judge(reference(case.inputs[0]).float(), tolerance_of("fp32"))
        case.second()
        second = case.judge(reference(case.inputs[0]).float(), tolerance_of("fp32"))
        assert (first.problem, second.problem) == ("", "")
        assert (second.relation_err is not None) is holds


def test_two_runs_that_disagree_fail_although_each_is_within_the_tolerance() -> None:
    """0.7 % too much, then 0.7 % too little, with 1 % allowed."""
    trial = Trial("again", "another answer each time", then=(Edit("scale", value=1.0),))
    case = Case(_foreign(lambda x: x.double()), (8, 8), "fp32", trial, 1, "cpu")
    assert case.judge(case.inputs[0] * 1.007, tolerance_of("bf16")).problem == ""
    case.second()
    assert "two runs" in case.judge(case.inputs[0] * 0.993, tolerance_of("bf16")).problem


def test_each_of_several_results_is_held_against_its_own() -> None:
    """Their number, then the first that is wrong; indices beside values."""
    limits, wide = tolerance_of("fp32"), (torch.ones(3).double(), torch.arange(3))
    assert wrong_result((torch.ones(3), torch.arange(3)), wide, limits) == ""
    assert wrong_result((torch.ones(3), torch.arange(3) + 1), wide, limits).startswith("result 1: ")
    assert wrong_result(torch.ones(3), wide, limits) == "1 results, and the reference has 2"
    assert wrong_result(torch.ones(3), wide[0], limits) == ""


_SPENT: dict[str, Answer] = {
    "a factor": lambda wide: 0.995 * wide,
    "six bits": lambda wide: torch.ldexp((torch.frexp(wide)[0] * 64).round() / 64, torch.frexp(wide)[1]),
}
"""What spends most of a bf16 tolerance whatever is drawn."""


@pytest.mark.parametrize(
    ("name", "spent"),
    [
        (name, spent)
        for name in SHAPES
        for spent in _SPENT
        if name != "cross_entropy" and (name, spent) != ("softmax", "six bits")  # its weights there are 0 and 1
    ],
)
def test_where_results_are_exact_a_tolerance_is_no_budget(name: str, spent: str) -> None:
    """Right within the tolerance on drawn inputs, wrong where a right result is one that the type holds."""
    module = importlib.import_module(f"kopt_kb.kernels.{name}")
    found = _problems(name, SHAPES[name], "bf16", lambda *given: _SPENT[spent](module.reference(*given)))
    exact = {one.name for one in trials_of(module.OP) if one.exact}
    assert found.keys() & exact
    assert "above 6.1e-05" in found[min(found.keys() & exact)]


def test_a_problem_that_widens_its_tolerance_says_that_it_is_a_budget() -> None:
    """The stated limit holds then on every input, and for types that are rounded on the way."""
    module = importlib.import_module("kopt_kb.kernels.reduction")
    (trial,) = trials_of("reduction", ["one term a row"])
    for dtype, factor, problem in (("bf16", 1, True), ("bf16", 2, False), ("fp32", 1, True)):
        case = Case(module, (4, 4096), dtype, trial, 3, "cpu")
        usual = tolerance_of(dtype)
        limits = replace(usual, rel_l2_err=factor * usual.rel_l2_err)
        stored = next(one.dtype for one in case.inputs if one.is_floating_point())
        out = (case.reference() * (1 - float(usual.rel_l2_err) / (2 if dtype == "bf16" else 0.5))).to(stored)
        assert bool(case.judge(out, limits).problem) is problem, (dtype, factor)


def test_a_tolerance_stays_where_operands_are_rounded_on_the_way() -> None:
    """Of 8 bits: half of it is spent where each sum has one term, and that is right; in bf16 it is wrong."""
    product = importlib.import_module("kopt_kb.kernels.matmul")

    def inputs(shape: tuple[int, ...], _: str, *given: object) -> object:
        return product.make_inputs(shape, "bf16", *given)

    module = SimpleNamespace(OP="gemm", reference=product.reference, make_inputs=inputs)
    trial = next(one for one in trials_of("gemm") if one.exact)
    wrong = {}
    for dtype in ("bf16", "fp8", "tf32"):
        case, limits = Case(module, (64, 64, 64), dtype, trial, 3, "cpu"), tolerance_of(dtype)
        out = case.reference() * (1 - float(limits.rel_l2_err) / 2)
        wrong[dtype] = bool(case.judge(out.float(), limits).problem)
    assert wrong == {"bf16": True, "fp8": False, "tf32": False}
