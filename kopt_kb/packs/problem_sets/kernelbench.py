"""Reads KernelBench's problem files: one Python file with `Model`, `get_inputs` and `get_init_inputs`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_words
from kopt_kb.launch.problems.capsule import Capsule, functions_in, problem_name, reference_file, self_contained
from kopt_kb.problem.dtypes import dtype_of
from kopt_kb.problem.tolerances import Tolerance, tolerance_of

__all__ = ["NEEDED", "is_kernelbench", "read_kernelbench"]

NEEDED = ("Model", "get_inputs", "get_init_inputs")
"""Names that make a file one of KernelBench's."""

_LIMITS = {"fp32": "1e-4", "fp16": "1e-2", "bf16": "1e-2"}
"""KernelBench's rtol by precision (src/kernelbench/eval.py, get_tolerance_for_precision, 423217d)."""


def is_kernelbench(names: dict[str, int]) -> bool:
    """Return whether functions and classes of a file are those of a KernelBench problem."""
    return all(one in names for one in NEEDED)


def read_kernelbench(path: Path, dtype: str = "") -> Capsule:
    """Return the problem of a file; its shapes are what `get_inputs` makes.

    Args:
        path: The file.
        dtype: Storage type; empty: that of its inputs, else fp32, as KernelBench runs problems unless told otherwise.

    Raises:
        BadInput: The file is not one of KernelBench's, or needs files beside it.
    """
    python = read_words(path, 1 << 20)
    names = functions_in(python, str(path))
    lacking = [one for one in NEEDED if one not in names]
    if lacking:
        raise BadInput(
            f"a KernelBench problem has {', '.join(NEEDED)}; {', '.join(lacking)} is not there",
            where=str(path),
            fix="add it, or state the problem in a problem.toml (docs/problems.md)",
            code="KB116",
        )
    self_contained(python, path)
    storage = dtype_of(dtype or "fp32").name
    limits = _limits(storage)
    name = problem_name(f"kernelbench {path.stem}")
    text = reference_file(python, "torch_model.TorchModel", name, limits, {"KernelBench problem": path.name})
    notes = [] if dtype else ["storage type fp32: KernelBench's default; --dtype asks for another"]
    retyped = None if dtype else partial(read_kernelbench, path)
    return Capsule("KernelBench", name, path.name, (), (), storage, limits, text, notes=tuple(notes), retyped=retyped)


def _limits(storage: str) -> Tolerance:
    usual = tolerance_of(storage)
    if storage not in _LIMITS:
        return usual
    rel = Fraction(_LIMITS[storage])
    reason = f"KernelBench's rtol for {storage}, held by the norm; ten times that by an element of a row"
    return replace(usual, rel_l2_err=rel, max_abs_err_rel=10 * rel, reason=reason)
