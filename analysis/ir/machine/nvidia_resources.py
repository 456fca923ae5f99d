"""Resource lines of `ptxas -v` logs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from kopt_kb.analysis.ir.machine.model import IsaResources
from kopt_kb.base.wire import Wire

__all__ = ["PtxasWarning", "parse_ptxas_log"]

_ENTRY = re.compile(r"(?:Compiling entry function|Function properties for)\s+'?([\w$.]+)")
_FRAME = re.compile(r"(\d+) bytes stack frame(?:, (\d+) bytes spill stores, (\d+) bytes spill loads)?")
_USED = re.compile(r"Used (\d+) registers")
_BARRIERS = re.compile(r"used (\d+) barriers")
_SHARED = re.compile(r"(\d+)(?:\+\d+)? bytes smem")
_WARNING = re.compile(r"\(?(C7\d{3})\)?:?\s*(.*)")


@dataclass(frozen=True, slots=True)
class PtxasWarning(Wire):
    """A performance warning of ptxas, such as a serialised wgmma (C7509 to C7520).

    Attributes:
        code: ptxas's own code.
        text: Its message.
    """

    code: str
    text: str

    @property
    def serialises_wgmma(self) -> bool:
        """Whether it says that warpgroup matrix instructions lose their overlap."""
        lowered = self.text.lower()
        return "wgmma" in lowered and "serializ" in lowered


def parse_ptxas_log(text: str) -> tuple[dict[str, IsaResources], tuple[PtxasWarning, ...]]:
    """Return resources by entry, and the performance warnings, of a `ptxas -v` log."""
    found: dict[str, IsaResources] = {}
    warnings, entry = [], ""
    for line in text.splitlines():
        if named := _ENTRY.search(line):
            entry = named[1]
            found.setdefault(entry, IsaResources(shared_static_bytes=0, barriers=0))
        elif entry:
            found[entry] = _with_line(found[entry], line)
        if warned := _WARNING.search(line):
            warnings.append(PtxasWarning(warned[1], warned[2].strip()))
    return found, tuple(dict.fromkeys(warnings))


def _with_line(so_far: IsaResources, line: str) -> IsaResources:
    if frame := _FRAME.search(line):
        stack, stores, loads = (None if one is None else int(one) for one in frame.groups())
        so_far = replace(so_far, stack_bytes=stack, spill_store_bytes=stores, spill_load_bytes=loads)
    if used := _USED.search(line):
        so_far = replace(so_far, registers=int(used[1]))
    if barriers := _BARRIERS.search(line):
        so_far = replace(so_far, barriers=int(barriers[1]))
    if shared := _SHARED.search(line):
        so_far = replace(so_far, shared_static_bytes=int(shared[1]))
    return so_far
