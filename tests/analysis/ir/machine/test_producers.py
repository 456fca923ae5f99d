"""What an instruction waits for."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.machine.producers import producer_of

SASS = [
    "      MOV R1, c[0x0][0x28]",  # 0
    "      LDG.E.128 R4, [R2.64]",  # 1
    "      LDG.E R8, [R2.64+0x10]",  # 2
    "      IADD3 R8, R8, 0x1, RZ",  # 3
    "      FFMA R10, R6, R8, R10",  # 4
    "      LDS.64 R12, [R1]",  # 5
    "@!P0  DADD R14, R12, R16",  # 6
    "      BAR.SYNC 0x0",  # 7
    "      STG.E [R2.64], R14",  # 8
    "      LDGSTS.E.BYPASS.128 [R20], [R2.64]",  # 9
    "      DEPBAR.LE SB0, 0x0",  # 10
    "      MUFU.RCP R18, R10",  # 11
    "      FMUL R19, R18, R18",  # 12
    "      EXIT",  # 13
]
AMDGCN = [
    "global_load_dwordx4 v[4:7], v[0:1], off",  # 0
    "global_load_dwordx4 v[8:11], v[2:3], off",  # 1
    "ds_read_b128 v[12:15], v20",  # 2
    "s_waitcnt vmcnt(1)",  # 3
    "v_mfma_f32_32x32x8_f16 a[0:15], v[4:5], v[12:13], a[0:15]",  # 4
    "s_waitcnt vmcnt(0) lgkmcnt(0)",  # 5
    "s_barrier",  # 6
    "global_store_dwordx4 v[8:9], v[4:7], off",  # 7
]


@pytest.mark.parametrize(
    ("at", "producer"),
    [(3, 2), (4, 1), (6, 5), (7, 7), (10, 9), (12, 11), (13, None), (0, None), (8, None)],
)
def test_sass_operands_lead_to_loads(at: int, producer: int | None) -> None:
    """Through wide results; an addition of known latency hides the load behind it; barriers are their own cause."""
    assert producer_of(SASS, at) == producer


@pytest.mark.parametrize(("at", "producer"), [(3, 0), (5, 2), (6, 6), (4, None), (7, None)])
def test_wait_counts_lead_to_the_operation_too_many(at: int, producer: int | None) -> None:
    """vmcnt(1) leaves the newest load outstanding: the one before it is waited for."""
    assert producer_of(AMDGCN, at) == producer


def test_a_loop_wraps_around() -> None:
    """The load at the end of a body is waited for at its start."""
    assert producer_of(["FFMA R0, R4, R4, R0", "LDG.E R4, [R2.64]", "BRA 0x0"], 0) == 1
    assert producer_of(["s_wait_loadcnt 0x0", "v_add_f32 v0, v1, v2", "buffer_load_b32 v1, v3, s[0:3], 0"], 0) == 2


def test_text_of_no_instruction_has_no_producer() -> None:
    """A placeholder for code that the report doesn't hold."""
    assert producer_of(["???", "???"], 1) is None


@pytest.mark.parametrize(
    ("at", "reason", "producer"),
    [
        (8, "barrier", 7),
        (13, "drain", 8),
        (4, "long_scoreboard", 1),
        (4, "wait", None),
        (12, "math_pipe_throttle", None),
    ],
)
def test_the_reason_of_the_profiler_decides_what_is_looked_for(at: int, reason: str, producer: int | None) -> None:
    """A barrier and a store stand before the instruction that is sampled; a fixed latency has no producer."""
    assert producer_of(SASS, at, reason) == producer
