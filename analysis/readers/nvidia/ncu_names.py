"""Which ncu metric stands for which normalised metric, in order of preference, with the unit it must have."""

from __future__ import annotations

from typing import NamedTuple

from kopt_kb.analysis.profile import STALL_REASONS

__all__ = ["DIRECT", "INSTRUCTION_SUMS", "NUMERIC", "READ_BY", "From"]


class From(NamedTuple):
    """Where a normalised value comes from.

    Attributes:
        unit: Base unit the metric must have; empty when any word will do (older tools left it out).
        names: Metric names, the first that the report has wins.
        scale: Factor to the unit of the vocabulary.
    """

    unit: str
    names: tuple[str, ...]
    scale: float = 1.0


_ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
_ACTIVE = ".avg.pct_of_peak_sustained_active"
_SAMPLE_SPELLINGS = {"no_instruction": ("no_instructions", "no_inst"), "gmma": ("gmma", "warpgroup_arrive")}


def _pct(*names: str) -> From:
    return From("%", names)


def _any(*names: str) -> From:
    return From("", names)


def _bytes(*names: str) -> From:
    return From("B", names)


_PIPE_CYCLES = {
    "fma": ("sm__pipe_fma_cycles_active", "sm__inst_executed_pipe_fma", "sm__inst_executed_pipe_fp32"),
    "fp16": ("sm__pipe_fp16_cycles_active", "sm__inst_executed_pipe_fp16", "sm__inst_executed_pipe_fma_type_fp16"),
    "fp64": ("sm__pipe_fp64_cycles_active", "sm__inst_executed_pipe_fp64"),
    "alu": ("sm__pipe_alu_cycles_active", "sm__inst_executed_pipe_alu"),
    "xu": ("sm__pipe_xu_cycles_active", "sm__inst_executed_pipe_xu"),
    "lsu": ("sm__inst_executed_pipe_lsu",),
    "tex": ("sm__inst_executed_pipe_tex",),
    "tma": ("sm__pipe_tma_cycles_active", "sm__inst_executed_pipe_tma"),
    "uniform": ("sm__inst_executed_pipe_uniform",),
    "cbu": ("sm__inst_executed_pipe_cbu", "sm__inst_executed_pipe_cbu_pred_on_any"),
    "adu": ("sm__inst_executed_pipe_adu",),
    "tensor_memory": ("sm__mem_tensor_cycles_active",),
}

_TIME = {
    "duration_s": From("s", ("gpu__time_duration.sum", "gpu__time_duration.avg", "gpu__time_duration.max")),
    "elapsed_cycles": From("cycle", ("gpc__cycles_elapsed.max", "sm__cycles_elapsed.max", "gpu__cycles_elapsed.max")),
    "sm_frequency_hz": From(
        "Hz",
        (
            "gpc__cycles_elapsed.avg.per_second",
            "smsp__cycles_elapsed.avg.per_second",
            "sm__cycles_elapsed.avg.per_second",
        ),
    ),
    "dram_frequency_hz": From("Hz", ("dram__cycles_elapsed.avg.per_second",)),
    "sm_active_cycles": From("cycle", ("sm__cycles_active.avg",)),
    "sm_active_cycles_max": From("cycle", ("sm__cycles_active.max",)),
    "sm_active_cycles_min": From("cycle", ("sm__cycles_active.min",)),
}

_THROUGHPUT = {
    "sm_sol_pct": _pct("sm__throughput" + _ELAPSED),
    "memory_sol_pct": _pct("gpu__compute_memory_throughput" + _ELAPSED),
    "dram_sol_pct": _pct("gpu__dram_throughput" + _ELAPSED, "dram__throughput" + _ELAPSED),
    "l2_sol_pct": _pct("lts__throughput" + _ELAPSED),
    "l1_sol_pct": _pct("l1tex__throughput" + _ACTIVE),
    "l1_hit_pct": _pct("l1tex__t_sector_hit_rate.pct"),
    "l2_hit_pct": _pct("lts__t_sector_hit_rate.pct"),
    "l2_atomic_pct": _pct("lts__d_atomic_input_cycles_active" + _ELAPSED),
}

_LAUNCH = {
    "grid_blocks": _any("launch__grid_size"),
    "block_threads": _any("launch__block_size"),
    "cluster_blocks": _any("launch__cluster_size"),
    "registers_per_thread": _any("launch__registers_per_thread"),
    "shared_static_bytes": From("B/block", ("launch__shared_mem_per_block_static",)),
    "shared_dynamic_bytes": From("B/block", ("launch__shared_mem_per_block_dynamic",)),
    "shared_driver_bytes": From("B/block", ("launch__shared_mem_per_block_driver",)),
    "shared_block_bytes": From("B/block", ("launch__shared_mem_per_block",)),
    "shared_config_bytes": _bytes("launch__shared_mem_config_size"),
    "sm_count": _any("launch__sm_count", "device__attribute_multiprocessor_count"),
    "wave_threads": _any("device__attribute_warp_size"),
    "waves_per_sm": _any("launch__waves_per_multiprocessor"),
    "achieved_occupancy_pct": _pct("sm__warps_active" + _ACTIVE),
    "theoretical_occupancy_pct": _pct("sm__maximum_warps_per_active_cycle_pct"),
    "active_warps_per_sm": _any("sm__warps_active.avg.per_cycle_active"),
    "occupancy_limit.blocks": _any("launch__occupancy_limit_blocks"),
    "occupancy_limit.registers": _any("launch__occupancy_limit_registers"),
    "occupancy_limit.shared": _any("launch__occupancy_limit_shared_mem"),
    "occupancy_limit.warps": _any("launch__occupancy_limit_warps"),
    "occupancy_limit.barriers": _any("launch__occupancy_limit_barriers"),
}


def _access(kind: str, op: str) -> dict[str, From]:
    l1 = "l1tex__{}_pipe_lsu_mem_{}_op_" + op + ".sum"
    sass = "smsp__sass_inst_executed_op_{}_" + op + ".sum"
    executed = "sass__inst_executed_{}_" + kind + "s"
    return {
        f"global_{kind}_requests": _any(l1.format("t_requests", "global")),
        f"global_{kind}_sectors": _any(l1.format("t_sectors", "global")),
        f"global_{kind}_sectors_per_request": _any(
            f"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{op}.ratio"
        ),
        f"global_{kind}_bytes": _bytes(l1.format("t_bytes", "global")),
        f"global_{kind}_useful_bytes_per_sector": _any(
            f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{op}.ratio"
        ),
        f"shared_{kind}_instructions": _any(
            sass.format("shared"), f"smsp__inst_executed_op_shared_{op}.sum", executed.format("shared")
        ),
        f"shared_{kind}_wavefronts": _any(f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"),
        f"shared_{kind}_conflicts": _any(l1.format("data_bank_conflicts", "shared")),
        f"local_{kind}_instructions": _any(sass.format("local"), executed.format("local")),
        f"local_{kind}_sectors": _any(l1.format("t_sectors", "local")),
    }


_TRAFFIC = {
    "dram_read_bytes": _bytes("dram__bytes_read.sum", "dram__bytes_op_read.sum"),
    "dram_write_bytes": _bytes("dram__bytes_write.sum", "dram__bytes_op_write.sum"),
    "dram_bytes_per_s": From("B/s", ("dram__bytes.sum.per_second",)),
    "l2_read_bytes": _bytes("l1tex__m_xbar2l1tex_read_bytes.sum"),
    "l2_write_bytes": _bytes("l1tex__m_l1tex2xbar_write_bytes.sum"),
    "l2_hits": _any("lts__t_sectors_lookup_hit.sum"),
    "l2_global_sectors": _any("memory_l2_theoretical_sectors_global"),
    "l2_global_sectors_ideal": _any("memory_l2_theoretical_sectors_global_ideal"),
    "shared_wavefronts": _any("memory_l1_wavefronts_shared"),
    "shared_wavefronts_ideal": _any("memory_l1_wavefronts_shared_ideal"),
    "shared_conflicts": _any("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
    "spill_requests": _any("derived__local_spilling_requests"),
    "spill_instructions": _any("sass__inst_executed_register_spilling"),
    "shared_atomic_instructions": _any("smsp__inst_executed_op_shared_atom.sum"),
}

_ISSUE = {
    "instructions": _any("smsp__inst_executed.sum", "sm__inst_executed.sum", "inst_executed"),
    "thread_instructions": _any("smsp__thread_inst_executed.sum", "thread_inst_executed"),
    "warps_launched": _any("sm__warps_launched.sum", "smsp__warps_launched.sum"),
    "branches": _any("smsp__inst_executed_op_branch.sum", "branch_inst_executed"),
    "divergent_branches": _any(
        "smsp__sass_branch_targets_threads_divergent.sum", "smsp__branch_targets_threads_divergent"
    ),
    "branch_efficiency_pct": _pct("smsp__sass_average_branch_targets_threads_uniform.pct"),
    "issue_active": _any("smsp__issue_active.avg.per_cycle_active"),
    "instructions_per_cycle": _any("sm__inst_executed.avg.per_cycle_active"),
    "eligible_warps_per_scheduler": _any("smsp__warps_eligible.avg.per_cycle_active"),
    "active_warps_per_scheduler": _any("smsp__warps_active.avg.per_cycle_active"),
    "warp_latency_cycles": _any("smsp__average_warp_latency_per_inst_issued.ratio"),
    "threads_per_instruction": _any("smsp__thread_inst_executed_per_inst_executed.ratio"),
    "unpredicated_threads_per_instruction": _any("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"),
}


def _stalls() -> dict[str, From]:
    found: dict[str, From] = {}
    for reason in STALL_REASONS:
        spellings = _SAMPLE_SPELLINGS.get(reason, (reason,))
        ratio = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
        found[f"stall.{reason}"] = _any(*(ratio.format(one) for one in (reason, *spellings)))
        found[f"stall_samples.{reason}"] = _any(*(f"smsp__pcsamp_warps_issue_stalled_{one}" for one in spellings))
    return found


def _pipes() -> dict[str, From]:
    found: dict[str, From] = {}
    for pipe, stems in _PIPE_CYCLES.items():
        found[f"pipe.{pipe}_pct"] = _pct(*(stem + _ACTIVE for stem in stems))
        found[f"pipe_elapsed.{pipe}_pct"] = _pct(*(stem + _ELAPSED for stem in stems))
    return found


DIRECT: dict[str, From] = {
    **_TIME,
    **_THROUGHPUT,
    **_LAUNCH,
    **_TRAFFIC,
    **_access("load", "ld"),
    **_access("store", "st"),
    **_ISSUE,
    **_stalls(),
    **_pipes(),
}
"""Normalised metrics that are one ncu metric. Names as ncu 2020 to 2026 print them."""

READ_BY: dict[str, tuple[str, ...]] = {
    name: tuple(metric for metric, source in DIRECT.items() if name in source.names)
    for name in dict.fromkeys(name for source in DIRECT.values() for name in source.names)
}
"""Normalised metrics that each ncu metric may stand for."""

INSTRUCTION_SUMS: dict[str, tuple[str, ...]] = {
    "atomic_instructions": (
        "smsp__inst_executed_op_global_red.sum",
        "smsp__inst_executed_op_generic_atom_dot_alu.sum",
        "smsp__inst_executed_op_generic_atom_dot_cas.sum",
    ),
    "atomic_requests": (
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    ),
}
"""Normalised metrics that are the sum of several; the value is a lower bound when only some are collected."""

NUMERIC: frozenset[str] = frozenset(
    [name for source in DIRECT.values() for name in source.names]
    + [name for names in INSTRUCTION_SUMS.values() for name in names]
)
"""Names whose value must be a number; text in such a cell is damage."""
