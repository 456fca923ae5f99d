"""What tileiras says of its choices (`--remarks=all --remark-format=yaml`): which instruction a load or product is."""

from __future__ import annotations

import re

from kopt_kb.launch.compile.remarks import CompilerRemark

__all__ = ["read_remarks"]

_PLACE = re.compile(r"File:\s*'(.*?)',\s*Line:\s*(\d+)")
_FIELD = re.compile(r"^\s*-?\s*(\w+):\s+(.*)$")


def read_remarks(text: str) -> tuple[CompilerRemark, ...]:
    """Return the remarks of a file, each once, in order; a part that is none is left out."""
    return tuple(dict.fromkeys(one for part in text.split("\n...") if (one := _remark(part)) is not None))


def _remark(part: str) -> CompilerRemark | None:
    head = re.search(r"^--- !(\w+)", part, re.MULTILINE)
    if head is None:
        return None
    place = _PLACE.search(part)
    fields = {found[1]: found[2].strip().strip("'\"") for line in part.splitlines() if (found := _FIELD.match(line))}
    named = {"Pass", "Name", "DebugLoc", "Function", "Args", "RemarkId", "Remark", "Instruction", "Shape"}
    shape = tuple(int(one) for one in re.findall(r"\d+", fields.get("Shape", "")))
    return CompilerRemark(
        head[1], fields.get("Remark", fields.get("Name", "")), fields.get("Instruction", ""), shape,
        place[1] if place else "", int(place[2]) if place else 0,
        "; ".join(f"{name} {value}" for name, value in fields.items() if name not in named),
    )  # fmt: skip
