"""Peaks that rocprof-compute measured on the device of a workload (`roofline.csv`), as peaks of the run.

A row a device, GB/s and GFLOP/s; headers are misspelt in places and differ by release. Values that AMD's change log of
the tool calls wrong are left out: matrix peaks of gfx950 before release 3.6, the BF16 matrix peak of gfx90a before 3.7.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping
from pathlib import Path

from kopt_kb.analysis.readers.amd.amd_csv import csv_rows, folded, number_in

__all__ = ["read_roofline"]

_GIGA = 1e9
_BYTES = {"hbmbw": "dram", "l2bw": "l2", "l1bw": "l1", "ldsbw": "shared"}
_VECTOR = {"fp64flops": "fp64", "fp32flops": "fp32", "fp16flops": "fp16"}
_MATRIX = {
    "mfmaf64flops": "fp64", "mfmaf32flops": "fp32", "mfmaf16flops": "fp16", "mfmabf16flops": "bf16",
    "mfmaf8flops": "fp8", "mfmaf6f4flops": "fp6", "mfmai8ops": "int8",
}  # fmt: skip
_COLUMNS: Mapping[str, str] = {
    **{name: f"run_peak.{level}_bytes_per_s" for name, level in _BYTES.items()},
    **{name: f"run_peak.vector.{dtype}" for name, dtype in _VECTOR.items()},
    **{name: f"run_peak.matrix.{dtype}" for name, dtype in _MATRIX.items()},
}
_RIGHT_FROM = {("gfx950", "run_peak.matrix."): (3, 6), ("gfx90a", "run_peak.matrix.bf16"): (3, 7)}


def read_roofline(path: Path, target: str, version: str | None) -> dict[str, float]:
    """Return measured peaks by vocabulary id, the median over the devices; empty without the file.

    Args:
        path: The `roofline.csv` of a workload.
        target: Compiler target of the device.
        version: Release of the tool, None when not said.

    Raises:
        ReportError: A row is damaged.
    """
    if not path.is_file():
        return {}
    rows = csv_rows(path)
    header = [folded(one) for one in next(rows, (0, []))[1]]
    wanted = {at: _COLUMNS[name] for at, name in reversed(list(enumerate(header))) if name in _COLUMNS}
    found: dict[str, list[float]] = {}
    for line, cells in rows:
        for at, metric in wanted.items():
            value = number_in(cells[at], path, line)
            if value:
                found.setdefault(metric, []).append(value * _GIGA)
    release = tuple(int(one) for one in re.findall(r"\d+", version or "")[:2])
    return {one: statistics.median(values) for one, values in found.items() if _right(one, target, release)}


def _right(metric: str, target: str, release: tuple[int, ...]) -> bool:
    return not any(
        target == wrong and metric.startswith(stem) and release < right for (wrong, stem), right in _RIGHT_FROM.items()
    )
