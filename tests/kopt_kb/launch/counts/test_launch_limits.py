"""Launches are held against sourced limits by what their code object says, never by what a maker said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kopt_kb.analysis.ir.machine.scan import scan_text
from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.launch.counts import launch_limits
from kopt_kb.launch.counts.launch_limits import launch_refusal, narrow_matrix
from kopt_kb.launch.cuda.cubin import Cubin, CubinKernel
from tests.kopt_kb.launch.small_record import small_record

LIMITS = Limits(
    "nvidia", warp_size=32, warps_per_sm=64, simds_per_sm=4, threads_per_sm=2048, threads_per_block=1024, blocks_per_sm=32,
    registers_per_sm=65536, registers_per_block=65536, registers_per_thread=255, register_granule=256,
    shared_memory_per_sm=233_472, shared_memory_per_block=102_400, shared_memory_reserved_per_block=1024,
    shared_memory_granule=128, citations={"shared_memory_per_block": "targets/x.md:L9"},
)  # fmt: skip

Refused = Callable[..., str]


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> Refused:
    """Returns why a launch is refused whose code object says this."""

    def judge(imports: tuple[str, ...] = (), launch: dict[str, object] | None = None, **entry: object) -> str:
        made = CubinKernel("k", **{"registers": 32, **entry})  # type: ignore[arg-type]
        monkeypatch.setattr(launch_limits, "read_cubin", lambda *_: Cubin({"k": made}, (), imports))
        record = small_record()
        steps = tuple(replace(one, **(launch or {})) for one in record.launches)  # type: ignore[arg-type]
        return launch_refusal(replace(record, steps=steps), lambda _: b"", LIMITS)

    return judge


def test_a_launch_that_fits(refused: Refused) -> None:
    """Up to the limits themselves."""
    assert refused() == ""
    assert refused(shared_bytes=51_200, launch={"shared_bytes": 51_200}) == ""
    assert refused(registers=64, launch={"block": (1024, 1, 1)}) == ""
    assert refused(most_threads=32, required=True) == ""


def test_what_the_device_would_refuse(refused: Refused) -> None:
    """Each with its number and, where a row says it, the row."""
    assert refused(shared_bytes=51_200, launch={"shared_bytes": 51_201}) == (
        "k takes 102401 B of shared memory; shared_memory_per_block=102400 <- targets/x.md:L9"
    )
    assert "k has 2048 threads a block" in refused(launch={"block": (1024, 2, 1)})
    assert "fits no SM" in refused(registers=128, launch={"block": (1024, 1, 1)})
    assert "was compiled for 64" in refused(most_threads=64, launch={"block": (65, 1, 1)})
    assert "was compiled for 64" in refused(most_threads=64, required=True, launch={"block": (63, 1, 1)})
    assert refused(launch={"entry": "other"}) == "other is not in its code object"


def test_calls_of_the_runtime(refused: Refused) -> None:
    """Printing and allocating are memory that no judge sees."""
    assert refused(imports=("malloc", "vprintf")) == (
        "its code calls malloc, vprintf, which the device's runtime answers"
    )


def test_other_targets_are_not_judged() -> None:
    """Their code objects are no cubins."""
    assert launch_refusal(small_record(target="gfx942"), lambda _: b"", LIMITS) == ""


SASS = """
	.headerflags	@"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
	.section	.text.product,"ax",@progbits
        /*0000*/                   {matrix} R4, R8, R12, R4 ;
        /*0010*/                   EXIT ;
"""


@pytest.mark.parametrize(
    ("instruction", "dtype", "found"),
    [
        ("HMMA.16816.F32.BF16", "bf16", ""), ("HGMMA.64x128x16.F32.BF16", "bf16", ""), ("IMMA.16832.S8.S8", "bf16", "IMMA"),
        ("QGMMA.64x128x32.F32.E4M3.E4M3", "fp16", "QGMMA"), ("QMMA.16832.F32.E4M3.E4M3", "fp32", ""),
        ("UTCQMMA", "bf16", "UTCQMMA"), ("UTCHMMA", "bf16", ""), ("QGMMA.64x128x32.F32.E4M3.E4M3", "fp8_e4m3", ""),
        ("IMMA.16832.S8.S8", "int8", ""), ("DMMA.884", "fp64", ""),
    ],
)  # fmt: skip
def test_matrix_operands_narrower_than_the_problems(instruction: str, dtype: str, found: str) -> None:
    """Eight bits where the problem has sixteen; wider problems are judged by their error, narrow ones are what they are."""
    said = narrow_matrix(scan_text(SASS.format(matrix=instruction)), dtype)
    assert said == (
        f"product uses {found}, whose operands have 8 bits or fewer, the problem's {said[-2:]}" if found else ""
    )


@pytest.mark.parametrize(
    ("instruction", "operands", "found"),
    [
        ("IMMA.16832.S8.S8", "tolerance", ""), ("IMMA.16832.S8.S8", "16bit", "8 bits or fewer"),
        ("HMMA.1688.F32.TF32", "16bit", ""), ("HMMA.1688.F32.TF32", "storage", "the problem asks for fp32 products"),
        ("DMMA.884", "storage", ""),
    ],
)  # fmt: skip
def test_slices_of_int8_for_fp32_pass_unless_the_problem_states_a_type(
    instruction: str, operands: str, found: str
) -> None:
    """The option `operands` of a problem; what its error decides is no matter of this gate."""
    said = narrow_matrix(scan_text(SASS.format(matrix=instruction)), "fp32", operands)
    assert found in said and bool(said) == bool(found)
