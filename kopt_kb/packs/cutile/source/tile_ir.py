"""Tile IR as tileirdisasm 13.4 writes it: operations one a line, with the regions of loops, branches and reductions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kopt_kb.analysis.ir.triton.irtypes import IrType
from kopt_kb.analysis.ir.triton.model import IrError

__all__ = ["TileEntry", "TileOp", "parse_tile_ir", "tile_type"]

_ENTRY = re.compile(r"^\s*entry @([\w.$]+)\((.*?)\)(?: \w+=.*)? \{\s*$")
_PARAMETER = re.compile(r"(%[\w.$]+): tile<([^>]*)>")
_OP = re.compile(r"^\s*(?:(%[^=]*?) = )?([a-z_][\w.]*)\b(.*)$")
_TILE = re.compile(r"^((?:\d+x)*)(ptr<(\w+)>|\w+)$")


@dataclass(slots=True)
class TileOp:
    """One operation.

    Attributes:
        name: Such as `mmaf`.
        results: Names of its values; `%4:2` gives `%4#0` and `%4#1`.
        text: What follows the name up to the types.
        types: What follows the colon.
        line: Where it stands, from 1.
        regions: Its bodies.
    """

    name: str
    results: tuple[str, ...]
    text: str
    types: str
    line: int
    regions: list[list[TileOp]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TileEntry:
    """A kernel: its name, its parameters in order, and its operations."""

    name: str
    parameters: tuple[str, ...]
    ops: tuple[TileOp, ...]


def parse_tile_ir(text: str, file: str = "<tile ir>") -> TileEntry:
    """Return the kernel of a text.

    Raises:
        IrError: It is no Tile IR of one kernel; the error names the line.
    """
    lines = text.splitlines()
    heads = [(at, found) for at, one in enumerate(lines) if (found := _ENTRY.match(one))]
    if len(heads) != 1:
        fix = "give the text of one kernel, as kb cutile ir writes it"
        raise IrError(f"{len(heads)} kernels in a text of Tile IR", where=file, fix=fix)
    at, head = heads[0]
    ops: list[TileOp] = []
    stack = [ops]
    for number, line in enumerate(lines[at + 1 :], start=at + 2):
        word = line.strip()
        if word == "}" and len(stack) == 1:
            return TileEntry(head[1], tuple(one for one, _ in _PARAMETER.findall(head[2])), tuple(ops))
        _take(stack, word, number, file)
    raise IrError("a kernel of Tile IR has no end", where=f"{file}:{len(lines)}", fix="give the whole text")


def _take(stack: list[list[TileOp]], word: str, number: int, file: str) -> None:
    """Take one line up."""
    if not word:
        return
    if word.startswith("}"):
        stack.pop()
        if word.endswith("{"):
            _open(stack, stack[-1][-1])
        return
    if word.startswith("(") and word.endswith("{") and stack[-1]:
        _open(stack, stack[-1][-1])
        return
    match = _OP.match(word)
    if match is None:
        raise IrError(f"no operation of Tile IR: {word[:60]!r}", where=f"{file}:{number}", fix="give the whole text")
    rest = match[3].removesuffix("{").strip()
    body, _, types = (
        rest.partition(" : ") if " : " in rest else ("", "", rest[2:]) if rest[:2] == ": " else (rest, "", "")
    )
    made = TileOp(match[2], _names(match[1] or ""), body.strip(), types.strip(), number)
    stack[-1].append(made)
    if word.endswith("{"):
        _open(stack, made)


def _open(stack: list[list[TileOp]], op: TileOp) -> None:
    op.regions.append([])
    stack.append(op.regions[-1])


def _names(text: str) -> tuple[str, ...]:
    def each() -> Iterator[str]:
        for one in filter(None, (part.strip() for part in text.split(","))):
            name, _, count = one.partition(":")
            yield from (f"{name}#{at}" for at in range(int(count))) if count.isdigit() else (name,)

    return tuple(each())


def tile_type(text: str) -> IrType | None:
    """Return the type that stands last in a text, None where that is no tile."""
    at = text.rfind("tile<")
    if at < 0:
        return None
    depth = 0
    for end in range(at + 4, len(text)):
        depth += {"<": 1, ">": -1}.get(text[end], 0)
        if depth == 0:
            break
    match = _TILE.match(text[at + 5 : end])
    if match is None:
        return None
    shape = tuple(int(one) for one in match[1].split("x") if one)
    return IrType("tensor" if shape else "scalar", match[3] or match[2], shape, of_pointers=match[3] is not None)
