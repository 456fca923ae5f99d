"""Claims about reading AMDGCN assembly."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.machine.amdgcn import scan_amdgcn
from kopt_kb.analysis.ir.machine.model import Access


def one(*instructions: str):
    """Scan these instructions as one kernel."""
    (tally,) = scan_amdgcn(iter(["k:", *(f"\t{text}" for text in instructions), "\ts_endpgm"]))[1]
    return tally


@pytest.mark.parametrize(
    ("text", "access"),
    [
        ("buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen", Access("global", "load", 128)),
        ("buffer_load_dword v5, s[8:11], 0 offen lds", Access("global", "copy", 32)),
        ("buffer_store_dwordx2 v[0:1], v4, s[0:3], 0 offen", Access("global", "store", 64)),
        ("buffer_load_ushort v0, v4, s[0:3], 0 offen", Access("global", "load", 16)),
        ("buffer_load_ubyte_d16 v0, v4, s[0:3], 0 offen", Access("global", "load", 8)),
        ("buffer_load_b128 v[0:3], v4, s[0:3], 0 offen", Access("global", "load", 128)),
        ("global_load_dwordx3 v[0:2], v[4:5], off", Access("global", "load", 96)),
        ("global_load_lds_dwordx4 v[0:1], off", Access("global", "copy", 128)),
        ("global_store_short v[0:1], v2, off", Access("global", "store", 16)),
        ("global_atomic_add_f32 v0, v1, s[0:1]", Access("global", "atomic", 32)),
        ("flat_load_dword v0, v[2:3]", Access("generic", "load", 32)),
        ("scratch_load_dwordx2 v[0:1], off, s32", Access("local", "load", 64)),
        ("ds_read_b128 v[0:3], v4", Access("shared", "load", 128)),
        ("ds_read_u16_d16 v0, v4", Access("shared", "load", 16)),
        ("ds_read2_b64 v[0:3], v4 offset1:1", Access("shared", "load", 128)),
        ("ds_read2st64_b32 v[0:1], v4 offset1:1", Access("shared", "load", 64)),
        ("ds_read_b64_tr_b16 v[0:1], v4", Access("shared", "load", 64)),
        ("ds_write_b32 v0, v1", Access("shared", "store", 32)),
        ("ds_write2st64_b64 v0, v[1:2], v[3:4]", Access("shared", "store", 128)),
        ("ds_load_b64 v[0:1], v4", Access("shared", "load", 64)),
        ("s_load_dwordx8 s[0:7], s[8:9], 0x0", Access("scalar", "load", 256)),
    ],
)
def test_spaces_and_widths(text, access):
    """Old and new spellings, paired LDS accesses, and loads that go straight to LDS."""
    assert one(text).accesses == {access: 1}


def test_spill_code_through_buffers_is_private_memory():
    """gfx90a spills with buffer instructions; LLVM's comment gives them away."""
    tally = one(
        "buffer_store_dword v1, off, s[0:3], 0 offset:4 ; 4-byte Folded Spill",
        "buffer_load_dword v1, off, s[0:3], 0 offset:4 ; 4-byte Folded Reload",
    )
    assert tally.accesses == {Access("local", "store", 32): 1, Access("local", "load", 32): 1}
    assert tally.features["spill_store"] == tally.features["spill_load"] == 1


@pytest.mark.parametrize(
    ("text", "family", "shape"),
    [
        ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", "MFMA", "v_mfma_f32_32x32x8_f16"),
        ("v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21", "MFMA", None),
        ("v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10", "SMFMAC", None),
        ("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "WMMA", None),
    ],
)
def test_matrix_families(text, family, shape):
    """Dense, scaled and sparse matrix instructions keep their full spelling as shape."""
    tally = one(text)
    assert tally.matrix == {family: 1}
    assert tally.matrix_shapes == {shape or text.split()[0]: 1}


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("s_waitcnt vmcnt(0) lgkmcnt(0)", {"wait"}),
        ("s_barrier", {"barrier"}),
        ("ds_bpermute_b32 v0, v1, v2", {"shuffle", "bpermute"}),
        ("v_add_f32_dpp v0, v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", {"shuffle"}),
        ("v_permlane32_swap_b32_e32 v0, v1", {"shuffle"}),
        ("v_accvgpr_read_b32 v0, a1", {"accvgpr_move"}),
        ("v_exp_f32_e32 v0, v1", {"special_function"}),
        ("v_perm_b32 v0, v1, v2, s4", set()),
        ("ds_add_u32 v0, v1", {"atomic"}),
    ],
)
def test_other_classes(text, features):
    """v_perm_b32 moves bytes inside a lane and is no shuffle."""
    assert set(one(text).features) == features


OBJDUMP = """\
kernel.hsaco:	file format elf64-amdgpu

Disassembly of section .text:

0000000000001900 <softmax>:
	s_load_dwordx2 s[4:5], s[0:1], 0x10                        // 000000001900: C0060100 00000010
	v_exp_f32_e32 v0, v1                                       // 000000001908: 7E004101
	s_endpgm                                                   // 00000000190C: BF810000
"""


def test_objdump_listings_are_read():
    """A label with an address starts a kernel."""
    (tally,) = scan_amdgcn(iter(OBJDUMP.splitlines()))[1]
    assert (tally.kernel, tally.instructions, tally.features["special_function"]) == ("softmax", 3, 1)


def test_local_labels_start_no_kernel():
    """Blocks inside a function belong to it."""
    text = ["k:", "\ts_nop 0", ".LBB0_1:                    ; %loop", "\ts_nop 0"]
    (tally,) = scan_amdgcn(iter(text))[1]
    assert (tally.kernel, tally.instructions) == ("k", 2)
