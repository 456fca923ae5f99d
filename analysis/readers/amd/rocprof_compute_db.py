"""Reader of rocprof-compute's analysis database: times of dispatches, and metrics as the tool itself derived them.

The derived metrics stay the tool's own. The columns of its roofline tables are not read: `total_flops` holds a rate and
the `*_cache_data` columns hold intensities.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kopt_kb.analysis.profile import (
    DurationStats,
    KernelProfile,
    ProfiledLaunch,
    RawMetric,
    ReportPlace,
    ReportSource,
)
from kopt_kb.analysis.profile.amd_counters import AmdDevice
from kopt_kb.analysis.profile.tally import DurationTally
from kopt_kb.analysis.readers.amd.amd_devices import device_of_sysinfo
from kopt_kb.analysis.readers.amd.amd_names import plain_name
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.sqlite import open_database, text_of
from kopt_kb.quantity import Exactness

__all__ = ["ROCPROF_COMPUTE_DB", "read_rocprof_compute_db"]

_FORMAT = "rocprof-compute-db"
_AVERAGE = "Avg"
_OWN = "derived metrics are the tool's own: means over dispatches of ratios"
_SOL = "System Speed-of-Light"
_LDS, _L1, _L2 = "Local Data Share (LDS)", "Vector L1 Data Cache", "L2 Cache"
_TA = "Address Processing Unit and Data Return Path (TA/TD)"
_WAVE, _ROOFS = "Wavefront", "Roofline"
_SHARE, _ROOF = "Pct of Peak", "Peak (Empirical)"
_MAPPED = {
    (_SOL, "VALU Utilization", _AVERAGE): "pipe_elapsed.valu_pct",
    (_SOL, "SALU Utilization", _AVERAGE): "pipe_elapsed.uniform_pct",
    (_SOL, "MFMA Utilization", _AVERAGE): "pipe_elapsed.tensor_pct",
    (_SOL, "VMEM Utilization", _AVERAGE): "pipe_elapsed.vmem_pct",
    (_SOL, "Branch Utilization", _AVERAGE): "pipe_elapsed.branch_pct",
    (_SOL, "VALU Active Threads", _AVERAGE): "threads_per_instruction",
    (_SOL, "IPC", _AVERAGE): "instructions_per_cycle",
    (_SOL, "vL1D Cache Hit Rate", _AVERAGE): "l1_hit_pct",
    (_SOL, "L2 Cache Hit Rate", _AVERAGE): "l2_hit_pct",
    (_SOL, "vL1D Cache BW", _SHARE): "l1_sol_pct",
    (_SOL, "L2 Cache BW", _SHARE): "l2_sol_pct",
    (_LDS, "Utilization", _AVERAGE): "pipe_elapsed.lds_pct",
    (_LDS, "Bank Conflict", _AVERAGE): "shared_conflicts",
    (_TA, "Address Processing Unit Busy", _AVERAGE): "memory_busy_pct",
    (_WAVE, "Grid Size", _AVERAGE): "grid_threads",
    (_WAVE, "Workgroup Size", _AVERAGE): "block_threads",
    (_WAVE, "Total Wavefronts", _AVERAGE): "warps_launched",
    (_WAVE, "VGPRs", _AVERAGE): "registers_per_thread",
    (_WAVE, "AGPRs", _AVERAGE): "accum_registers_per_thread",
    (_WAVE, "LDS Allocation", _AVERAGE): "shared_block_bytes",
    (_WAVE, "Scratch Allocation", _AVERAGE): "scratch_bytes_per_thread",
    (_ROOFS, "HBM Bandwidth", _ROOF): "run_peak.dram_bytes_per_s",
    (_ROOFS, "L2 Cache Bandwidth", _ROOF): "run_peak.l2_bytes_per_s",
    (_ROOFS, "L1 Cache Bandwidth", _ROOF): "run_peak.l1_bytes_per_s",
    (_ROOFS, "LDS Bandwidth", _ROOF): "run_peak.shared_bytes_per_s",
    (_ROOFS, "VALU FLOPs (F32)", _ROOF): "run_peak.vector.fp32",
    (_ROOFS, "VALU FLOPs (F64)", _ROOF): "run_peak.vector.fp64",
    (_ROOFS, "MFMA FLOPs (F16)", _ROOF): "run_peak.matrix.fp16",
    (_ROOFS, "MFMA FLOPs (BF16)", _ROOF): "run_peak.matrix.bf16",
    (_ROOFS, "MFMA FLOPs (F8)", _ROOF): "run_peak.matrix.fp8",
}
_RATES = {
    (_SOL, "Theoretical LDS Bandwidth"): "shared_bytes",
    (_SOL, "MFMA FLOPs (F16)"): "flops.matrix.fp16",
    (_SOL, "MFMA FLOPs (BF16)"): "flops.matrix.bf16",
    (_SOL, "MFMA FLOPs (F8)"): "flops.matrix.fp8",
    (_SOL, "MFMA FLOPs (F32)"): "flops.matrix.fp32",
    (_SOL, "MFMA FLOPs (F64)"): "flops.matrix.fp64",
    (_SOL, "VALU IOPs"): "flops.vector.int32",
}
"""Rates of the tool, which times the time of a launch are amounts."""
_WAVE_CYCLES = "Wave Cycles"
_WAITS = {"Dependency Wait Cycles": "waiting_pct", "Issue Wait Cycles": "issue_waiting_pct"}
_VECTOR_FLOPS = "VALU FLOPs"
_OCCUPANCY = (_SOL, "Wavefront Occupancy")
_FABRIC = ("L2-Fabric Read BW", "L2-Fabric Write BW")
_WHOLE_READS = (3, 5, 0)  # the first release that counts the 128-byte read requests of gfx950
_HALVED = "rocprof-compute before 3.5.0 counts half the bytes that gfx950 reads: its L2-fabric rates are left out"
_SCALES = {
    "gflop/s": (1e9, "FLOP/s"),
    "giop/s": (1e9, "FLOP/s"),
    "gb/s": (1e9, "B/s"),
    "percent": (1.0, "%"),
    "pct": (1.0, "%"),
    "bytes": (1.0, "B"),
    "cycles": (1.0, "cycle"),
    "ns": (1e-9, "s"),
}
_KERNELS = """SELECT K.kernel_uuid, K.kernel_name, K.workload_id, D.dispatch_id, D.gpu_id,
    D.end_timestamp - D.start_timestamp FROM compute_kernel K
    JOIN compute_dispatch D ON D.kernel_uuid = K.kernel_uuid ORDER BY K.kernel_uuid, D.dispatch_id"""
_METRICS = """SELECT M.kernel_uuid, T.table_name, T.name, T.metric_id, M.value_name, M.value, T.unit
    FROM compute_kernel_metric_value M JOIN compute_metric_definition T ON T.metric_uuid = M.metric_uuid"""


def read_rocprof_compute_db(path: Path) -> Iterator[KernelProfile]:
    """Yield the profiles of an analysis database; raises `ReportError` for a damaged one or one without dispatches."""
    with open_database(path) as connection:
        version = connection.execute("SELECT compute_version FROM compute_metadata").fetchone()
        source = ReportSource(
            str(path), _FORMAT, "rocprof-compute", "amd", text_of(version[0]) or None if version else None
        )
        devices = _devices(connection)
        values = _values(connection)
        kernels: dict[Any, tuple[str, Any, list[tuple[Any, Any]]]] = {}
        for uuid, name, workload, number, _, span_ns in connection.execute(_KERNELS):
            kernels.setdefault(uuid, (text_of(name) or "unnamed", workload, []))[2].append((number, span_ns))
    if not kernels:
        raise ReportError("the database holds no dispatch", where=path, fix="analyze the workload again", code="KB205")
    for uuid, (name, workload, dispatches) in kernels.items():
        device = devices.get(workload, AmdDevice())
        yield _profile(name, device, dispatches, values.get(uuid, {}), source)


def _devices(connection: sqlite3.Connection) -> dict[Any, AmdDevice]:
    found: dict[Any, AmdDevice] = {}
    for workload, text in connection.execute("SELECT workload_id, sys_info_extdata FROM compute_workload"):
        try:
            info = json.loads(text_of(text) or "{}")
        except (ValueError, RecursionError):
            info = {}
        found[workload] = device_of_sysinfo(info if isinstance(info, dict) else {})
    return found


def _values(connection: sqlite3.Connection) -> dict[Any, dict[tuple[str, str, str, str], tuple[float, str]]]:
    found: dict[Any, dict[tuple[str, str, str, str], tuple[float, str]]] = {}
    for uuid, table, name, metric_id, kind, value, unit in connection.execute(_METRICS):
        if isinstance(value, (int, float)):
            key = (text_of(table), text_of(name), text_of(metric_id), text_of(kind))
            found.setdefault(uuid, {})[key] = (float(value), text_of(unit))
    return found


def _profile(
    name: str,
    device: AmdDevice,
    dispatches: list[tuple[Any, Any]],
    values: dict[tuple[str, str, str, str], tuple[float, str]],
    source: ReportSource,
) -> KernelProfile:
    times = DurationTally()
    times.add_all([span for _, span in dispatches if isinstance(span, int)])
    stats = times.stats()
    halved = _halves_reads(device, source.tool_version)
    place = ReportPlace(source.file, f"dispatch {dispatches[0][0]}")
    metrics = _metrics(values, device, stats)
    if halved:
        for one in ("dram_bytes_per_s", "dram_bytes"):
            metrics.pop(one, None)
    bounds: dict[str, Exactness] = {one: "upper" for one in ("dram_bytes_per_s", "dram_bytes") if one in metrics}
    raw = {f"{metric_id} {title} {kind}": _raw(*one) for (_, title, metric_id, kind), one in values.items()}
    first = ProfiledLaunch(
        id=str(dispatches[0][0]),
        name=name,
        place=place,
        demangled=plain_name(name),
        device=device.name,
        target=device.target,
        metrics=metrics if len(dispatches) == 1 else {},
        raw=raw,
    )
    return KernelProfile(
        name=name,
        demangled=plain_name(name),
        source=source,
        place=place,
        launch_count=len(dispatches),
        metrics=metrics,
        durations=stats,
        launches=(first,),
        bounds=bounds,
        device=device.name,
        target=device.target,
        notes=(*((_OWN,) if values else ()), *filter(None, (times.note, _HALVED if halved else ""))),
    )


def _halves_reads(device: AmdDevice, version: str | None) -> bool:
    """Whether the tool's formula takes a read request of 128 bytes for 64; an unnamed release may."""
    numbers = tuple(int(one) for one in re.findall(r"\d+", version or "")[: len(_WHOLE_READS)])
    return device.target == "gfx950" and numbers < _WHOLE_READS


def _metrics(
    values: dict[tuple[str, str, str, str], tuple[float, str]], device: AmdDevice, stats: DurationStats | None
) -> dict[str, float]:
    found: dict[str, float] = {}
    if device.cu_count:
        found["sm_count"] = device.cu_count
    if device.wave_threads:
        found["wave_threads"] = device.wave_threads
    shown = {
        (table, title, kind): one[0] if kind == _SHARE else _raw(*one).value
        for (table, title, _, kind), one in values.items()
    }
    numbers = {key: value for key, value in shown.items() if not isinstance(value, str)}
    for key, metric in _MAPPED.items():
        if key in numbers:
            found[metric] = numbers[key]
    waves = numbers.get((*_OCCUPANCY, _AVERAGE))
    if waves is not None and device.cu_count:
        found["active_warps_per_sm"] = waves / device.cu_count
        if device.max_waves_per_cu:
            found["achieved_occupancy_pct"] = 100 * waves / (device.max_waves_per_cu * device.cu_count)
    found.update(_derived(numbers, found, stats))
    fabric = [_raw(*one) for key, one in values.items() if key[1] in _FABRIC and (key[0], key[3]) == (_SOL, _AVERAGE)]
    if len(fabric) == len(_FABRIC):
        found["dram_bytes_per_s"] = sum(one.value for one in fabric if not isinstance(one.value, str))
        if stats is not None:
            found["dram_bytes"] = found["dram_bytes_per_s"] * stats.total_s / stats.count
    if stats is not None:
        found["duration_s"] = stats.median_s
    return found


def _derived(
    numbers: Mapping[tuple[str, str, str], float], found: Mapping[str, float], stats: DurationStats | None
) -> dict[str, float]:
    """Return what several of the tool's numbers say: amounts of rates, shares of wave cycles, workgroups, accesses."""
    more: dict[str, float] = {}
    if stats is not None:
        mean_s = stats.total_s / stats.count
        rates = {metric: numbers.get((*key, _AVERAGE)) for key, metric in _RATES.items()}
        more.update({metric: rate * mean_s for metric, rate in rates.items() if rate is not None})
        vector = numbers.get((_SOL, _VECTOR_FLOPS, _AVERAGE))
        if vector is not None:
            more["flops.vector.fp32"] = vector * mean_s
    cycles = numbers.get((_WAVE, _WAVE_CYCLES, _AVERAGE))
    for title, metric in _WAITS.items():
        waited = numbers.get((_WAVE, title, _AVERAGE))
        if waited is not None and cycles:
            more[metric] = 100 * waited / cycles
    threads, group = found.get("grid_threads"), found.get("block_threads")
    if threads and group:
        more["grid_blocks"] = -(-threads // group)
    active = numbers.get((_LDS, "Index Accesses", _AVERAGE))
    if active is not None and "shared_conflicts" in found:
        more["shared_accesses"] = active - found["shared_conflicts"]
    return more


def _raw(value: float, unit: str) -> RawMetric:
    """Return a value in base units; the tool prints units in mangled case."""
    scale, base = _SCALES.get(unit.strip().lower(), (1.0, unit))
    return RawMetric(value * scale, base)


def _is_database(head: ReportHead) -> bool:
    return {"compute_kernel", "compute_dispatch", "compute_metadata"} <= head.tables


ROCPROF_COMPUTE_DB = Reader(_FORMAT, "rocprof-compute analysis database", _is_database, read_rocprof_compute_db)
