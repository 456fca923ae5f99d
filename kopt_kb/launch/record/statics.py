"""What the compiler said of each recorded launch: its IR and resources, kept beside the record for static analysis.

It comes from the maker and is a claim: counts and profiles are made of it, gates never are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kopt_kb.base.wire import Sha256, Wire
from kopt_kb.launch.compile.request import Compilation
from kopt_kb.launch.record.request import MakerRequest

__all__ = ["STATICS", "StaticLaunch", "Statics"]

STATICS = "static.json"
"""Name of the document in a record's folder."""


@dataclass(frozen=True, slots=True)
class StaticLaunch(Wire):
    """One kernel with one set of arguments.

    Attributes:
        code: Its code object.
        times: How often it was launched so.
        compilation: What the compiler gave, with the arguments and the grid; without the code object.
        file: Where the function is that launched it; empty where nobody asked, or none can be called.
        call: The call of that function, as `kb init --call` takes it.
    """

    code: Sha256
    times: int
    compilation: Compilation
    file: str = ""
    call: str = ""

    @classmethod
    def from_wire(cls, document: Mapping[str, object]) -> Mapping[str, object]:
        """Read the one dialect besides Triton's that compilations had a member for before there were dialects."""
        held = document.get("compilation")
        if not isinstance(held, Mapping) or "tile_ir" not in held:
            return document
        kept = {name: value for name, value in held.items() if name != "tile_ir"}
        return {**document, "compilation": {**kept, "dialects": {"tile": held["tile_ir"]} if held["tile_ir"] else {}}}


@dataclass(frozen=True, slots=True)
class Statics(Wire):
    """What is known of a record's launches, and what would record them again for another target.

    Attributes:
        request: What was asked of the maker.
        launches: Each kernel with each set of arguments once, in the order of its first launch.
        tuned: Launched kernel that chooses among configurations → what each of them sets.
    """

    request: MakerRequest
    launches: tuple[StaticLaunch, ...]
    tuned: Mapping[str, tuple[Mapping[str, bool | int | float | str], ...]] = field(default_factory=dict)
