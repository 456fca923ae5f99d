"""What the compiler said of each recorded launch: its IR and resources, kept beside the record for static analysis.

It comes from the maker and is a claim: counts and profiles are made of it, gates never are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kopt_kb.kernels.compile.request import Compilation
from kopt_kb.kernels.record.request import MakerRequest
from kopt_kb.wire import Sha256, Wire

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
    """

    code: Sha256
    times: int
    compilation: Compilation


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
