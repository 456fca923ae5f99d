"""What a reference file says of its problem: shapes, tensors, results and counted work. The main program of a child.

It gets one `ReferenceRequest` as JSON on stdin and answers with one `Described`. The reference runs on tensors without
memory where it can; one that reads values runs on the CPU, within a limit of elements.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.compile.loader import load_module
from kopt_kb.launch.problems.adapted import Adapted, tensors_of, torch_dtype
from kopt_kb.launch.problems.one_float import in_one_float, with_floats
from kopt_kb.launch.problems.question import Described, OneShape, ReferenceRequest, TensorLayout
from kopt_kb.packs.problem_sets.torch_count import TorchCount, count_made
from kopt_kb.packs.problem_sets.torch_formulas import products_in_tf32
from kopt_kb.problem.counts import ByteCount, FlopCount
from kopt_kb.problem.dtypes import DTYPES, Engine, format_of

__all__ = ["described", "main"]

_MOST_ELEMENTS = 1 << 27
"""Elements of inputs up to which a reference that reads values is run on the CPU to be counted."""
_DRAWS = frozenset(
    {"native_dropout", "bernoulli", "bernoulli_", "rand", "randn", "randint", "randperm", "multinomial", "normal_"}
)


def described(asked: ReferenceRequest) -> Described:
    """Return what a reference file says; what its own code raises is an answer."""
    try:
        problem = load_module(asked.file).PROBLEM
        shapes = asked.shapes or (_own_shape(problem),)
        with products_in_tf32(asked=asked.compute == "tf32"):
            return Described(tuple(_one(problem, tuple(shape), asked.dtype) for shape in shapes))
    except KoptError as error:
        return Described(cause=error.error_code, what=error.what, fix=error.fix)
    except ImportError as error:
        missing = error.name or str(error)
        return Described(cause="KB120", what=f"the problem imports {missing}, which is not installed")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's file may raise anything
        text = " ".join(str(error).split())[:300]
        return Described(cause="KB084", what=f"the problem's own code fails: {type(error).__name__}: {text}")


def _own_shape(problem: Any) -> tuple[int, ...]:
    with FakeTensorMode():
        found: tuple[int, ...] = problem.own_shape()
    return found


def _one(problem: Adapted, shape: tuple[int, ...], dtype: str) -> OneShape:
    """Return what a shape comes to, on tensors without memory where the reference can do without values."""
    first = ""
    for fake in (True, False):
        try:
            return _counted(problem, shape, dtype, fake=fake)
        except BadInput as error:
            if error.error_code != "KB086" or not fake:
                raise
            first = error.what
            _check_size(problem, shape, dtype, first)
    raise BadInput(first, code="KB086")


def _check_size(problem: Adapted, shape: tuple[int, ...], dtype: str, why: str) -> None:
    try:
        with FakeTensorMode(allow_non_fake_inputs=True):
            made = problem.make_inputs(shape, dtype, "cpu", 0)
    except RuntimeError:  # its inputs need values too: nobody knows their size before they are made
        return
    elements = sum(one.numel() for one in made)
    if elements > _MOST_ELEMENTS:
        raise BadInput(
            f"{why}; and with {elements} elements it is too large to be run here",
            fix="state its work: [work] in a problem.toml (docs/problems.md)",
            code="KB086",
        )


def _counted(problem: Adapted, shape: tuple[int, ...], dtype: str, *, fake: bool) -> OneShape:
    """Return the counts of one shape.

    Bytes are those of the reference as it was published. Operations are those of the reference in the storage type: a
    cast to fp32 before a product is how PyTorch asks for a wide sum, and the matrix engine needs no such cast.
    """
    found: dict[str, tuple[Any, ...]] = {}
    one_type = _one_type(dtype)

    def make() -> tuple[Any, ...]:
        found["inputs"] = tuple(problem.make_inputs(shape, dtype, "cpu", 0))
        return found["inputs"]

    def published(*inputs: Any) -> Any:
        found["outputs"] = tensors_of(problem.published(*inputs))
        return found["outputs"]

    def narrow(*inputs: Any) -> Any:
        with in_one_float(one_type):
            return tensors_of(problem.result(with_floats(inputs, one_type)))

    written = count_made(published, make, fake=fake)
    _refuse_draws(written)
    names = problem.names
    operations, note = _operations(narrow, make, fake=fake, other=written)
    return OneShape(
        shape=shape,
        inputs=tuple(_layout(name, one) for name, one in zip(names, found["inputs"], strict=True)),
        outputs=tuple(_layout(f"out{number or ''}", one) for number, one in enumerate(found["outputs"])),
        flops=tuple(_storage(one, dtype, one_type) for one in operations.flops),
        special=operations.special,
        bytes=(ByteCount("dram", "read", written.read_bytes), ByteCount("dram", "write", written.write_bytes)),
        uncounted=dict(operations.uncounted),
        fake=fake,
        note=note,
        stored=problem.stored,
    )


def _operations(
    narrow: Callable[..., Any], make: Callable[[], tuple[Any, ...]], *, fake: bool, other: TorchCount
) -> tuple[TorchCount, str]:
    """Return the count in the storage type, and a note where the reference does not run in it."""
    try:
        return count_made(narrow, make, fake=fake), ""
    except BadInput:
        return (
            other,
            "operations are counted in the types that the reference casts to: it does not run in the storage type",
        )


def _one_type(dtype: str) -> torch.dtype:
    """Return the type that the reference runs in to be counted: the storage type, bf16 for narrower ones."""
    known = DTYPES[dtype]
    if known.kind == "int":
        return torch.float32
    return torch_dtype(dtype) if known.bits >= 16 else torch.bfloat16


def _storage(count: FlopCount, dtype: str, run_in: torch.dtype) -> FlopCount:
    """Return a count whose matrix operations are those of the storage type, where the reference ran in a wider one."""
    known = format_of(str(run_in))
    engine: Engine = count.engine
    if engine == "matrix" and known is not None and count.dtype == known.dtype and DTYPES[dtype].kind == "float":
        return FlopCount(dtype, engine, count.useful)
    return count


def _refuse_draws(counted: TorchCount) -> None:
    drawn = [name for name, _ in counted.ran if name in _DRAWS]
    if drawn:
        raise BadInput(
            f"the reference draws random numbers ({', '.join(drawn)}): no result can be held against it",
            fix="make what is drawn an input, or leave dropout out",
            code="KB447",
        )


def _layout(name: str, tensor: Any) -> TensorLayout:
    known = format_of(str(tensor.dtype))
    dtype = known.dtype if known is not None else str(tensor.dtype).removeprefix("torch.")
    return TensorLayout(name, tuple(map(int, tensor.shape)), dtype, tuple(map(int, tensor.stride())))


def main(words: Sequence[str] = ()) -> None:
    """Answer the question on stdin."""
    del words
    asked = read(ReferenceRequest, parse(sys.stdin.buffer.read(), where="stdin"), where="stdin")
    answer = described(asked)
    sys.stdout.write(canonical(answer.to_json()).decode() + "\n")


if __name__ == "__main__":
    main()
