"""Labels of ncu's details page and console text, and the metric each one shows."""

from __future__ import annotations

import re

__all__ = ["metric_name", "sol_title"]

_ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
_ACTIVE = ".avg.pct_of_peak_sustained_active"
_REAL_NAME = re.compile(r"[a-z][a-z0-9_]*_[\w.:]*")

_MEMORY_THROUGHPUT = "Memory Throughput"
_LABELS = {
    "Duration": "gpu__time_duration.sum",
    "Threads": "launch__thread_count",
    "DRAM Frequency": "dram__cycles_elapsed.avg.per_second",
    "SM Frequency": "gpc__cycles_elapsed.avg.per_second",
    "Elapsed Cycles": "gpc__cycles_elapsed.max",
    "Memory [%]": "gpu__compute_memory_throughput" + _ELAPSED,
    "SM [%]": "sm__throughput" + _ELAPSED,
    "SOL SM": "sm__throughput" + _ELAPSED,
    "SOL L1/TEX Cache": "l1tex__throughput" + _ACTIVE,
    "SOL L2 Cache": "lts__throughput" + _ELAPSED,
    "SOL DRAM": "gpu__dram_throughput" + _ELAPSED,
    "SOL FB": "gpu__dram_throughput" + _ELAPSED,
    "SOL Memory": "gpu__compute_memory_throughput" + _ELAPSED,
    "DRAM Throughput": "gpu__dram_throughput" + _ELAPSED,
    "L1/TEX Cache Throughput": "l1tex__throughput" + _ACTIVE,
    "L2 Cache Throughput": "lts__throughput" + _ELAPSED,
    "SM Active Cycles": "sm__cycles_active.avg",
    "Compute (SM) Throughput": "sm__throughput" + _ELAPSED,
    "Compute (SM) [%]": "sm__throughput" + _ELAPSED,
    "Executed Ipc Active": "sm__inst_executed.avg.per_cycle_active",
    "Executed Ipc Elapsed": "sm__inst_executed.avg.per_cycle_elapsed",
    "Issued Ipc Active": "sm__inst_issued.avg.per_cycle_active",
    "Issue Slots Busy": "sm__inst_issued" + _ACTIVE,
    "SM Busy": "sm__instruction_throughput" + _ACTIVE,
    "Mem Busy": "gpu__compute_memory_access_throughput" + _ELAPSED,
    "Max Bandwidth": "gpu__compute_memory_request_throughput" + _ELAPSED,
    "L1/TEX Hit Rate": "l1tex__t_sector_hit_rate.pct",
    "L2 Hit Rate": "lts__t_sector_hit_rate.pct",
    "Mem Pipes Busy": "sm__memory_throughput" + _ELAPSED,
    "One or More Eligible": "smsp__issue_active" + _ACTIVE,
    "Issued Warp Per Scheduler": "smsp__issue_active.avg.per_cycle_active",
    "No Eligible": "smsp__issue_inst0" + _ACTIVE,
    "Active Warps Per Scheduler": "smsp__warps_active.avg.per_cycle_active",
    "Eligible Warps Per Scheduler": "smsp__warps_eligible.avg.per_cycle_active",
    "Warp Cycles Per Issued Instruction": "smsp__average_warp_latency_per_inst_issued.ratio",
    "Warp Cycles Per Executed Instruction": "smsp__average_warps_active_per_inst_executed.ratio",
    "Avg. Active Threads Per Warp": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "Avg. Not Predicated Off Threads Per Warp": "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
    "Avg. Executed Instructions Per Scheduler": "smsp__inst_executed.avg",
    "Executed Instructions": "smsp__inst_executed.sum",
    "Avg. Issued Instructions Per Scheduler": "smsp__inst_issued.avg",
    "Issued Instructions": "smsp__inst_issued.sum",
    "Block Size": "launch__block_size",
    "Cluster Scheduling Policy": "launch__cluster_scheduling_policy",
    "Cluster Size": "launch__cluster_size",
    "Preferred Cluster Size": "launch__preferred_cluster_size",
    "Function Cache Configuration": "launch__func_cache_config",
    "Grid Size": "launch__grid_size",
    "Registers Per Thread": "launch__registers_per_thread",
    "Shared Memory Configuration Size": "launch__shared_mem_config_size",
    "Driver Shared Memory Per Block": "launch__shared_mem_per_block_driver",
    "Dynamic Shared Memory Per Block": "launch__shared_mem_per_block_dynamic",
    "Static Shared Memory Per Block": "launch__shared_mem_per_block_static",
    "# SMs": "launch__sm_count",
    "# TPCs": "launch__tpc_count",
    "Enabled TPC IDs": "launch__tpc_enabled",
    "Stack Size": "launch__stack_size",
    "Uses Green Context": "launch__uses_green_context",
    "Waves Per SM": "launch__waves_per_multiprocessor",
    "Max Active Clusters": "launch__cluster_max_active",
    "Max Cluster Size": "launch__cluster_max_potential_size",
    "Overall GPU Occupancy": "launch__occupancy_cluster_gpu_pct",
    "Cluster Occupancy": "launch__occupancy_cluster_pct",
    "Block Limit Barriers": "launch__occupancy_limit_barriers",
    "Block Limit SM": "launch__occupancy_limit_blocks",
    "Block Limit Registers": "launch__occupancy_limit_registers",
    "Block Limit Shared Mem": "launch__occupancy_limit_shared_mem",
    "Block Limit Warps": "launch__occupancy_limit_warps",
    "Theoretical Active Warps per SM": "sm__maximum_warps_avg_per_active_cycle",
    "Theoretical Occupancy": "sm__maximum_warps_per_active_cycle_pct",
    "Achieved Occupancy": "sm__warps_active" + _ACTIVE,
    "Achieved Active Warps Per SM": "sm__warps_active.avg.per_cycle_active",
    "Average DRAM Active Cycles": "dram__cycles_active.avg",
    "Total DRAM Elapsed Cycles": "dram__cycles_elapsed.sum",
    "Average L1 Active Cycles": "l1tex__cycles_active.avg",
    "Total L1 Elapsed Cycles": "l1tex__cycles_elapsed.sum",
    "Average L2 Active Cycles": "lts__cycles_active.avg",
    "Total L2 Elapsed Cycles": "lts__cycles_elapsed.sum",
    "Average SM Active Cycles": "sm__cycles_active.avg",
    "Total SM Elapsed Cycles": "sm__cycles_elapsed.sum",
    "Average SMSP Active Cycles": "smsp__cycles_active.avg",
    "Total SMSP Elapsed Cycles": "smsp__cycles_elapsed.sum",
    "Branch Instructions Ratio": "derived__smsp__inst_executed_op_branch_pct",
    "Branch Instructions": "smsp__inst_executed_op_branch.sum",
    "Branch Efficiency": "smsp__sass_average_branch_targets_threads_uniform.pct",
    "Avg. Divergent Branches": "smsp__sass_branch_targets_threads_divergent.avg",
    "Local Spilling Requests": "derived__local_spilling_requests",
    "Local Spilling Request Overhead": "derived__local_spilling_requests_pct",
    "Shared Spilling Requests": "derived__shared_spilling_requests",
    "Shared Spilling Request Overhead": "derived__shared_spilling_requests_pct",
    "L2 Compression Success Rate": "lts__average_gcomp_input_sector_success_rate.pct",
    "L2 Compression Ratio": "lts__average_gcomp_input_sector_compression.ratio",
}

_SOL_OPENINGS = (
    ("grid is too small", "Small Grid"),
    ("low compute throughput and memory bandwidth", "Latency Issue"),
    ("Memory is more heavily utilized", "High Memory Throughput"),
    ("Compute is more heavily utilized", "High Compute Throughput"),
    ("well-balanced", "Balanced Throughput"),
    ("utilizing greater than", "High Throughput"),
    ("is utilizing", "High Throughput"),
)


def metric_name(section: str, label: str, unit: str) -> str:
    """Return the metric a label shows; unknown labels become `section/label`.

    Args:
        section: Section of the row.
        label: Printed name.
        unit: Printed unit: two sections call different metrics "Memory Throughput", one in percent.
    """
    if label == _MEMORY_THROUGHPUT:
        return "gpu__compute_memory_throughput" + _ELAPSED if unit.strip() == "%" else "dram__bytes.sum.per_second"
    if label in _LABELS:
        return _LABELS[label]
    return label if _REAL_NAME.fullmatch(label) or not section else f"{section}/{label}"


def sol_title(description: str) -> str:
    """Return the title of a Speed-of-Light verdict by the words of its description, empty for other texts."""
    return next((title for words, title in _SOL_OPENINGS if words in description), "")
