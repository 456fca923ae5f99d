"""The fused-MoE tables of vLLM and SGLang: JSON, a number of tokens → settings of the kernel; the name says for what.

`E=128,N=384,device_name=NVIDIA_H20-3e,dtype=fp8_w8a8,block_shape=[128,128].json`: experts, width of a shard, device,
type of weights and activations, block of their scales. A name that ends in `_down` is of the second product.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.members import CutMember, CutText, cut
from kopt_kb.problem.tuned_table import Setting, TunedRow, TunedTable

__all__ = ["FORM", "is_fused_moe", "read_fused_moe", "write_fused_moe"]

FORM = "fused-moe"
_NAME = re.compile(
    r"E=(?P<E>\d+),N=(?P<N>\d+),device_name=(?P<device>[^,]+?)"
    r"(?P<more>(?:,[a-z_]+=(?:\[[0-9, ]+\]|[^,\[\]]+?))*)(?P<down>_down)?\.json"
)
_MORE = re.compile(r",([a-z_]+)=(\[[0-9, ]+\]|[^,\[\]]+)")
_KEY = re.compile(r"[1-9][0-9]*")
_NEEDED = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K")
_INDENT = "    "


def is_fused_moe(name: str, head: bytes) -> bool:
    """Return whether a file is such a table: by its name, in which half of what it says stands."""
    return _NAME.fullmatch(name) is not None and head.lstrip()[:1] in {b"{", b""}


def read_fused_moe(data: bytes, path: Path) -> TunedTable:
    """Return the table of a file.

    Raises:
        BadInput: The name says too little, or the file is cut off, names a key twice, or has a setting that is no whole
            number, truth value or word; with file, line and key.
    """
    said = _NAME.fullmatch(path.name)
    if said is None:
        fix = "name it E=<experts>,N=<width>,device_name=<device>[,dtype=…][,block_shape=[…]].json"
        raise BadInput("its name does not say what it is for", where=str(path), fix=fix, code="KB116")
    try:
        layout = cut(data.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise BadInput(f"is no UTF-8: {error.reason}", where=str(path), fix="write it again", code="KB116") from error
    rows = tuple(_row(one, path) for one in layout.members if _KEY.fullmatch(one.key))
    if not rows:
        raise BadInput("has no row", where=str(path), fix="a row is a number of tokens with settings", code="KB116")
    facts = {"E": said["E"], "N": said["N"], **dict(_MORE.findall(said["more"]))}
    facts |= {"product": "down"} if said["down"] else {}
    facts |= {one.key: _fact(one, path) for one in layout.members if not _KEY.fullmatch(one.key)}
    return TunedTable(FORM, path.name, said["device"].replace("_", " "), facts, rows, layout)


def write_fused_moe(table: TunedTable) -> bytes:
    """Return the bytes of a table; rows that a file has are written as they stand there."""
    layout = table.layout if isinstance(table.layout, CutText) else CutText((), (f"{{\n{_INDENT}", "\n}\n"))
    before = {one.key: one for one in layout.members}
    gap = layout.gaps[1] if len(layout.members) > 1 else f",\n{_INDENT}"
    indent = layout.gaps[0].rpartition("\n")[2] if "\n" in layout.gaps[0] else None
    facts = [one.text for one in layout.members if not _KEY.fullmatch(one.key)]
    texts = [_text(row, before.get(row.key), indent) for row in table.rows]
    if [row.key for row in table.rows] == [key for key in before if _KEY.fullmatch(key)]:
        new = {row.key: text for row, text in zip(table.rows, texts, strict=True)}
        pieces = [new.get(one.key, one.text) for one in layout.members]
        between = layout.gaps
    else:
        pieces = [*facts, *texts]
        between = (layout.gaps[0], *[gap] * (len(pieces) - 1), layout.gaps[-1])
    return "".join([between[0], *(f"{one}{after}" for one, after in zip(pieces, between[1:], strict=True))]).encode()


def _text(row: TunedRow, before: CutMember | None, indent: str | None) -> str:
    settings = dict(row.settings)
    if before is not None and _same(before.value, settings):
        return before.text
    body = json.dumps(settings, indent=None if indent is None else indent or _INDENT, ensure_ascii=False)
    return f'"{row.key}": ' + (body if indent is None else body.replace("\n", f"\n{indent}"))


def _same(value: object, settings: dict[str, Setting]) -> bool:
    """Return whether settings are these, in this order; true is not 1."""
    if not isinstance(value, dict):
        return False
    ours, theirs = ([(name, type(one), one) for name, one in each.items()] for each in (value, settings))
    return ours == theirs


def _row(member: CutMember, path: Path) -> TunedRow:
    where = f"{path}:{member.line}"
    if not isinstance(member.value, dict):
        raise _bad(f"{member.key} has no settings", where)
    for name, value in member.value.items():
        if not isinstance(value, int | str):
            raise _bad(f"{member.key}: {name} is {json.dumps(value)[:40]}", where)
    lacking = [name for name in _NEEDED if not _is_extent(member.value.get(name))]
    if lacking:
        raise _bad(f"{member.key}: {', '.join(lacking)} is no whole number above 0, or is not there", where)
    return TunedRow(member.key, member.value, member.line)


def _is_extent(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _fact(member: CutMember, path: Path) -> str:
    if not isinstance(member.value, int | str):
        raise _bad(f"{member.key} is no number of tokens and no word", f"{path}:{member.line}")
    return str(member.value)


def _bad(what: str, where: str) -> BadInput:
    return BadInput(what, where=where, fix="write the table again, or leave the row out", code="KB116")
