"""Numbers of a cubin are those that the assembler was asked for; its own memory is found with its names."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.cuda.cubin import exported, read_cubin
from kopt_kb.launch.cuda.nvrtc import compile_cuda


@pytest.mark.triton
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_kernels_say_what_they_need(assembled: Callable[[str], bytes], target: str) -> None:
    """Parameters by size, shared memory without the system's reserve, threads at most or exactly."""
    read = read_cubin(assembled(target))
    first, second = read.entries["first"], read.entries["second"]
    assert first.parameters == (8, 4, 1)
    assert (first.shared_bytes, first.barriers, first.most_threads, first.required) == (400, 1, 96, False)
    assert 0 < first.registers < 64
    assert (second.parameters, second.shared_bytes, second.most_threads, second.required) == ((8,), 0, 128, True)


@pytest.mark.triton
def test_own_memory_has_names_and_a_first_image(assembled: Callable[[str], bytes]) -> None:
    """A counter of zeros, and a table that the file holds; shared memory is none of it."""
    memory = {one.section: one for one in read_cubin(assembled("sm_90")).memory}
    assert set(memory) == {".nv.global", ".nv.global.init"}
    assert memory[".nv.global"].symbols == {"counter": (0, 4)}
    assert memory[".nv.global"].image == bytes(4)
    assert memory[".nv.global.init"].symbols == {"table": (0, 16)}
    assert memory[".nv.global.init"].image == b"".join(number.to_bytes(4, "little") for number in (1, 2, 3, 4))


CONSTANTS = """
__constant__ float scale[4] = {1, 2, 3, 4};
static __constant__ int hidden[2] = {5, 6};
__constant__ float unset[8];
extern "C" __global__ void reads(float* out, int n) { out[threadIdx.x] = scale[n] + hidden[n & 1] + unset[n]; }
"""


@pytest.mark.parametrize("arch", [90, 100])
def test_constants_are_own_memory(nvrtc: str, arch: int) -> None:
    """With their first values and names; those that the compiler keeps for the file can be exported."""
    made = compile_cuda(CONSTANTS, "reads.cu", arch, entries=[]).cubin
    (memory,) = read_cubin(made).memory
    assert (memory.section, memory.constant) == (".nv.constant3", True)
    assert memory.symbols == {"scale": (0, 16), "hidden": (16, 8), "unset": (24, 32)}
    assert memory.image == struct.pack("<4f2i", 1, 2, 3, 4, 5, 6) + bytes(32)
    changed = [at for at, (one, two) in enumerate(zip(made, exported(made), strict=True)) if one != two]
    assert len(changed) == 3


@pytest.mark.triton
def test_what_is_no_whole_cubin_is_refused(assembled: Callable[[str], bytes]) -> None:
    """Cut anywhere, or something else."""
    whole = assembled("sm_90")
    for code in (b"", b"\x7fELF", whole[:64], whole[: len(whole) // 2], b"x" * 500):
        with pytest.raises(BadInput, match="no whole cubin"):
            read_cubin(code, "there")


@pytest.mark.triton
def test_no_byte_of_a_header_ends_in_a_traceback(assembled: Callable[[str], bytes]) -> None:
    """Each of the first bytes and of the section headers set to all bits: an answer or the one error."""
    whole = assembled("sm_90")
    begin = int.from_bytes(whole[40:48], "little")
    for at in [*range(64), *range(begin, min(begin + 640, len(whole)))]:
        code = whole[:at] + b"\xff" + whole[at + 1 :]
        try:
            read_cubin(code)
        except BadInput as error:
            assert error.error_code == "KB083"


@pytest.mark.triton
def test_variables_of_a_file_can_be_exported(assembled: Callable[[str], bytes]) -> None:
    """Nothing else changes: one byte for each that was local."""
    whole = assembled("sm_90")
    changed = exported(whole)
    assert read_cubin(changed) == read_cubin(whole)
    differing = [(one, two) for one, two in zip(whole, changed, strict=True) if one != two]
    assert differing == [(0x01, 0x11)]
    assert exported(changed) == changed
