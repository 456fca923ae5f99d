"""Work and peaks out of ncu counters: FLOPs by type and engine, bytes by level, the tool's own peaks.

Formulas are those of ncu's roofline sections: a fused multiply-add counts 2 operations, a packed half one 4; the L1
path returns 128 bytes a cycle and an L2 port 32; a sector is 32 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from kopt_kb.quantity import Exactness

__all__ = ["DerivedValues", "count_work"]

ReadMetric = Callable[[str], float | None]

_SECTOR_BYTES = 32
_L2_PORT_BYTES = 32
_L1_PATH_BYTES = 128
_WAVEFRONT_BYTES = 128

_VECTOR = {
    "fp64": {"dadd": 1, "dmul": 1, "dfma": 2},
    "fp32": {"fadd": 1, "fmul": 1, "ffma": 2},
    "fp16": {"hadd": 2, "hmul": 2, "hfma": 4},
}
_FUSED = {"fp64": ("dfma", 2), "fp32": ("ffma", 2), "fp16": ("hfma", 4)}
_MATRIX_NAME = re.compile(
    r"sm__ops_path_tensor_(?:op_(?P<op>[a-z0-9]+)_)?src_(?P<src>[a-z0-9]+(?:_fp\d+)*)"
    r"(?:_dst_(?P<dst>[a-z0-9]+))?(?:_sparsity_(?P<sparsity>on|off))?\.sum"
)
_NEVER_SPARSE = frozenset({"fp64", "int1"})
_MATRIX_DTYPES = {
    "fp64": "fp64", "tf32": "tf32", "fp16": "fp16", "bf16": "bf16", "fp8": "fp8", "e4m3": "fp8", "e5m2": "fp8",
    "fp6": "fp6", "fp4": "fp8", "int8": "int8", "int4": "int4", "int1": "int1",
}  # fmt: skip
_MIXED = re.compile(r"fp4_fp6_fp8|fp8|fp6")


@dataclass(slots=True)
class DerivedValues:
    """Derived values by vocabulary id, and which of them are bounds."""

    metrics: dict[str, float] = field(default_factory=dict)
    bounds: dict[str, Exactness] = field(default_factory=dict)

    def put(self, metric: str, value: float | None, bound: Exactness = "exact") -> None:
        """Store a value that is known."""
        if value is None:
            return
        self.metrics[metric] = value
        if bound != "exact":
            self.bounds[metric] = bound


def count_work(raw: Mapping[str, float], duration_s: float | None) -> DerivedValues:
    """Return FLOPs, bytes and run peaks of one launch.

    Args:
        raw: ncu metrics by verbatim name in base SI units, numbers only.
        duration_s: Time of the launch, for counters that were stored as rates.
    """
    read = _reader(raw, duration_s)
    values = DerivedValues()
    _vector_flops(values, raw, read)
    _matrix_flops(values, raw, duration_s)
    _bytes(values, read)
    _peaks(values, raw)
    return values


def _reader(raw: Mapping[str, float], duration_s: float | None) -> ReadMetric:
    """Read a `.sum` directly, else from its rate per second or per cycle."""

    def read(stem: str) -> float | None:
        if stem in raw:
            return raw[stem]
        if duration_s and f"{stem}.per_second" in raw:
            return raw[f"{stem}.per_second"] * duration_s
        cycles = raw.get("smsp__cycles_elapsed.avg")
        if cycles is None and duration_s and "smsp__cycles_elapsed.avg.per_second" in raw:
            cycles = raw["smsp__cycles_elapsed.avg.per_second"] * duration_s
        if cycles is not None and f"{stem}.per_cycle_elapsed" in raw:
            return raw[f"{stem}.per_cycle_elapsed"] * cycles
        return None

    return read


def _vector_flops(values: DerivedValues, raw: Mapping[str, float], read: ReadMetric) -> None:
    for dtype, weights in _VECTOR.items():
        counts = {op: read(f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum") for op in weights}
        known = {op: count for op, count in counts.items() if count is not None}
        if known:
            total = sum(weights[op] * count for op, count in known.items())
            values.put(f"flops.vector.{dtype}", total, _vector_bound(dtype, known))
        op, weight = _FUSED[dtype]
        width = raw.get(f"sm__sass_thread_inst_executed_op_{op}_pred_on.sum.peak_sustained")
        values.put(f"run_peak.vector.{dtype}", _times(weight, width, raw.get("sm__cycles_elapsed.avg.per_second")))


def _vector_bound(dtype: str, known: Mapping[str, float]) -> Exactness:
    """Return how exact a sum is: half FMAs without any other half operation may all be moves of registers.

    Compilers write a move as `HFMA2.MMA R4, -RZ, RZ, 0, 0`, and the counter of FMAs counts it.
    """
    if len(known) < len(_VECTOR[dtype]):
        return "lower"
    return "upper" if dtype == "fp16" and known["hfma"] and not known["hadd"] + known["hmul"] else "exact"


class _MatrixCounter(NamedTuple):
    """What the name of a tensor-operation counter restricts; None is not restricted."""

    src: str
    dtype: str
    op: str | None
    dst: str | None
    sparsity: str | None

    def covers(self, other: _MatrixCounter) -> bool:
        """Whether every operation that `other` counts is counted here too."""
        pairs = ((self.op, other.op), (self.dst, other.dst), (self.sparsity, other.sparsity))
        return self != other and self.src == other.src and all(mine in {None, its} for mine, its in pairs)


@lru_cache(maxsize=1 << 16)
def _matrix_counter(name: str) -> _MatrixCounter | None:
    match = _MATRIX_NAME.match(name)
    if match is None:
        return None
    src = match["src"]
    mixed = _MIXED.search(src)
    dtype = "fp8" if mixed and "fp8" in mixed[0] else _MATRIX_DTYPES.get(src.partition("_")[0])
    return None if dtype is None else _MatrixCounter(src, dtype, match["op"], match["dst"], match["sparsity"])


def _matrix_flops(values: DerivedValues, raw: Mapping[str, float], duration_s: float | None) -> None:
    clock = raw.get("sm__cycles_elapsed.avg.per_second")
    amounts: dict[str, dict[_MatrixCounter, float]] = {}
    for name, printed in raw.items():
        counter = _matrix_counter(name)
        if counter is None:
            continue
        value, suffix = printed, name.partition(".sum")[2]
        if suffix == ".per_second" and duration_s and name.removesuffix(suffix) not in raw:
            value, suffix = value * duration_s, ""
        if suffix == "":
            amounts.setdefault(counter.dtype, {})[counter] = value
        elif suffix == ".peak_sustained" and clock and _dense(counter):
            peak = f"run_peak.matrix.{counter.dtype}"
            values.put(peak, max(values.metrics.get(peak, 0.0), value * clock))
    for dtype, counted in amounts.items():
        sparse = any(value and one.sparsity == "on" for one, value in counted.items())
        values.put(f"flops.matrix.{dtype}", _distinct_total(counted), "upper" if sparse else "exact")


def _dense(counter: _MatrixCounter) -> bool:
    """Whether a peak is of dense operations: a total over both kinds has the peak of sparse ones."""
    return counter.sparsity == "off" or (counter.sparsity is None and counter.dtype in _NEVER_SPARSE)


def _distinct_total(counted: Mapping[_MatrixCounter, float]) -> float:
    """Return operations counted once: ncu stores totals of a source type beside the instructions they consist of.

    A counter that another one covers is part of it. Totals over all instructions and counters of single instructions
    see the same operations, so that the larger of the two sums is the whole.
    """
    sums = []
    for by_op in (False, True):
        family = {one: value for one, value in counted.items() if (one.op is not None) == by_op}
        sums.append(sum(value for one, value in family.items() if not any(other.covers(one) for other in family)))
    return max(sums)


def _bytes(values: DerivedValues, read: ReadMetric) -> None:
    for kind, op in (("read", "read"), ("write", "write")):
        sectors = read(f"dram__sectors_{op}.sum")
        direct = read(f"dram__bytes_{op}.sum")
        values.put(f"dram_{kind}_bytes", direct if direct is not None else _times(_SECTOR_BYTES, sectors))
    values.put("dram_bytes", read("dram__bytes.sum"))
    for cycles in ("l1tex__lsu_writeback_active_mem_lgds.sum", "l1tex__lsu_writeback_active_mem_lg.sum"):
        if "l1_bytes" not in values.metrics:
            values.put("l1_bytes", _times(_L1_PATH_BYTES, read(cycles)))
    parts = [read(f"smsp__sass_data_bytes_mem_shared_op_{op}.sum") for op in ("ld", "st")]
    whole = read("smsp__sass_data_bytes_mem_shared.sum")
    known = [one for one in parts if one is not None]
    if whole is not None or len(known) == len(parts):
        values.put("shared_bytes", whole if whole is not None else sum(known))
    else:
        passes = read("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")
        values.put("shared_bytes", _times(_WAVEFRONT_BYTES, passes), "upper")
    local = [read(f"l1tex__t_sectors_pipe_lsu_mem_local_op_{op}.sum") for op in ("ld", "st")]
    held = [one for one in local if one is not None]
    if held:
        values.put("local_bytes", _SECTOR_BYTES * sum(held), "exact" if len(held) == len(local) else "lower")


def _peaks(values: DerivedValues, raw: Mapping[str, float]) -> None:
    def peak(metric: str, width: str, clock: str, factor: int) -> None:
        values.put(metric, _times(factor, raw.get(f"{width}.sum.peak_sustained"), raw.get(f"{clock}.avg.per_second")))

    peak("run_peak.dram_bytes_per_s", "dram__bytes", "dram__cycles_elapsed", 1)
    peak("run_peak.l2_bytes_per_s", "lts__lts2xbar_cycles_active", "lts__cycles_elapsed", _L2_PORT_BYTES)
    for path in ("l1tex__lsu_writeback_active_mem_lg", "l1tex__lsu_writeback_active_mem_lgds"):
        peak("run_peak.l1_bytes_per_s", path, "l1tex__cycles_elapsed", _L1_PATH_BYTES)


def _times(*factors: float | None) -> float | None:
    product = 1.0
    for factor in factors:
        if factor is None:
            return None
        product *= factor
    return product
