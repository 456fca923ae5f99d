"""What one kernel counts does not depend on the triton that printed its IR.

Texts of triton 3.6 stand for all kernels; those of 3.7, 3.8 and 3.9 stand where they differ from the version before.
"""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.triton import TensorArg

ONE_MATRIX = TensorArg((1000, 520), "fp16")
LAUNCHES = {
    "activations": (4, {"n": 1000}),
    "calls_function": (4, {"n": 1000}),
    "column_sums": (4, {"rows": 100, "cols": 200}),
    "desc_gather": (1, {"rows": 100, "cols": 64}),
    "flash": ((8, 4), {"seq": 1000}),
    "gemm_block_pointers": (72, {"m": 1000, "n": 1104, "k": 520}),
    "gemm_desc": (72, {"m": 1000, "n": 1104, "k": 520}),
    "gemm_host_desc": (72, {"n": 1104, "k": 520, "a_desc": ONE_MATRIX, "b_desc": ONE_MATRIX, "c_desc": ONE_MATRIX}),
    "gemm_host_desc_sm80": (72, {"n": 1104, "k": 520, "a_desc": ONE_MATRIX, "b_desc": ONE_MATRIX, "c_desc": ONE_MATRIX}),
    "histogram_atomic": (4, {"n": 1000}),
    "masked_by_data": (4, {"n": 1000}),
    "nested_if": (4, {"n": 1000, "mode": 1}),
    "random_bits": (4, {"n": 1000}),
    "select_pointer": (4, {"n": 1000, "split": 512}),
    "vadd": (977, {"n": 1_000_003}),
    "where_pointer": (4, {"n": 1000, "split": 512}),
}  # fmt: skip

NEGATED = {(f"activations.{version}", part) for version in ("3.8.0", "3.9.0") for part in ("executed", "useful")}
"""Differences that are right; see the test of negations."""


def later_texts(folder):
    """Names of the texts of later versions that have a launch here."""
    return sorted(one.stem for one in folder.glob("*.ttir") if ".3.6.0" not in one.stem and "source" not in one.stem)


@pytest.mark.parametrize("mode", ["exact", "shape"])
def test_later_versions_count_alike(count, ir_folder, mode):
    """Operations, special functions, bytes of each kind and their exactness; more than twenty texts."""
    names = [name for name in later_texts(ir_folder) if name.partition(".")[0] in LAUNCHES]
    assert len(names) > 20 and {name.split(".", 1)[1] for name in names} == {"3.7.1", "3.8.0", "3.9.0"}
    for name in names:
        kernel, _, _ = name.partition(".")
        grid, arguments = LAUNCHES[kernel]
        old, new = count(kernel, grid, arguments, mode), count(name, grid, arguments, mode)
        for part in ("executed", "useful", "special", "read", "written", "exactness"):
            if (name, part) not in NEGATED:
                assert getattr(new, part) == getattr(old, part), f"{name}: {part}"


def test_a_negation_is_no_operation(count):
    """-x was a subtraction from zero up to 3.7, one of 8 operations an element, and is a negation since."""
    old, new = (count(name, 4, {"n": 1000}) for name in ("activations", "activations.3.8.0"))
    assert (old.useful_flops.value, new.useful_flops.value) == (8000, 7000)
