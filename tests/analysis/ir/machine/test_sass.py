"""Claims about reading SASS."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.machine.model import Access
from kopt_kb.analysis.ir.machine.sass import scan_sass


def one(*instructions: str):
    """Scan these instructions as one kernel."""
    lines = [f"        /*{16 * n:04x}*/                   {text} ;" for n, text in enumerate(instructions)]
    (tally,) = scan_sass(iter(lines))[1]
    return tally


@pytest.mark.parametrize(
    ("text", "access"),
    [
        ("LDG.E.128 R4, desc[UR4][R2.64]", Access("global", "load", 128)),
        ("LDG.E.128.CONSTANT R4, [R2.64]", Access("global", "load", 128)),
        ("LDG.E.LTC128B.64 R4, desc[UR4][R2.64]", Access("global", "load", 64)),
        ("LDG.E.LTC128B R4, desc[UR4][R2.64]", Access("global", "load", 32)),
        ("LDG.E.U8.CONSTANT R4, [R2.64]", Access("global", "load", 8)),
        ("LDG.E.ENL2.256 R4, R8, desc[UR4][R2.64]", Access("global", "load", 256)),
        ("@!P0 STG.E.EF.128 desc[UR4][R2.64], R4", Access("global", "store", 128)),
        ("@P6 LDGSTS.E.BYPASS.LTC128B.128 [R5], desc[UR8][R2.64], P0", Access("global", "copy", 128)),
        ("LDS.U.128 R4, [R2]", Access("shared", "load", 128)),
        ("STS.U16 [R2], R4", Access("shared", "store", 16)),
        ("LDSM.16.M88.4 R4, [R2]", Access("shared", "load", 128)),
        ("LDSM.16.MT88.2 R4, [R2]", Access("shared", "load", 64)),
        ("LDSM.16.M88 R4, [R2]", Access("shared", "load", 32)),
        ("STSM.16.MT88.4 [R2], R4", Access("shared", "store", 128)),
        ("LDL.LU.64 R4, [R1+0x8]", Access("local", "load", 64)),
        ("STL [R1+0x8], R4", Access("local", "store", 32)),
        ("LD.E.128 R4, desc[UR4][R2.64]", Access("generic", "load", 128)),
        ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R4", Access("global", "atomic", 32)),
        ("ATOMS.ADD R4, [R2], R5", Access("shared", "atomic", 32)),
        ("LDTM.x64 R4, tmem[UR4]", Access("tensor", "load", 64 * 32)),
    ],
)
def test_width_is_read_from_whole_modifiers_in_any_order(text, access):
    """LTC128B is a prefetch size, a predicate is no modifier, and the default is 32 bits."""
    assert one(text).accesses == {access: 1}


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("HGMMA.64x128x16.F32 R24, gdesc[UR4], R24, gsb0", "HGMMA"),
        ("QGMMA.64x128x32.F32.E4M3.E4M3 R24, gdesc[UR4], R24", "QGMMA"),
        ("IGMMA.64x128x32.S8.S8 R24, gdesc[UR4], R24", "IGMMA"),
        ("BGMMA.64x128x256.AND.POPC R24, gdesc[UR4], R24", "BGMMA"),
        ("HMMA.16816.F32 R4, R8, R12, R4", "HMMA"),
        ("IMMA.16832.S8.S8 R4, R8.ROW, R12.COL, R4", "IMMA"),
        ("DMMA.8x8x4 R4, R8, R12, R4", "DMMA"),
        ("QMMA.16832.F32.E4M3.E4M3 R4, R8, R12, R4", "QMMA"),
        ("UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8], tmem[UR10], idesc[UR11], UP0", "UTCHMMA"),
        ("UTCQMMA.2CTA gdesc[UR4], gdesc[UR6], tmem[UR8], tmem[UR10], idesc[UR11], UP0", "UTCQMMA"),
    ],
)
def test_matrix_instructions_are_told_by_opcode(text, family):
    """Every generation's matrix instruction counts in its own family."""
    tally = one(text)
    assert tally.matrix == {family: 1}
    assert next(iter(tally.matrix_shapes)) == text.split(maxsplit=1)[0]


@pytest.mark.parametrize("text", ["HFMA2.MMA R4, -RZ, RZ, 0, 0", "UTCBAR [UR4], URZ", "UTCATOMSWS.AND URZ, UR4"])
def test_lookalikes_are_no_matrix_instructions(text):
    """HFMA2.MMA is a packed half FMA; the UTC helpers multiply nothing."""
    assert not one(text).matrix


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("BAR.SYNC.DEFER_BLOCKING 0x0", "barrier"),
        ("SHFL.BFLY PT, R4, R5, 0x10, 0x1f", "shuffle"),
        ("MUFU.EX2 R4, R5", "special_function"),
        ("UTMALDG.2D [UR4], [UR6], desc[UR8]", "tma_load"),
        ("UTMASTG.2D [UR4], [UR6]", "tma_store"),
        ("UBLKCP.S.G [UR4], [UR6], UR8", "bulk_copy"),
        ("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R4+URZ], R5", "mbarrier"),
        ("REDUX.MAX UR4, R5", "warp_reduce"),
    ],
)
def test_other_classes(text, feature):
    """One class an opcode."""
    assert one(text).features == {feature: 1}


NVDISASM = """\
\t.headerflags\t@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
\t.section\t.text.first,"ax",@progbits
.text.first:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/                   EXIT ;
\t.section\t.nv.constant0.first,"a",@progbits
\t.section\t.text.second,"ax",@progbits
        /*0000*/                   EXIT ;
"""
CUOBJDUMP = """\
Fatbin elf code:
arch = sm_80
\tcode for sm_80
\t\tFunction : first
\t.headerflags\t@"EF_CUDA_SM80 EF_CUDA_PTX_SM(EF_CUDA_SM80)"
        /*0000*/                   MOV R1, c[0x0][0x28] ;                   /* 0x00000a0000017a02 */
                                                                            /* 0x000fe40000000f00 */
        /*0010*/                   EXIT ;                                   /* 0x000000000000794d */
"""


@pytest.mark.parametrize(
    ("text", "target", "kernels"),
    [(NVDISASM, "sm_90", [("first", 2), ("second", 1)]), (CUOBJDUMP, "sm_80", [("first", 2)])],
)
def test_both_disassemblers_are_read(text, target, kernels):
    """Kernels are split at sections or functions; encodings and labels are no instructions."""
    found, tallies = scan_sass(iter(text.splitlines()))
    assert found == target
    assert [(tally.kernel, tally.instructions) for tally in tallies] == kernels
