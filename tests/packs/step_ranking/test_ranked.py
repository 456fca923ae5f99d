from __future__ import annotations

import pytest

from kopt_kb.packs.step_ranking.chosen import choose_step
from kopt_kb.packs.step_ranking.joined import join
from kopt_kb.packs.step_ranking.ranked import categories_of, operator_times
from kopt_kb.packs.step_ranking.recorded import read_recorded
from tests.packs.step_ranking.traces import ADD, BF16, FP32, GEMM, event, kernel, launch, op, product, write


def _times(tmp_path, platform, *events):
    recorded = read_recorded(write(tmp_path / "t.json", *events))
    joined = join(recorded)
    return operator_times(recorded, joined, choose_step(recorded, joined), platform)


@pytest.fixture(scope="module")
def h100(registry):
    return registry.platform("H100_SXM")


def test_a_product_stands_under_the_documented_roof(tmp_path, h100) -> None:
    (one,) = _times(tmp_path, h100, *product(0, 1, 2000), *product(3000, 2, 2000))
    roof_s = 2 * 2 * 8192**3 / h100.require("peak_compute[dtype=bf16;engine=matrix;sparsity=dense]").si
    assert (one.operator, one.count, one.total_s, one.roof) == ("aten::mm", 2, 0.004, "bf16 matrix")
    assert one.roof_s == pytest.approx(float(roof_s))
    assert one.won_s == pytest.approx(0.004 - float(roof_s))
    assert one.floor_s < one.roof_s
    assert (one.share, one.share_of_roof) == (1, pytest.approx(float(roof_s) / 0.004))
    assert (one.change, one.library) == ("library", "cuBLAS, tile 128x128x64, bf16")


def test_where_a_product_has_no_documented_roof_its_vendors_measurement_stands(tmp_path, registry, h100) -> None:
    copy = kernel("Memcpy DtoD (Device -> Device)", 0, 900, category="gpu_memcpy", bytes=1 << 30)
    mi308x = registry.platform("MI308X")
    (one,), (other,) = _times(tmp_path, mi308x, copy), _times(tmp_path, h100, copy)
    assert (one.roof, one.roof_basis, other.roof_basis) == ("dram", "vendor_measured", "documented")
    assert one.roof_s == pytest.approx((2 << 30) / 2003.45e9)


def test_operators_are_ranked_by_what_can_be_won_and_those_without_a_roof_follow(tmp_path, h100) -> None:
    add = [op("aten::add", 5000, 20, [[1 << 20], [1 << 20]], [FP32, FP32]), launch(5005, 2), kernel(ADD, 5010, 90, 2)]
    strange = [launch(6000, 3), kernel("strange", 6010, 8000, 3)]
    copy = kernel("Memcpy HtoD (Pinned -> Device)", 15000, 10, category="gpu_memcpy", bytes=8)
    inner = kernel("Memcpy DtoD (Device -> Device)", 15100, 10, category="gpu_memcpy", bytes=1 << 20)
    fill = kernel("Memset (Device)", 15200, 10, category="gpu_memset", bytes=1 << 20)
    found = _times(tmp_path, h100, *product(0, 1, 2000), *add, *strange, copy, inner, fill)
    assert [one.operator or one.kernels[0][:11] for one in found] == [
        "aten::mm", "aten::add", "Memset (Dev", "Memcpy DtoD", "strange", "Memcpy HtoD"
    ]  # fmt: skip
    assert [one.why for one in found[4:]] == [
        "no operator around its launch", "the roof of a link to the host is not taken"
    ]  # fmt: skip
    shares = {one.category: (one.count, one.share) for one in categories_of(found)}
    assert list(shares) == ["rest", "products", "elementwise", "copies"]
    assert sum(share for _, share in shares.values()) == pytest.approx(1)


def test_an_operator_around_another_of_its_kind_counts_its_work_once(tmp_path, h100) -> None:
    dims, types = [[64, 64], [64, 64]], [BF16, BF16]
    events = [
        op("aten::linear", 0, 100, dims, types), op("aten::mm", 10, 50, dims, types),
        launch(20, 1), launch(80, 2), kernel(GEMM, 30, 9, 1), kernel("pad_kernel", 90, 9, 2),
    ]  # fmt: skip
    inner, outer = _times(tmp_path, h100, *events)
    assert (inner.operator, inner.roof_s is None) == ("aten::mm", False)
    assert (outer.operator, outer.why) == ("aten::linear", "counted with the operator inside it")


def test_what_has_no_roof_says_why(tmp_path, h100, registry) -> None:
    events = [
        op("custom::op", 0, 20, [[4]], [BF16]), launch(5, 1), kernel("a", 10, 9, 1),
        launch(30, 2, "cudaGraphLaunch"), kernel("b", 40, 8, 2), op("aten::mm", 50, 20), launch(55, 3), kernel("c", 60, 7, 3),
        op("aten::mm", 80, 20, [[4, 4], [5, 4]], [BF16, BF16]), launch(85, 4), kernel("d", 90, 6, 4), kernel("e", 99, 5),
    ]  # fmt: skip
    assert [one.why for one in _times(tmp_path, h100, *events)] == [
        "no rule for custom::op", "launched by a graph", "its shapes are not recorded",
        "its shapes do not say its work", "its launch is not in the trace",
    ]  # fmt: skip
    (one,) = _times(tmp_path, None, *product(0, 1))
    assert one.why == "the product is not known"
    fp8 = product(0, 1, types=("c10::Float8_e4m3fn",) * 2)
    fp8[0]["name"] = "aten::_scaled_mm"
    (one,) = _times(tmp_path, registry.platform("A100_SXM_80GB"), *fp8)
    assert one.why == "no sourced roof of A100_SXM_80GB for it"


def test_a_collective_stands_under_the_link(tmp_path, h100) -> None:
    sizes = {"Collective name": "allreduce", "dtype": "Half", "In msg nelems": 1 << 24, "Out msg nelems": 1 << 24}
    events = []
    for at, group in enumerate((8, 16)):
        events += [
            event("cpu_op", "record_param_comms", 2000 * at, 9, **sizes, **{"Group size": group}),
            launch(2000 * at + 1, at), kernel("ncclDevKernel_AllReduce_Sum_f16_RING_LL", 2000 * at + 20, 900, at),
        ]  # fmt: skip
    near, far = _times(tmp_path, h100, *events)
    assert (near.category, near.roof, near.change, near.counts) == ("communication", "nvlink4", "overlap", "exact")
    assert (far.roof_s, far.why[:14]) == (None, "no sourced lin")
