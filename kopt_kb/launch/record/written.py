"""Which parameters of a kernel its stores may write through, by its IR's text."""

from __future__ import annotations

import re

__all__ = ["written_parameters"]

_RESULT = re.compile(r"^\s*(?:%([\w#.]+)(?::\d+)?\s*=\s*)?\"?([\w.]+)")
_NAME = re.compile(r"%[\w.]+")
_WRITES = (
    "tt.store", "tt.atomic", "tt.descriptor_store", "tt.descriptor_reduce", "tt.descriptor_scatter",
    "tt.experimental_descriptor_store", "tt.call",
)  # fmt: skip


def written_parameters(ttir: str) -> set[str]:
    """Return the parameters of a kernel's IR that its stores may write through; more rather than fewer.

    Every value is said to come from all operands of its line, and what any loop or branch hands on from all that is
    yielded anywhere; only what is loaded comes from none. Names are followed until nothing new is found.
    """
    roots: dict[str, set[str]] = {}
    writes: list[list[str]] = []
    edges: list[tuple[list[str], list[str]]] = []
    handed: list[str] = []
    for line in ttir.splitlines():
        text = line.partition(" loc(")[0]
        if "tt.func" in text:
            roots = {one: {one} for one in _NAME.findall(line)}  # each parameter has a place of its own behind it
            continue
        left, equals, right = text.partition(" = ") if re.match(r"^\s*%", text) else ("", "", text)
        names, made = _NAME.findall(right), _NAME.findall(left)
        found = _RESULT.match(right)
        kind = found[2] if found else ""
        if kind in {"scf.for", "scf.while", "scf.if"}:
            pairs = re.findall(r"(%[\w.]+) = (%[\w.]+)", right)
            edges += [([one], [other]) for one, other in pairs]
            handed += [*made, *(one for one, _ in pairs)]
            names = [other for _, other in pairs]
        if kind.startswith("scf.yield"):
            edges.append((handed, names))
        if kind in {"tt.load", "tt.descriptor_load"}:
            continue
        if kind.startswith(_WRITES):
            writes.append(names if kind == "tt.call" else names[:1])
        if equals:
            edges.append((made, names))
    return _reached(roots, edges, writes)


def _reached(roots: dict[str, set[str]], edges: list[tuple[list[str], list[str]]], writes: list[list[str]]) -> set[str]:
    grew = True
    while grew:
        grew = False
        for made, names in edges:
            reach = set[str]().union(*(roots.get(one, set()) for one in names))
            for one in made:
                if not reach <= roots.setdefault(one, set()):
                    roots[one] |= reach
                    grew = True
    return {one.lstrip("%") for names in writes for name in names for one in roots.get(name, set())}
