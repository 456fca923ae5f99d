"""Claims about the resource lines of NVIDIA's tools."""

from __future__ import annotations

from kopt_kb.analysis.ir.machine.nvidia_resources import parse_ptxas_log

LOG = """\
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to \
insufficient register resources for the wgmma pipeline in the function 'flash'
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'flash' for 'sm_90a'
ptxas info    : Function properties for flash
    96 bytes stack frame, 92 bytes spill stores, 88 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, 96 bytes cumulative stack size, 16 bytes smem
ptxas info    : Compile time = 30.342 ms
"""


def test_ptxas_log():
    """Registers, stack, both spill counts, barriers and static shared memory."""
    found, _ = parse_ptxas_log(LOG)
    flash = found["flash"]
    assert (flash.registers, flash.stack_bytes, flash.barriers, flash.shared_static_bytes) == (128, 96, 1, 16)
    assert (flash.spill_store_bytes, flash.spill_load_bytes, flash.spills) == (92, 88, True)


def test_serialised_wgmma_is_a_warning():
    """ptxas's code and message are kept, the meaning is a flag."""
    (warning,) = parse_ptxas_log(LOG)[1]
    assert (warning.code, warning.serialises_wgmma) == ("C7510", True)


def test_a_quiet_log_has_no_spills():
    """Zero spill bytes is an answer, not a missing one."""
    quiet = LOG.replace("92 bytes spill", "0 bytes spill").replace("88 bytes spill", "0 bytes spill")
    assert parse_ptxas_log(quiet)[0]["flash"].spills is False
