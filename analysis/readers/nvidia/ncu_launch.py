"""Verbatim ncu metrics of one launch into a `ProfiledLaunch` in the common vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kopt_kb.analysis.profile import ProfiledLaunch, RawMetric, ReportPlace
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.nvidia.ncu_names import DIRECT, INSTRUCTION_SUMS, READ_BY, From
from kopt_kb.analysis.readers.nvidia.ncu_work import DerivedValues, count_work

__all__ = ["launch_of"]

_SI_UNITS = frozenset({"s", "Hz", "B", "B/s", "B/block"})
_SECTOR_BYTES = 32
_WARP_THREADS = 32
_ROUNDED = 0.005
_OPCODES = {
    "barrier_instructions": ("BAR", "BARRIER"),
    "special_instructions": ("MUFU",),
    "matrix_instructions": (
        "HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA", "HGMMA", "IGMMA", "QGMMA", "BGMMA",
        "UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA",
    ),
    "atomic_instructions": ("ATOM", "ATOMG", "RED", "REDG"),
    "shared_atomic_instructions": ("ATOMS",),
}  # fmt: skip


def launch_of(
    stated: ProfiledLaunch,
    raw: Mapping[str, RawMetric],
    opcodes: Mapping[str, float] | None = None,
) -> ProfiledLaunch:
    """Return the launch with normalised metrics.

    Args:
        stated: What a report says of it besides its metrics: name, place, shape, rules.
        raw: Metrics by verbatim name in base SI units.
        opcodes: Executed warp instructions by SASS opcode, when the report has them.

    Raises:
        ReportError: A metric has a unit that it can't have.
    """
    numbers = {name: metric.value for name, metric in raw.items() if not isinstance(metric.value, str)}
    metrics: dict[str, float] = {}
    for metric in sorted({metric for name in raw.keys() & READ_BY.keys() for metric in READ_BY[name]}):
        value = _direct(DIRECT[metric], raw, stated.place)
        if value is not None:
            metrics[metric] = value
    notes: tuple[str, ...] = ()
    if metrics.get("duration_s", 1.0) <= 0:
        notes = (f"launch {stated.id} takes {metrics.pop('duration_s') * 1e9:g} ns, which no kernel does: not a time",)
    counted = count_work(numbers, metrics.get("duration_s"))
    _sums(counted, numbers)
    _shape(metrics, stated)
    for metric, value in counted.metrics.items():
        metrics.setdefault(metric, value)
    _derived(metrics, counted, numbers)
    _exact_waves(metrics)
    _from_opcodes(metrics, opcodes or {})
    bounds = {metric: bound for metric, bound in counted.bounds.items() if metric not in DIRECT}
    demangled = stated.demangled or stated.name
    return replace(stated, demangled=demangled, metrics=metrics, bounds=bounds, raw=raw, notes=notes)


def _direct(source: From, raw: Mapping[str, RawMetric], place: ReportPlace) -> float | None:
    for name in source.names:
        metric = raw.get(name)
        if metric is None or isinstance(metric.value, str):
            continue
        if metric.unit and metric.unit != source.unit and {metric.unit, source.unit} & _SI_UNITS:
            raise ReportError(
                f"{name} in {metric.unit!r}, where {source.unit or 'a plain number'!r} is expected",
                where=str(place),
                fix="export the page again with --print-units base",
            )
        return metric.value * source.scale
    return None


def _sums(counted: DerivedValues, raw: Mapping[str, float]) -> None:
    for metric, names in INSTRUCTION_SUMS.items():
        known = [raw[name] for name in names if name in raw]
        if known:
            counted.put(metric, sum(known), "exact" if len(known) == len(names) else "lower")
    hits, misses = raw.get("lts__t_sectors_lookup_hit.sum"), raw.get("lts__t_sectors_lookup_miss.sum")
    if hits is not None and misses is not None:
        counted.put("l2_lookups", hits + misses)
    tensor = "sm__pipe_{}_cycles_active.avg.pct_of_peak_sustained_{}"
    for metric, span in (("pipe.tensor_pct", "active"), ("pipe_elapsed.tensor_pct", "elapsed")):
        uses = [raw.get(tensor.format(pipe, span)) for pipe in ("tensor", "tensor_v2", "tc")]
        parts = [raw.get(tensor.format(f"tensor_op_{op}", span)) for op in ("hmma", "imma", "dmma")]
        known_uses = [one for one in (uses if any(one is not None for one in uses) else parts) if one is not None]
        if known_uses:
            counted.put(metric, max(known_uses))


def _shape(metrics: dict[str, float], stated: ProfiledLaunch) -> None:
    if stated.grid is not None:
        metrics.setdefault("grid_blocks", stated.grid.size)
    if stated.block is not None:
        metrics.setdefault("block_threads", stated.block.size)
    if stated.target:
        metrics["compute_capability"] = float(stated.target.removeprefix("sm_"))
    metrics.setdefault("wave_threads", _WARP_THREADS)


def _derived(metrics: dict[str, float], counted: DerivedValues, raw: Mapping[str, float]) -> None:
    read, write = metrics.get("dram_read_bytes"), metrics.get("dram_write_bytes")
    if read is not None and write is not None:
        metrics["dram_bytes"] = read + write
    read, write = metrics.get("l2_read_bytes"), metrics.get("l2_write_bytes")
    if read is not None and write is not None:
        metrics["l2_bytes"] = read + write
    duration_s, traffic = metrics.get("duration_s"), metrics.get("dram_bytes")
    if duration_s and traffic is not None:
        metrics.setdefault("dram_bytes_per_s", traffic / duration_s)
    threads = metrics.get("threads_per_instruction")
    share_pct = raw.get("smsp__thread_inst_executed_per_inst_executed.pct")
    if threads is None and share_pct is not None:
        threads = metrics["threads_per_instruction"] = share_pct / 100 * _WARP_THREADS
    if threads is not None:
        metrics["warp_efficiency_pct"] = 100 * threads / _WARP_THREADS
    issue_pct = raw.get("smsp__issue_active.avg.pct_of_peak_sustained_active")
    if issue_pct is not None:
        metrics.setdefault("issue_active", issue_pct / 100)
    for kind, op in (("load", "ld"), ("store", "st")):
        _access(metrics, raw, kind, op)
    counted.bounds.pop("dram_bytes", None)


def _exact_waves(metrics: dict[str, float]) -> None:
    """Undo the two decimals CSV pages round waves to, which decide between a small grid and latency."""
    printed, blocks, sms = (metrics.get(one) for one in ("waves_per_sm", "grid_blocks", "sm_count"))
    limits = [value for metric, value in metrics.items() if metric.startswith("occupancy_limit.")]
    if printed is None or blocks is None or not sms or not limits or min(limits) <= 0:
        return
    exact = blocks / (sms * min(limits))
    if abs(exact - printed) <= _ROUNDED:
        metrics["waves_per_sm"] = exact


def _access(metrics: dict[str, float], raw: Mapping[str, float], kind: str, op: str) -> None:
    sectors, requests = metrics.get(f"global_{kind}_sectors"), metrics.get(f"global_{kind}_requests")
    if sectors is not None:
        metrics.setdefault(f"global_{kind}_bytes", sectors * _SECTOR_BYTES)
    if sectors is not None and requests:
        metrics.setdefault(f"global_{kind}_sectors_per_request", sectors / requests)
    per_request = metrics.get(f"global_{kind}_sectors_per_request")
    if per_request is not None:
        metrics.setdefault(f"global_{kind}_bytes_per_request", per_request * _SECTOR_BYTES)
    used_pct = raw.get(f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{op}.pct")
    if used_pct is not None:
        metrics.setdefault(f"global_{kind}_useful_bytes_per_sector", used_pct / 100 * _SECTOR_BYTES)


def _from_opcodes(metrics: dict[str, float], opcodes: Mapping[str, float]) -> None:
    if not opcodes:
        return
    for metric, names in _OPCODES.items():
        metrics.setdefault(metric, sum(opcodes.get(name, 0.0) for name in names))
