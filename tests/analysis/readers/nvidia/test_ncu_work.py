"""Work and peaks of ncu counters, by hand-worked numbers."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.readers.nvidia.ncu_work import count_work

OP = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"


def test_a_fused_operation_counts_two():
    """10 adds, 20 multiplies and 30 fused ones are 90 operations."""
    raw = {OP.format("fadd"): 10.0, OP.format("fmul"): 20.0, OP.format("ffma"): 30.0}
    assert count_work(raw, None).metrics["flops.vector.fp32"] == 90.0


def test_a_packed_half_operation_counts_four_when_fused():
    """hadd and hmul count 2, hfma 4: 2 + 4 + 12."""
    raw = {OP.format("hadd"): 1.0, OP.format("hmul"): 2.0, OP.format("hfma"): 3.0}
    assert count_work(raw, None).metrics["flops.vector.fp16"] == 18.0


def test_half_fmas_alone_may_be_moves_of_registers():
    """`HFMA2.MMA R4, -RZ, RZ, 0, 0` is counted as an FMA; with an addition beside them they are arithmetic."""
    alone, mixed = ({OP.format("hadd"): added, OP.format("hmul"): 0.0, OP.format("hfma"): 3.0} for added in (0.0, 1.0))
    assert count_work(alone, None).bounds == {"flops.vector.fp16": "upper"}
    assert count_work(mixed, None).bounds == {}
    assert count_work({OP.format("hfma"): 3.0}, None).bounds == {"flops.vector.fp16": "lower"}


def test_rates_a_cycle_are_multiplied_by_the_cycles():
    """3 a cycle over 100 cycles are 300."""
    raw = {f"{OP.format(op)}.per_cycle_elapsed": 1.0 for op in ("dadd", "dmul")}
    raw |= {f"{OP.format('dfma')}.per_cycle_elapsed": 0.5, "smsp__cycles_elapsed.avg": 100.0}
    assert count_work(raw, None).metrics["flops.vector.fp64"] == pytest.approx(300.0)


def test_some_of_the_counters_are_a_lower_bound():
    """Only fused operations were collected."""
    found = count_work({OP.format("ffma"): 4.0}, None)
    assert (found.metrics["flops.vector.fp32"], found.bounds["flops.vector.fp32"]) == (8.0, "lower")


def test_no_counter_is_no_number():
    """FLOPs that were not counted are absent; a tensor kernel is no kernel without work."""
    assert count_work({}, 1.0).metrics == {}


def test_tensor_operations_add_up_by_source_type():
    """Two instruction kinds of one type are summed; sparse ones make an upper bound."""
    raw = {
        "sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum": 100.0,
        "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32_sparsity_off.sum": 20.0,
        "sm__ops_path_tensor_op_igmma_src_int8_sparsity_on.sum": 7.0,
        "sm__ops_path_tensor_src_tf32_dst_fp32_sparsity_off.sum": 5.0,
        "sm__ops_path_tensor_op_utcqmma_src_fp4_fp6_fp8_dst_fp32_sparsity_off.sum": 3.0,
    }
    found = count_work(raw, None)
    assert found.metrics["flops.matrix.fp16"] == 120.0
    assert (found.metrics["flops.matrix.int8"], found.bounds["flops.matrix.int8"]) == (7.0, "upper")
    assert (found.metrics["flops.matrix.tf32"], found.metrics["flops.matrix.fp8"]) == (5.0, 3.0)


STEM = "sm__ops_path_tensor_{}.sum"


def test_a_total_and_its_parts_count_once():
    """A full set on Hopper stores the total of a source type beside the instruction that did it."""
    whole = {STEM.format("src_bf16_dst_fp32"): 1116691496960.0}
    part = {STEM.format("op_hgmma_src_bf16_dst_fp32_sparsity_off"): 1116691496960.0}
    for raw in (whole, part, whole | part):
        assert count_work(raw, None).metrics["flops.matrix.bf16"] == 1116691496960.0


def test_a_total_covers_instructions_without_a_counter():
    """FP64 has a total and no parts; a total of 30 over one known part of 20 is 30."""
    raw = {STEM.format("src_fp64"): 5.0, STEM.format("src_fp16"): 30.0}
    raw[STEM.format("op_hmma_src_fp16_dst_fp32_sparsity_off")] = 20.0
    found = count_work(raw, None).metrics
    assert (found["flops.matrix.fp64"], found["flops.matrix.fp16"]) == (5.0, 30.0)


def test_a_total_with_sparse_parts_is_an_upper_bound():
    """Sparse operations count their zeros, whichever counter the amount comes from."""
    raw = {STEM.format("src_fp16"): 30.0, STEM.format("op_hgmma_src_fp16_sparsity_on"): 30.0}
    found = count_work(raw, None)
    assert (found.metrics["flops.matrix.fp16"], found.bounds["flops.matrix.fp16"]) == (30.0, "upper")


def test_the_matrix_peak_is_the_dense_one():
    """114 SMs x 4096 a clock at 1 GHz; the peak of the total is that of sparse operations, twice as high."""
    raw = {
        STEM.format("src_bf16_dst_fp32") + ".peak_sustained": 933888.0,
        STEM.format("op_hgmma_src_bf16_dst_fp32_sparsity_off") + ".peak_sustained": 466944.0,
        STEM.format("op_hgmma_src_bf16_dst_fp32_sparsity_on") + ".peak_sustained": 933888.0,
        "sm__cycles_elapsed.avg.per_second": 1e9,
    }
    assert count_work(raw, None).metrics["run_peak.matrix.bf16"] == pytest.approx(466944e9)


def test_peaks_are_at_the_clock_of_the_run():
    """Width times clock: 2 x 10 x 1e9 FLOP/s, 4 x 2e9 B/s, 16 x 32 x 1e9 B/s."""
    raw = {
        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": 10.0,
        "sm__cycles_elapsed.avg.per_second": 1e9,
        "dram__bytes.sum.peak_sustained": 4.0,
        "dram__cycles_elapsed.avg.per_second": 2e9,
        "lts__lts2xbar_cycles_active.sum.peak_sustained": 16.0,
        "lts__cycles_elapsed.avg.per_second": 1e9,
    }
    found = count_work(raw, None).metrics
    assert found["run_peak.vector.fp32"] == 2e10
    assert found["run_peak.dram_bytes_per_s"] == 8e9
    assert found["run_peak.l2_bytes_per_s"] == 512e9


def test_a_byte_rate_becomes_bytes_by_the_time():
    """3 GB/s for 2 ms are 6 MB."""
    assert count_work({"dram__bytes.sum.per_second": 3e9}, 2e-3).metrics["dram_bytes"] == pytest.approx(6e6)


def test_dram_sectors_are_32_bytes():
    """Reports without byte counters still know the traffic."""
    assert count_work({"dram__sectors_read.sum": 10.0}, None).metrics["dram_read_bytes"] == 320.0


def test_shared_wavefronts_only_bound_the_bytes():
    """A pass moves up to 128 bytes."""
    found = count_work({"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": 2.0}, None)
    assert (found.metrics["shared_bytes"], found.bounds["shared_bytes"]) == (256.0, "upper")
