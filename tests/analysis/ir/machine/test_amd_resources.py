"""Claims about AMDGCN resource lines."""

from __future__ import annotations

from kopt_kb.analysis.ir.machine.amd_resources import ResourceReader

COMMENTS = """\
	.amdhsa_kernel flash
	.end_amdhsa_kernel
; NumVgprs: 199
; NumAgprs: 64
; ScratchSize: 16
"""
METADATA = """\
amdhsa.kernels:
  - .agpr_count:     64
    .args:
      - .address_space:  global
        .size:           8
    .group_segment_fixed_size: 512
    .name:           flash
    .private_segment_fixed_size: 16
    .sgpr_count:     85
    .sgpr_spill_count: 2
    .symbol:         flash.kd
    .vgpr_count:     264
    .vgpr_spill_count: 3
  - .agpr_count:     0
    .symbol:         'other.kd'
    .vgpr_count:     10
"""


def read(text: str) -> ResourceReader:
    """Feed a text line by line."""
    reader = ResourceReader()
    for line in text.splitlines():
        reader.read(line)
    return reader


def test_architectural_vgprs_come_from_the_comment():
    """`.vgpr_count` is the padded total, 200 + 64; the comment says 199 architectural ones."""
    found = read(COMMENTS + METADATA).of("flash")
    assert (found.registers, found.accumulation_registers, found.scalar_registers) == (199, 64, 85)


def test_without_the_comment_the_padded_count_is_used():
    """264 - 64 = 200."""
    assert read(METADATA).of("flash").registers == 200


def test_spills_add_vector_and_scalar_registers():
    """3 + 2 registers spilled, 16 bytes of scratch, 512 bytes of LDS."""
    found = read(METADATA).of("flash")
    assert (found.spilled_registers, found.stack_bytes, found.shared_static_bytes) == (5, 16, 512)
    assert found.spills is True


def test_kernels_keep_apart():
    """The second entry has its own numbers; an unknown kernel has none."""
    reader = read(METADATA)
    assert reader.of("other").registers == 10
    assert reader.of("third") is None
