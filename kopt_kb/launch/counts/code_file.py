"""What a block of each kernel of a machine code file takes: for an occupancy without a compiler or a launch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kopt_kb.analysis.occupancy.limits import Resources
from kopt_kb.analysis.profile.names import kernel_pattern
from kopt_kb.base.errors import BadInput
from kopt_kb.launch.cuda.given import code_given, read_given
from kopt_kb.launch.record.code_object import is_code_object, read_code_object

__all__ = ["code_resources"]


def code_resources(
    file: Path, target: str, *, kernel: str = "", threads: int = 0, shared_bytes: int = 0
) -> Mapping[str, Resources]:
    """Return kernel → what one of its blocks takes.

    Args:
        file: A cubin, a fat binary, or an AMD code object.
        target: What it has to be for; picks the code of a fat binary.
        kernel: Keep only kernels whose symbol matches this regular expression.
        threads: Threads of a block; 0: those that each kernel was compiled for.
        shared_bytes: Dynamic shared memory or LDS of a block, which no file says.

    Raises:
        BadInput: It is no such file, for another target, has no such kernel, or does not say the threads.
        MissingTool: A fat binary, and there is no cuobjdump.
    """
    code = code_given(file, target)
    said = read_code_object(code, str(file)).entries if is_code_object(code) else {}
    found = {}
    wanted = kernel_pattern(kernel)
    for name, one in sorted(read_given(code, str(file)).entries.items()):
        if not wanted.search(name):
            continue
        block = threads or one.most_threads
        if not block:
            fix = "give the threads of a block with --threads"
            raise BadInput(f"{name} was compiled for blocks of any size", where=str(file), fix=fix, code="KB102")
        amd = said.get(name)
        found[name] = Resources(
            threads_per_block=block,
            registers_per_thread=one.registers,
            accumulation_registers_per_thread=amd.agprs if amd else 0,
            scalar_registers_per_warp=amd.sgprs if amd else 0,
            shared_static_bytes=one.shared_bytes,
            shared_dynamic_bytes=shared_bytes,
            barriers=max(one.barriers, 1),
        )
    if not found:
        what = f"no kernel {kernel!r}" if kernel else "no kernel"
        raise BadInput(what, where=str(file), fix="kb isa lists the kernels of a file", code="KB081")
    return found
