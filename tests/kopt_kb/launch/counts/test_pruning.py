"""Claims about pruning a tuning space."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.analysis.occupancy.occupancy import Limits
from kopt_kb.base.errors import BadInput
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import KernelCase
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.launch.counts.pruning import Kept, PruneOptions, configurations, judge_configs, op_cases, prune
from kopt_kb.launch.kernel.declared import packaged_file, read_declared
from kopt_kb.wiki.registry import Registry

FILE = str(Path(__file__).parents[3] / "kopt_kb" / "launch" / "compile" / "kernels_to_compile.py")
TILE = TensorSpec((4096, 4096), "fp16")
LIMITS = Limits(
    "nvidia",
    warp_size=32,
    warps_per_sm=64,
    threads_per_block=1024,
    simds_per_sm=4,
    blocks_per_sm=32,
    registers_per_sm=65536,
    registers_per_block=65536,
    registers_per_thread=255,
    register_granule=256,
    shared_memory_per_sm=228 * 1024,
    shared_memory_per_block=60_000,
    shared_memory_reserved_per_block=1024,
    shared_memory_granule=128,
    citations={"shared_memory_per_block": "<gpu-wiki>/targets/x.md:L3"},
)
SPACE = {"BN": (64, 100, 128), "maxnreg": (None, 32)}


def case_of(config):
    """A GEMM of 128xBNx64: two buffers of (128 + BN) x 64 x 2 bytes in a pipeline of three stages."""
    blocks = {"BM": 128, "BN": config["BN"], "BK": 64}
    options = {"num_warps": 8, "num_stages": 3}
    if config["maxnreg"]:
        options["maxnreg"] = config["maxnreg"]
    if config["BN"] == 128 and config["maxnreg"]:
        return None
    return KernelCase(FILE, "gemm", (TILE,) * 3 + (4096,) * 4, blocks, options)


@pytest.fixture(scope="module")
def pruned():
    """The pruned space."""
    pytest.importorskip("triton")
    return prune(SPACE, case_of, "sm_80", LIMITS, PruneOptions(workers=1))


@pytest.mark.triton
def test_each_removed_configuration_has_its_reason(pruned):
    """100 is no power of two, 128 needs 65,536 B, a cap of 32 registers spills, one isn't a launch."""
    reasons = {(one.config["BN"], one.config["maxnreg"]): one.reason for one in pruned.removed}
    assert reasons == {
        (64, 32): "spills",
        (100, None): "compiler",
        (100, 32): "compiler",
        (128, None): "shared_memory",
        (128, 32): "invalid",
    }
    assert pruned.total == 6


@pytest.mark.triton
def test_what_is_left_can_launch(pruned):
    """At most 4 blocks of 8 warps by shared memory: 233,472 // (49,152 + 1,024); occupancy is warps of 64."""
    (kept,) = pruned.kept
    assert kept.config == {"BN": 64, "maxnreg": None}
    assert 1 <= kept.blocks_per_sm <= 4
    assert kept.occupancy_pct == 100 * kept.blocks_per_sm * 8 / 64


@pytest.mark.triton
def test_details_name_number_and_citation(pruned):
    """The shared memory limit is cited."""
    (detail,) = [one.detail for one in pruned.removed if one.reason == "shared_memory"]
    assert "65536 B" in detail
    assert "targets/x.md:L3" in detail
    assert "\n" not in detail


@pytest.mark.triton
def test_an_unknown_limit_is_named_with_what_is_kept(tmp_path):
    """Without the reserve the shared memory rule can't be applied; the result says so."""
    pytest.importorskip("triton")
    unknown = replace(LIMITS, shared_memory_reserved_per_block=None)
    space = {"BN": (64,), "maxnreg": (None,)}
    (kept,) = prune(space, case_of, "sm_80", unknown, PruneOptions(workers=1)).kept
    assert kept.unknown == ("shared_memory_reserved_per_block",)


@pytest.mark.triton
def test_an_op_file_is_pruned_by_its_own_space(tmp_path):
    """Every configuration of a vector addition launches."""
    pytest.importorskip("triton")
    space = {"BLOCK": (256, 1024), "num_warps": (4,)}
    result = prune(space, op_cases(FILE, (1 << 16,), "fp32"), "sm_80", LIMITS, PruneOptions(workers=2))
    assert [one.config["BLOCK"] for one in result.kept] == [256, 1024]
    assert json.loads(json.dumps(result.to_json()))["total"] == 2


def test_configurations_are_the_product_in_order():
    """The last knob changes fastest."""
    found = list(configurations({"a": (1, 2), "b": "xy"}))
    assert found == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "x"}, {"a": 2, "b": "y"}]


def test_invalid_configurations_need_no_compiler():
    """What the case maker refuses is removed with its own words."""

    def refuse(config):
        raise BadInput("rows must be a multiple of 16")

    result = prune({"a": (1,)}, refuse, "sm_80", LIMITS)
    assert result.removed[0].reason == "invalid"
    assert "multiple of 16" in result.removed[0].detail


@pytest.mark.triton
def test_a_file_without_launches_is_not_refused_by_the_compiler(tmp_path):
    """Nothing is known of its resources, so nothing is said about them."""
    pytest.importorskip("triton")
    (tmp_path / "kernel.py").write_text("x = 1\n")
    case_of = op_cases(tmp_path / "kernel.py", (4,), "fp32")
    (one,) = prune({"a": (1,)}, case_of, "sm_80", LIMITS, PruneOptions(1)).removed
    assert one.reason == "invalid"
    assert "static_cases" in one.detail


@pytest.mark.triton
def test_one_pool_serves_several_calls():
    """Its workers stay warm; verdicts are in the order of the configurations."""
    pytest.importorskip("triton")
    with CompilePool(2) as pool:
        for names in ((64, 128), (128, 64)):
            found = judge_configs([{"BN": one, "maxnreg": None} for one in names], case_of, "sm_80", LIMITS, pool)
            assert [isinstance(one, Kept) for one in found] == [one == 64 for one in names]


@pytest.mark.triton
@pytest.mark.torch
@pytest.mark.parametrize("product", ["MI300X", "MI355X"])
def test_the_packaged_product_fits_on_amd(product, pool):
    """Its default launches there, some of its variants do, and each that does not is refused by a sourced limit."""
    pytest.importorskip("triton")
    pytest.importorskip("torch")
    platform = Registry.open().platform(product)
    file = packaged_file("gemm")
    target = platform.identity.target
    variants = [one for one in read_declared(file).variants if not one.targets or target in one.targets]
    configs = [{}] + [{"num_stages": 2} | dict(one.config) for one in variants]
    case = op_cases(file, (4096, 4096, 4096), "bf16")
    verdicts = judge_configs(configs, case, target, limits_of(platform), pool)
    assert isinstance(verdicts[0], Kept), verdicts[0]
    assert sum(isinstance(one, Kept) for one in verdicts) >= 3
    for one in verdicts:
        assert isinstance(one, Kept) or one.reason in {"shared_memory", "spills", "cannot_launch"}, one
        assert isinstance(one, Kept) or one.reason != "shared_memory" or "<gpu-wiki>/targets/gfx" in one.detail
