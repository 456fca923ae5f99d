"""The closed vocabulary of the wiki: metrics, their axes and units, axis values, and lookup aliases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.errors import BadInput

__all__ = [
    "ALIASES",
    "AXES",
    "AXIS_DEFAULTS",
    "METRICS",
    "Metric",
    "UnknownMetric",
    "asked",
    "canonical_key",
    "fits",
    "metric",
]


class UnknownMetric(BadInput):
    """A metric id that the vocabulary does not have."""

    code = "KB020"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of the vocabulary.

    Attributes:
        id: Name used in pages, keys, citations and JSON.
        axes: Required conditions, in order.
        dimension: Dimension of its unit; "token" for words.
        tokens: Allowed words of a token metric; empty means any word.
        binary: Vendors print KB and MB for this metric and mean 1024-based sizes.
        meaning: One sentence.
    """

    id: str
    axes: tuple[str, ...]
    dimension: str
    meaning: str
    tokens: tuple[str, ...] = ()
    binary: bool = False


FLOAT_DTYPES = (
    "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp8_e5m2", "fp6", "fp4", "mxfp8", "mxfp6", "mxfp4", "nvfp4",
)  # fmt: skip
INT_DTYPES = ("int32", "int8", "int4")

AXES: dict[str, tuple[str, ...]] = {
    "dtype": FLOAT_DTYPES + INT_DTYPES,
    "engine": ("matrix", "vector"),
    "sparsity": ("dense", "2:4"),
    "acc": ("fp16", "fp32", "fp64", "int32", "unstated"),
    "clock": ("base", "boost", "max", "sustained", "unstated"),
    "class": ("base", "boost", "max", "sustained", "unstated"),
    "ops": ("all", "matrix", "vector"),
    "op": ("read", "write"),
    "shape": (),
    "data": ("random", "zeros", "trig", "unstated"),
    "level": ("dram", "llc", "l2", "l1", "shared"),
    "by": ("events", "graph", "host"),
    "pattern": ("copy", "read", "write", "triad", "dot", "unstated"),
    "bytes": (),
    "direction": ("each", "both", "read", "write"),
    "die": ("xcd", "gcd", "die"),
    "multiplier": ("x1", "x2", "x4", "x8"),
    "mode": ("static", "optin", "portable"),
    "link": (),
    "subsystem": (),
    "route": (),
    "kind": ("tdp", "cap_min", "cap_default", "cap_max", "diag_target"),
    "file": ("gpr", "vgpr", "agpr", "sgpr"),
    "scope": ("sm", "die", "xcd", "gcd", "gpu", "package", "superchip", "board", "node", "rack", "link"),
    "config": ("shipped", "full", "visible"),
}

AXIS_DEFAULTS: dict[str, str] = {"scope": "gpu", "config": "shipped"}

_MEMORY_TYPES = (
    "HBM2", "HBM2e", "HBM3", "HBM3e", "HBM4", "GDDR5", "GDDR6", "GDDR6X", "GDDR7", "LPDDR5", "LPDDR5X",
)  # fmt: skip

_LIST: tuple[Metric, ...] = (
    Metric("peak_compute", ("dtype", "engine", "sparsity", "acc", "clock"), "op/s", "documented peak rate"),
    Metric("ops_per_clock_per_sm", ("dtype", "engine", "sparsity", "acc"), "op/clk", "operations an SM or CU does a clock, FMA = 2"),
    Metric("sfu_ops_per_clock_per_sm", ("dtype",), "op/clk", "special functions (exp2, rsqrt, …) an SM does a clock"),
    Metric("acceptance_compute", ("dtype", "data"), "op/s", "a vendor's pass limit: a lower bound, never a peak"),
    Metric("measured_compute", ("dtype", "engine", "acc", "shape", "data"), "op/s", "rate measured on the part"),
    Metric("measured_bandwidth", ("level", "pattern", "bytes"), "B/s", "bytes read plus bytes written over time, measured"),
    Metric("measured_latency", ("level",), "s", "load-to-use latency measured on the part"),
    Metric("measured_launch", ("by",), "s", "time of a kernel that does nothing: by events around it, in a graph, until the host knows"),
    Metric("route_products", ("dtype", "route"), "count", "products of a type that stand for one product of a wider type"),
    Metric("route_bits", ("dtype", "route"), "bit", "significant bits of the operands that a route keeps at most"),
    Metric("sm_count", (), "count", "streaming multiprocessors or compute units"),
    Metric("die_count", ("die",), "count", "compute dies in the package"),
    Metric("matrix_units", (), "count", "tensor or matrix cores of the GPU"),
    Metric("simds_per_sm", (), "count", "SIMD units or sub-partitions of an SM or CU"),
    Metric("lanes_per_sm", ("dtype",), "count", "vector lanes of an SM or CU, one FMA a clock each"),
    Metric("sm_clock", ("class", "ops"), "Hz", "clock of the SMs or CUs"),
    Metric("memory_clock", ("multiplier",), "Hz", "memory clock as printed; the axis gives transfers a clock"),
    Metric("memory_data_rate", (), "bit/s", "data rate of one memory pin"),
    Metric("memory_capacity", (), "B", "device memory"),
    Metric("memory_bandwidth", (), "B/s", "documented peak bandwidth of device memory"),
    Metric("memory_bus_width", (), "bit", "width of the device memory bus"),
    Metric("memory_stacks", (), "count", "memory stacks or chips"),
    Metric("memory_type", (), "token", "memory technology", tokens=_MEMORY_TYPES),
    Metric("memory_ecc", (), "token", "error correction of device memory", tokens=("yes", "no", "optional")),
    Metric("l1_capacity", (), "B", "L1 data cache of one SM or CU", binary=True),
    Metric("l1_shared_pool", (), "B", "unified L1 and shared memory of one SM", binary=True),
    Metric("l1_bandwidth", ("op",), "B/clk", "L1 bandwidth of one SM or CU"),
    Metric("l2_capacity", (), "B", "L2 cache", binary=True),
    Metric("l2_bandwidth", ("direction", "clock"), "B/s", "L2 bandwidth of the GPU"),
    Metric("llc_capacity", (), "B", "memory-side last level cache (Infinity Cache)", binary=True),
    Metric("llc_bandwidth", ("direction",), "B/s", "bandwidth of the memory-side cache"),
    Metric("scalar_cache_capacity", (), "B", "scalar data cache, as large as the units that share it see it", binary=True),
    Metric("instruction_cache_capacity", (), "B", "instruction cache, as large as the units that share it see it", binary=True),
    Metric("cache_line", ("level",), "B", "cache line"),
    Metric("cache_sector", ("level",), "B", "smallest unit a cache fetches"),
    Metric("shared_memory_per_sm", (), "B", "shared memory or LDS of one SM or CU", binary=True),
    Metric("shared_memory_per_block", ("mode",), "B", "most shared memory one block may use", binary=True),
    Metric("shared_memory_reserved_per_block", (), "B", "shared memory the system takes from each block", binary=True),
    Metric("shared_memory_granule", (), "B", "allocation unit of shared memory or LDS", binary=True),
    Metric("shared_memory_banks", (), "count", "shared memory banks"),
    Metric("shared_memory_bank_width", (), "B", "width of one bank"),
    Metric("shared_memory_bandwidth", ("op",), "B/clk", "shared memory bandwidth of one SM or CU"),
    Metric("tensor_memory_per_sm", (), "B", "tensor memory of one SM", binary=True),
    Metric("registers_per_sm", ("file",), "count", "32-bit registers of one SM or CU"),
    Metric("registers_per_simd", ("file",), "count", "32-bit registers of one SIMD, lanes included"),
    Metric("registers_per_block", (), "count", "most registers one block may use"),
    Metric("registers_per_thread", ("file",), "count", "most registers one thread or lane may use"),
    Metric("register_granule", ("file",), "count", "allocation unit of registers"),
    Metric("warp_size", (), "count", "threads of a warp or wavefront"),
    Metric("warps_per_sm", (), "count", "most resident warps or waves of one SM or CU"),
    Metric("warps_per_simd", (), "count", "most resident waves of one SIMD"),
    Metric("threads_per_sm", (), "count", "most resident threads of one SM or CU"),
    Metric("threads_per_block", (), "count", "most threads of one block or workgroup"),
    Metric("blocks_per_sm", (), "count", "most resident blocks or workgroups of one SM or CU"),
    Metric("cluster_size", ("mode",), "count", "most blocks of a cluster"),
    Metric("link_bandwidth", ("link", "direction"), "B/s", "bandwidth of GPU-to-GPU links"),
    Metric("link_count", ("link",), "count", "GPU-to-GPU links"),
    Metric("host_bandwidth", ("link", "direction"), "B/s", "bandwidth of the link to the host"),
    Metric("board_power", ("kind",), "W", "board or module power"),
    Metric("pci_id", ("subsystem",), "token", "PCI vendor and device id; `any` unless a subsystem tells products apart"),
    Metric("compute_capability", (), "token", "CUDA compute capability"),
    Metric("gfx_target", (), "token", "AMD instruction set target"),
    Metric("fp8_format", (), "token", "8-bit float encoding the hardware implements", tokens=("ocp", "fnuz", "none")),
)  # fmt: skip

METRICS: dict[str, Metric] = {one.id: one for one in _LIST}

ALIASES: dict[str, str] = {
    "cu_count": "sm_count",
    "lds_per_cu": "shared_memory_per_sm",
    "lds_granule": "shared_memory_granule",
    "lds_banks": "shared_memory_banks",
    "lds_bandwidth": "shared_memory_bandwidth",
    "smem_per_sm": "shared_memory_per_sm",
    "smem_per_block": "shared_memory_per_block",
    "waves_per_simd": "warps_per_simd",
    "waves_per_cu": "warps_per_sm",
    "wave_size": "warp_size",
    "wavefront_size": "warp_size",
    "lanes_per_cu": "lanes_per_sm",
    "simds_per_cu": "simds_per_sm",
    "ops_per_clock_per_cu": "ops_per_clock_per_sm",
    "registers_per_cu": "registers_per_sm",
    "workgroups_per_cu": "blocks_per_sm",
    "threads_per_workgroup": "threads_per_block",
    "infinity_cache_capacity": "llc_capacity",
    "hbm_bandwidth": "memory_bandwidth",
    "hbm_capacity": "memory_capacity",
    "tdp": "board_power",
}


def metric(name: str) -> Metric:
    """Return the metric of that id or alias; raises `UnknownMetric` with suggestions."""
    folded = name.strip().lower().replace("-", "_")
    found = METRICS.get(ALIASES.get(folded, folded))
    if found is None:
        import difflib

        names = [*METRICS, *ALIASES]
        last_words = [
            name for name in names if difflib.get_close_matches(folded, [name.rpartition("_")[2]], cutoff=0.8)
        ]
        near = dict.fromkeys([*difflib.get_close_matches(folded, names, n=3, cutoff=0.6), *last_words])
        hint = f"did you mean {', '.join(near)}?" if near else "`kb lookup PLATFORM` prints every metric"
        hint = "conditions follow a metric, such as peak_compute dtype=bf16" if "=" in name else hint
        raise UnknownMetric(f"unknown metric {name!r}", fix=hint)
    return found


def canonical_key(one: Metric, axes: dict[str, str]) -> str:
    """Return `metric[axis=value;…]`, axes in order, defaults left out.

    >>> canonical_key(METRICS["cache_line"], {"level": "l2", "scope": "gpu"})
    'cache_line[level=l2]'
    """
    order = [*one.axes, *AXIS_DEFAULTS]
    parts = [f"{a}={axes[a]}" for a in order if a in axes and axes[a] != AXIS_DEFAULTS.get(a)]
    return f"{one.id}[{';'.join(parts)}]" if parts else one.id


def asked(wanted: Mapping[str, str], *, unnamed: Literal["default", "any"]) -> Mapping[str, str]:
    """Return the conditions a row must have, for `fits`.

    Args:
        wanted: The axes that were named.
        unnamed: What `scope` and `config` mean where they were not named: "default", the GPU as shipped alone, for
            whatever computes with the row; "any" for whatever shows rows to a reader. Other axes are free.
    """
    return {**AXIS_DEFAULTS, **wanted} if unnamed == "default" else wanted


def fits(axes: Mapping[str, str], conditions: Mapping[str, str]) -> bool:
    """Return whether the axes of a row, which leave defaults out, include these conditions."""
    return all(axes.get(axis, AXIS_DEFAULTS.get(axis)) == value for axis, value in conditions.items())
