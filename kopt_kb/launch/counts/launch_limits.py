"""Whether recorded launches fit a device and keep to what a judge allows, read from the bytes that are launched.

Nothing that a maker said of its kernels is believed: registers, shared memory and calls stand in the code object,
threads and dynamic shared memory in the launch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kopt_kb.analysis.ir.machine.model import IsaScan
from kopt_kb.analysis.ir.machine.operands import operand_types
from kopt_kb.analysis.occupancy.limits import Limits, Resources
from kopt_kb.analysis.occupancy.occupancy import occupancy
from kopt_kb.launch.cuda.cubin import CubinKernel, read_cubin
from kopt_kb.launch.record.model import Launch, LaunchRecord
from kopt_kb.problem.dtypes import format_of

__all__ = ["launch_refusal", "narrow_matrix"]

_WIDE_BITS = 16
_HALVES = frozenset({"fp16", "bf16", "tf32"})
_WIDE_FLOATS = frozenset({"fp32", "fp64"})


def launch_refusal(record: LaunchRecord, code: Callable[[str], bytes], limits: Limits) -> str:
    """Return why a device would not take a record's launches, or a judge should not; empty when nothing is wrong.

    Args:
        record: Of an NVIDIA target; of others nothing is known.
        code: Returns a code object by sha256.
        limits: Sourced limits; UNKNOWN ones are left out.

    Raises:
        BadInput: A code object is none.
    """
    if not record.target.startswith("sm_"):
        return ""
    cubins = {digest: read_cubin(code(digest), f"objects/{digest}") for digest in record.codes}
    for cubin in cubins.values():
        if cubin.imports:
            return f"its code calls {', '.join(cubin.imports)}, which the device's runtime answers"
    for step in record.launches:
        entry = cubins[step.code].entries.get(step.entry)
        found = "is not in its code object" if entry is None else _refusal(step, entry, limits)
        if found:
            return f"{step.entry} {found}"
    return ""


def _refusal(step: Launch, entry: CubinKernel, limits: Limits) -> str:
    threads = step.block[0] * step.block[1] * step.block[2]
    if entry.most_threads and (threads > entry.most_threads or (entry.required and threads != entry.most_threads)):
        return f"is launched with {threads} threads a block, and was compiled for {entry.most_threads}"
    if limits.threads_per_block is not None and threads > limits.threads_per_block:
        return f"has {threads} threads a block; {limits.cite('threads_per_block')}"
    shared, most = entry.shared_bytes + step.shared_bytes, limits.shared_memory_per_block
    if most is not None and shared > most:
        return f"takes {shared} B of shared memory; {limits.cite('shared_memory_per_block')}"
    used = Resources(
        threads_per_block=threads, registers_per_thread=entry.registers, shared_static_bytes=entry.shared_bytes,
        shared_dynamic_bytes=step.shared_bytes, barriers=max(entry.barriers, 1),
        blocks_per_cluster=step.cluster[0] * step.cluster[1] * step.cluster[2],
    )  # fmt: skip
    fits = occupancy(used, limits, allow_unknown=True)
    return "" if fits.blocks_per_sm else f"fits no SM; {'; '.join(fits.refusals)}"


def narrow_matrix(scans: Iterable[IsaScan], dtype: str, operands: str = "tolerance") -> str:
    """Return the matrix instruction whose operands are narrower than the problem's allow, as found; empty without one.

    Rounding the operands of a bf16 product to 8 bits passes many a tolerance, so storage of 16 bits is multiplied in 16
    bits. Wider storage may be split or rounded as its tolerance accepts, in slices of int8 too, unless the problem says
    otherwise; problems that are stored in 8 bits or fewer may use what they like.

    Args:
        scans: Instructions of the kernels that are launched.
        dtype: Storage type of the problem.
        operands: The problem's option of that name: `tolerance`, `16bit` or `storage`.
    """
    stored = format_of(dtype)
    if stored is None or stored.bits < _WIDE_BITS or (stored.bits > _WIDE_BITS and operands == "tolerance"):
        return ""
    for scan in scans:
        for spelling in scan.matrix_shapes:
            family, types = spelling.partition(".")[0], operand_types(spelling)
            if types and not set(types) & (_HALVES | _WIDE_FLOATS):
                return f"{scan.kernel} uses {family}, whose operands have 8 bits or fewer, the problem's {stored.bits}"
            if operands == "storage" and stored.bits > _WIDE_BITS and not set(types) & _WIDE_FLOATS:
                return (
                    f"{scan.kernel} uses {spelling}, whose operands are rounded; the problem asks for {dtype} products"
                )
    return ""
