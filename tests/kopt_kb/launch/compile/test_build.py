"""Claims about one compilation: Triton's own specialisation, for every target, without a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.request import CompileFailed, CompileRequest, KernelCase, OpCase
from kopt_kb.launch.compile.target import TARGETS

pytestmark = pytest.mark.triton

FILE = str(Path(__file__).with_name("kernels_to_compile.py"))
VECTOR = TensorSpec((1 << 20,), "fp32")


def vadd(**changes):
    """The vector addition, with changes."""
    given = {"args": (VECTOR, VECTOR, VECTOR, 1 << 20), "constexprs": {"BLOCK": 1024}} | changes
    return KernelCase(FILE, "vadd", **given)


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_gives_a_binary_and_text(pool, target):
    """An ELF file, instructions of its family, Triton IR and versions come from each target."""
    (made,) = pool.compile(CompileRequest(vadd(), target))
    assert made.binary[:4] == b"\x7fELF"
    assert (made.name, made.target, made.metadata["num_warps"]) == ("vadd", target, 4)
    assert "tt.func" in made.ttir
    assert made.versions["triton"]
    wide = "LDG.E.128" if target.startswith("sm") else "load_b128" if target.startswith("gfx1") else "load_dwordx4"
    assert wide in made.assembly
    assert made.options["enable_fp_fusion"] is True


def test_specialisation_is_triton_own(pool):
    """Multiples of 16 are divisible, 1 becomes a constant, aligned pointers are 16-byte aligned."""
    (made,) = pool.compile(CompileRequest(vadd(args=(VECTOR, VECTOR, VECTOR, 1)), "sm_90"))
    assert made.specialisation["x"] == {"type": "*fp32", "tt.divisibility": 16}
    assert made.constexprs == {"n": 1, "BLOCK": 1024}


def test_amd_pointers_under_2_gib_get_32_bit_offsets(pool):
    """As the real launcher does it: buffer loads below 2 GiB, global loads above."""
    (small,) = pool.compile(CompileRequest(vadd(), "gfx942"))
    huge = TensorSpec((1 << 30,), "fp32")
    (large,) = pool.compile(CompileRequest(vadd(args=(huge, huge, huge, 1 << 30)), "gfx942"))
    assert small.specialisation["x"]["tt.pointer_range"] == 32
    assert "tt.pointer_range" not in large.specialisation["x"]
    assert "global_load_dwordx4" in large.assembly


def test_arguments_may_come_by_name(pool):
    """A mapping fills parameters whatever their order."""
    named = {"n": 1 << 20, "o": VECTOR, "y": VECTOR, "x": VECTOR}
    (made,) = pool.compile(CompileRequest(vadd(args=named), "sm_80", disassemble=False))
    assert made.assembly == ""
    assert "Used" in made.assembler_log


def test_host_descriptors_become_tma(pool):
    """A tensor with a block shape is a host descriptor; on sm_90 its tiles are moved by TMA."""
    tiles = [TensorSpec((512, 512), "fp16", block_shape=block) for block in ((64, 64), (64, 128), (64, 128))]
    case = KernelCase(FILE, "gemm_tma", (*tiles, 512), {"BM": 64, "BN": 128, "BK": 64})
    (made,) = pool.compile(CompileRequest(case, "sm_90"))
    assert made.assembly.count("UTMALDG") >= 2
    assert "UTMASTG" in made.assembly


def test_an_op_file_describes_its_own_launch(pool):
    """static_cases turns shape, dtype and configuration into kernel, grid and arguments."""
    case = OpCase(FILE, (1 << 16,), "bf16", {"BLOCK": 256})
    (made,) = pool.compile(CompileRequest(case, "sm_80", disassemble=False))
    assert (made.grid, made.constexprs["BLOCK"], made.specialisation["x"]["type"]) == ((256,), 256, "*bf16")


def test_a_kernels_own_configurations_are_listed(pool):
    """What each sets by name, what Triton adds included; a plain kernel has none, an op file's are its tuning space."""
    first, second = pool.listed(CompileRequest(KernelCase(FILE, "tuned"), "sm_90")).configurations
    assert first == {"BLOCK": 512, "num_warps": 2, "num_ctas": 1, "num_stages": 3}
    assert (second["BLOCK"], second["num_warps"]) == (2048, 4)
    assert not pool.listed(CompileRequest(KernelCase(FILE, "vadd"), "sm_90")).configurations
    with pytest.raises(BadInput, match="no configurations of their own"):
        pool.listed(CompileRequest(OpCase(FILE, (4,), "bf16"), "sm_90"))


def test_an_autotune_config_fills_its_values_and_heuristics_run(pool):
    """Config 0 sets BLOCK and num_warps; EVEN is computed by the decorator."""
    case = KernelCase(FILE, "tuned", (VECTOR, 1 << 20), {}, {"autotune_config": 0})
    (made,) = pool.compile(CompileRequest(case, "sm_80", disassemble=False))
    assert (made.constexprs["BLOCK"], made.constexprs["EVEN"], made.metadata["num_warps"]) == (512, True, 2)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (vadd(args=(VECTOR, VECTOR), constexprs={}), r"missing argument o, n, BLOCK \(constexpr\)"),
        (vadd(args=(VECTOR,) * 5), "5 arguments for 4 run-time parameters"),
        (vadd(constexprs={"BLOCK": 64, "STAGES": 2}), "unknown argument STAGES"),
        (KernelCase(FILE, "vmul"), "no kernel 'vmul'; kernels here: vadd,"),
        (KernelCase(FILE, ""), "more than one kernel"),
        (KernelCase("/nowhere.py", "k"), "no such file"),
        (KernelCase(__file__, ""), "no @triton.jit kernel in the file"),
        (OpCase(__file__, (4,), "fp32"), "no static_cases"),
        (vadd(options={"autotune_config": 3}), "no autotune config 3"),
    ],
)
def test_wrong_input_is_one_clear_line(pool, case, message):
    """Every wrong argument is named with what would be right; no traceback."""
    with pytest.raises(BadInput, match=message) as caught:
        pool.compile(CompileRequest(case, "sm_80"))
    assert "\n" not in str(caught.value)


def test_a_refusal_of_the_compiler_is_one_line(pool):
    """A block that is no power of two is Triton's own error, shortened; the worker survives."""
    with pytest.raises(CompileFailed, match="power of 2") as caught:
        pool.compile(CompileRequest(vadd(constexprs={"BLOCK": 100}), "sm_80"))
    assert "\n" not in str(caught.value)
    assert caught.value.kind == "compiler"
    assert pool.compile(CompileRequest(vadd(), "sm_80", disassemble=False))


def test_a_cluster_on_sm_80_is_refused(pool):
    """num_ctas=2 needs sm_90."""
    with pytest.raises(CompileFailed, match="num_ctas > 1"):
        pool.compile(CompileRequest(vadd(options={"num_ctas": 2}), "sm_80"))


def test_a_limit_that_is_kept_changes_nothing(pool):
    """The same bytes for the same specialisation, whether shared memory was looked at or not."""
    plain, limited = (
        pool.compile(CompileRequest(vadd(), "sm_90", shared_limit_bytes=limit))[0] for limit in (None, 1 << 20)
    )
    assert limited.binary == plain.binary
    assert limited.specialisation == plain.specialisation


def test_too_much_shared_memory_stops_before_the_assembler(pool):
    """With a limit given, the kernel is refused with both numbers and the kind that pruning sorts by."""
    tile = TensorSpec((4096, 4096), "fp16")
    blocks = {"BM": 128, "BN": 128, "BK": 64}
    case = KernelCase(FILE, "gemm", (tile,) * 3 + (4096,) * 4, blocks, {"num_stages": 3, "num_warps": 8})
    with pytest.raises(CompileFailed, match="needs 98304 B of shared memory, a block may use 65536 B") as caught:
        pool.compile(CompileRequest(case, "sm_90", False, 65536))
    assert caught.value.kind == "shared_memory"
