"""The least error of a route is below what the route has on the check's inputs: no honest one is left out."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from kopt_kb.analysis.roofline.admissible import accepted_routes, allowed_error, least_error
from kopt_kb.problem.tolerances import tolerance_of
from kopt_kb.problem.work import work
from kopt_kb.wiki.arithmetic import arithmetic_routes
from kopt_kb.wiki.registry import Registry

ROUTES = arithmetic_routes(Registry.open().wiki)
EXTENT = 256


def _rounded(x: Any, bits: int) -> Any:
    """Elements with so many significant bits, the nearest ones."""
    import torch

    mantissa, exponent = torch.frexp(x)
    return torch.ldexp(torch.round(mantissa * 2.0**bits) / 2.0**bits, exponent)


def _fixed(x: Any, bits: int, axis: int) -> Any:
    """Elements as whole numbers of so many bits, sign included, with a scale a row or column."""
    step = x.abs().amax(axis, keepdim=True) / (2.0 ** (bits - 1) - 1)
    return (x / step).round() * step


def _parts(x: Any, bits: int, count: int) -> list[Any]:
    """The operand as a sum of floats of so many bits."""
    found, rest = [], x
    for _ in range(count):
        found.append(_rounded(rest, bits))
        rest = rest - found[-1]
    return found


def _emulated(name: str, dtype: str, a: Any, b: Any) -> Any:
    """The product by a route, with exact sums."""
    bits = {"tf32": 11, "fp16": 11, "bf16": 8, "fp8": 4, "int8": 8, "fp32": 24, "fp64": 53}[dtype]
    if dtype == "int8":
        slices = 1 if name == "one" else int(name.removeprefix("slices"))
        return _fixed(a, bits * slices, 1) @ _fixed(b, bits * slices, 0)
    if name == "one":
        return _rounded(a, bits) @ _rounded(b, bits)
    if name == "x2":
        return sum(_parts(a, bits, 2)) @ _rounded(b, bits)
    count, most = {"x3": (2, 1), "x6": (3, 2), "x9": (3, 4)}[name]
    left, right = _parts(a, bits, count), _parts(b, bits, count)
    return sum(x @ y for i, x in enumerate(left) for j, y in enumerate(right) if i + j <= most)


EMULATED = [
    ("one", "tf32"), ("one", "fp16"), ("one", "bf16"), ("one", "fp8"), ("one", "int8"), ("one", "fp32"), ("x2", "fp16"),
    ("x3", "tf32"), ("x3", "fp16"), ("x3", "bf16"), ("x6", "bf16"), ("slices2", "int8"), ("slices3", "int8"),
    ("slices5", "int8"),
]  # fmt: skip


def _error(name: str, dtype: str) -> float:
    """Relative error of a route on the check's random inputs, of fp32, or of fp64 where it has more slices."""
    import torch

    drawn = torch.Generator().manual_seed(7)
    a, b = (torch.randn(EXTENT, EXTENT, generator=drawn, dtype=torch.float64) for _ in range(2))
    if name != "slices5" and dtype != "fp32":
        a, b = a.float().double(), b.float().double()
    exact = a @ b
    return float((_emulated(name, dtype, a, b) - exact).norm() / exact.norm())


@pytest.mark.parametrize(("name", "dtype"), EMULATED)
def test_a_route_has_at_least_the_error_by_which_it_is_left_out(name: str, dtype: str) -> None:
    """Emulated on inputs from the check's own distribution; routes that lose nothing are never left out at fp32."""
    pytest.importorskip("torch")
    route = next(one for one in ROUTES if (one.name, one.dtype) == (name, dtype))
    error, least = _error(name, dtype), least_error(int(route.bits.si))
    assert error >= least or (error < 1e-7 and least < 1e-7)


@pytest.mark.parametrize("limit", ["1e-2", "1e-4", "1e-5"])
def test_no_route_that_passes_at_a_tolerance_is_left_out(limit: str) -> None:
    """KernelBench's two limits and the package's own, for every route that is emulated."""
    pytest.importorskip("torch")
    asked = work("gemm", (EXTENT,) * 3, "fp32")
    tolerance = replace(tolerance_of("fp32"), rel_l2_err=Fraction(limit))
    accepted = {(one.name, one.dtype) for one in accepted_routes(ROUTES, asked, tolerance)}
    passing = {one for one in EMULATED if one != ("slices5", "int8") and _error(*one) <= float(tolerance.rel_l2_err)}
    assert passing <= accepted
    assert (("one", "tf32") in accepted) == (limit == "1e-2")


@pytest.mark.core
def test_the_comparison_leaves_room_for_rounding_of_long_sums() -> None:
    """8 roundings of 2^-24 at sqrt(K) times the result's size: beyond K = 2^18 one tf32 product may pass at 1e-5."""
    short, long = (work("gemm", (8, 8, depth), "fp32") for depth in (4096, 2**18))
    tolerance = tolerance_of("fp32")
    assert allowed_error(short, tolerance) == pytest.approx(1e-5 + 8 * 2**-24 * 65)
    assert allowed_error(long, tolerance) > least_error(11) > allowed_error(short, tolerance)
    assert math.isclose(least_error(8), 2**-8 / math.sqrt(12))


def test_operations_whose_inputs_are_not_known_exclude_nothing() -> None:
    """Only a product's own check draws normal operands."""
    asked = work("attention", "1x8x1024x64", "fp32")
    assert accepted_routes(ROUTES, asked, tolerance_of("fp32")) == ROUTES


@pytest.mark.parametrize(
    ("dtype", "narrowest"), [("bf16", {"bf16", "fp16", "tf32", "fp32", "fp64"}), ("int8", {"int8", "bf16", "fp16"})]
)
def test_narrow_storage_is_one_product_of_its_width(dtype: str, narrowest: set[str]) -> None:
    """Eight bits of an integer are exact in bf16."""
    found = accepted_routes(ROUTES, work("gemm", (64,) * 3, dtype), tolerance_of(dtype))
    assert narrowest <= {one.dtype for one in found} and all(one.cost == 1 for one in found)
    assert ("fp8" in {one.dtype for one in found}) is False
