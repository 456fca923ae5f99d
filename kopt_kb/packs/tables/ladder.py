"""JSON tables whose outermost members are rows, one for each extent: what their forms share.

A form says what its files are called and what a key counts; reading, refusing and writing are the same for all.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.members import CutMember, CutText, cut
from kopt_kb.problem.tuned_table import Setting, TunedRow, TunedTable

__all__ = ["ENTRIES", "Ladder", "engine_of", "is_extent", "triton_of", "write_ladder"]

ENTRIES = r"(?:,[A-Za-z_]+=(?:\[[0-9, ]+\]|[^,\[\]]*?))*"
"""Pattern of what stands behind the device in a name: `,dtype=fp8_w8a8,block_shape=[128, 128]`."""

_ENTRY = re.compile(r",([A-Za-z_]+)=(\[[0-9, ]+\]|[^,\[\]]*)")
_EXTENT = re.compile(r"([A-Za-z]+)=([1-9][0-9]*)")
_VERSION = re.compile(r"triton_(\d+)_(\d+)_(\d+)")
_INDENT = "    "


@dataclass(frozen=True)
class Ladder:
    """A form of such tables.

    Attributes:
        form: Its name.
        kernel: Kernel that its rows are for.
        name: What a file is called, with the groups `shape` (extents of the whole table, `N=1,K=2`), `device` and
            `more` (`ENTRIES`), and `down` where a file may be of the second product alone.
        called: How to call a file, for messages.
        counts: What a key counts, by the name of the extent.
        needed: Settings that every row has, whole numbers above 0.
        key: What a key looks like, with the group `extent`, which may be absent.
    """

    form: str
    kernel: str
    name: re.Pattern[str]
    called: str
    counts: str
    needed: tuple[str, ...]
    key: re.Pattern[str] = re.compile(r"(?P<extent>[1-9][0-9]*)")

    def recognises(self, name: str, head: bytes) -> bool:
        """Return whether a file is such a table: by its name, in which half of what it says stands."""
        return self.name.fullmatch(name) is not None and head.lstrip()[:1] in {b"{", b""}

    def read(self, data: bytes, path: Path) -> TunedTable:
        """Return the table of a file.

        Raises:
            BadInput: The name says too little, or the file is cut off, names a key twice, or has a setting that is no
                whole number, truth value or word; with file, line and key.
        """
        said = self.name.fullmatch(path.name)
        if said is None:
            what = "its name does not say what it is for"
            raise BadInput(what, where=str(path), fix=f"name it {self.called}", code="KB116")
        try:
            layout = cut(data.decode("utf-8"), str(path))
        except UnicodeDecodeError as error:
            what = f"is no UTF-8: {error.reason}"
            raise BadInput(what, where=str(path), fix="write it again", code="KB116") from error
        rows = tuple(self._row(one, path) for one in layout.members if self.key.fullmatch(one.key))
        if not rows:
            what, fix = "has no row", f"a row is a number of {self.counts} with settings"
            raise BadInput(what, where=str(path), fix=fix, code="KB116")
        parts = said.groupdict()
        facts = dict(_ENTRY.findall(parts.get("more") or ""))
        facts |= {one.key: _fact(one, self.counts, path) for one in layout.members if not self.key.fullmatch(one.key)}
        block = [int(one) for one in re.findall(r"\d+", facts.pop("block_shape", ""))]
        return TunedTable(
            self.form,
            path.name,
            (parts.get("device") or "").replace("_", " "),
            facts,
            rows,
            layout,
            kernel=self.kernel,
            engine=engine_of(path),
            shape={name: int(value) for name, value in _EXTENT.findall(parts["shape"])},
            dtype=facts.pop("dtype", ""),
            block_shape=tuple(block),
            product="down" if parts.get("down") else "",
            triton=facts.pop("triton_version", "") or triton_of(path),
        )

    def _row(self, member: CutMember, path: Path) -> TunedRow:
        where = f"{path}:{member.line}"
        if not isinstance(member.value, dict):
            raise _bad(f"{member.key} has no settings", where)
        for name, value in member.value.items():
            if not isinstance(value, int | str):
                raise _bad(f"{member.key}: {name} is {json.dumps(value)[:40]}", where)
        lacking = [name for name in self.needed if not is_extent(member.value.get(name))]
        if lacking:
            raise _bad(f"{member.key}: {', '.join(lacking)} is no whole number above 0, or is not there", where)
        key = self.key.fullmatch(member.key)
        extent = key["extent"] if key else None
        return TunedRow(member.key, member.value, member.line, {self.counts: int(extent)} if extent else {})

    def is_row(self, key: str) -> bool:
        """Return whether a member of that name is a row."""
        return self.key.fullmatch(key) is not None


def write_ladder(table: TunedTable, form: Ladder) -> bytes:
    """Return the bytes of a table; rows that a file has are written as they stand there."""
    layout = table.layout if isinstance(table.layout, CutText) else CutText((), (f"{{\n{_INDENT}", "\n}\n"))
    before = {one.key: one for one in layout.members}
    gap = layout.gaps[1] if len(layout.members) > 1 else f",\n{_INDENT}"
    is_spread = not layout.members or any("\n" in one.text for one in layout.members)
    indent = layout.gaps[0].rpartition("\n")[2] if is_spread and "\n" in layout.gaps[0] else None
    texts = [_text(row, before.get(row.key), indent) for row in table.rows]
    if [row.key for row in table.rows] == [key for key in before if form.is_row(key)]:
        new = {row.key: text for row, text in zip(table.rows, texts, strict=True)}
        pieces = [new.get(one.key, one.text) for one in layout.members]
        between = layout.gaps
    else:
        keys = [row.key for row in table.rows]
        pieces = _placed(layout, keys, dict(zip(keys, texts, strict=True)), form)
        between = (layout.gaps[0], *[gap] * (len(pieces) - 1), layout.gaps[-1])
    return "".join([between[0], *(f"{one}{after}" for one, after in zip(pieces, between[1:], strict=True))]).encode()


def _placed(layout: CutText, keys: list[str], texts: dict[str, str], form: Ladder) -> list[str]:
    """Return the members of a file whose rows are others now: what is no row stays behind what it stood behind."""
    pieces: list[tuple[str, str]] = [(key, texts[key]) for key in keys]
    behind = ""
    for one in layout.members:
        if not form.is_row(one.key):
            places = [at for at, (key, _) in enumerate(pieces) if key == behind]
            pieces.insert(places[0] + 1 if places else 0, (one.key, one.text))
        behind = one.key if one.key in texts or not form.is_row(one.key) else behind
    return [text for _, text in pieces]


def engine_of(path: Path) -> str:
    """Return whose program a file lies in, by the folders above it; empty where none says so."""
    if triton_of(path):
        return "sglang"
    return next((one for one in reversed(path.absolute().parts[:-1]) if one in {"vllm", "sglang", "aiter"}), "")


def triton_of(path: Path) -> str:
    """Return the version of Triton that a file's folder names, as in `triton_3_5_1`; empty where it names none."""
    said = _VERSION.fullmatch(path.parent.name)
    return ".".join(said.groups()) if said else ""


def is_extent(value: object) -> bool:
    """Return whether a setting is a whole number above 0; true is none."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


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


def _fact(member: CutMember, counts: str, path: Path) -> str:
    if not isinstance(member.value, int | str):
        raise _bad(f"{member.key} is no number of {counts} and no word", f"{path}:{member.line}")
    return str(member.value)


def _bad(what: str, where: str) -> BadInput:
    return BadInput(what, where=where, fix="write the table again, or leave the row out", code="KB116")
