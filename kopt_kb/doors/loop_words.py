"""Gates and stop reasons of packs by the names that policies and journals use, `pack.word`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from kopt_kb.doors import table
from kopt_kb.doors.loop_part import LoopPart

__all__ = ["loop_parts", "loop_word"]


def loop_parts() -> Iterator[tuple[str, LoopPart]]:
    """Yield what each usable pack adds to the loop, with the pack's name."""
    for pack, part in table.behind("loop_parts"):
        yield pack.name, part


def loop_word(name: str, door: Literal["gates", "stop_reasons"]) -> Any:
    """Return the gate or stop reason `pack.word`; None where no usable pack brings it."""
    own, _, word = name.partition(".")
    found = (one for pack, part in loop_parts() if pack == own for one in getattr(part, door) if one.name == word)
    return next(found, None)
