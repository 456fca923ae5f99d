"""Resource lines of AMDGCN text: LLVM's kernel comments and the code object metadata."""

from __future__ import annotations

import re

from kopt_kb.analysis.ir.machine.model import IsaResources

__all__ = ["ResourceReader"]

_METADATA = re.compile(
    r"^\s*-?\s*\.(agpr_count|vgpr_count|sgpr_count|vgpr_spill_count|sgpr_spill_count"
    r"|group_segment_fixed_size|private_segment_fixed_size):\s+(\d+)"
)
_ENTRY = re.compile(r"^\s{2}- ")
_SYMBOL = re.compile(r"^\s*\.symbol:\s+'?([^\s']+?)\.kd'?\s*$")
_COMMENT = re.compile(r"^; (NumVgprs|NumAgprs|ScratchSize): (\d+)")
_FUNCTION = re.compile(r"^\s*\.amdhsa_kernel\s+(\S+)")


class ResourceReader:
    """Collects resource lines; a kernel's numbers are asked for by its symbol at the end.

    `.vgpr_count` of the metadata is the unified total: architectural VGPRs padded to 4, plus AGPRs (LLVM
    AMDGPUUsage). The comment `; NumVgprs` has the architectural ones alone and wins when it is there.
    """

    def __init__(self) -> None:
        self._entries: dict[str, dict[str, int]] = {}
        self._comments: dict[str, dict[str, int]] = {}
        self._entry: dict[str, int] = {}
        self._kernel = ""

    def read(self, line: str) -> None:
        """Take one line of the text into account."""
        if match := _COMMENT.match(line):
            self._comments.setdefault(self._kernel, {})[match[1]] = int(match[2])
        elif match := _FUNCTION.match(line):
            self._kernel = match[1]
        else:
            self._read_metadata(line)

    def _read_metadata(self, line: str) -> None:
        if _ENTRY.match(line):
            self._entry = {}
        if match := _METADATA.match(line):
            self._entry[match[1]] = int(match[2])
        elif match := _SYMBOL.match(line):
            self._entries[match[1]] = self._entry

    def of(self, kernel: str) -> IsaResources | None:
        """Return that kernel's resources, or None when the text has no metadata for it."""
        entry, comments = self._entries.get(kernel), self._comments.get(kernel, {})
        if entry is None:
            return None
        accumulation, total = entry.get("agpr_count", 0), entry.get("vgpr_count", 0)
        spilled = entry.get("vgpr_spill_count", 0) + entry.get("sgpr_spill_count", 0)
        return IsaResources(
            registers=comments.get("NumVgprs", total - accumulation),
            accumulation_registers=accumulation,
            scalar_registers=entry.get("sgpr_count"),
            spilled_registers=spilled,
            stack_bytes=entry.get("private_segment_fixed_size", comments.get("ScratchSize")),
            shared_static_bytes=entry.get("group_segment_fixed_size"),
        )
