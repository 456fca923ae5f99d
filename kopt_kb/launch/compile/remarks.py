"""What a compiler says of its choices: which instruction a load or a product became, and what it could not do."""

from __future__ import annotations

from dataclasses import dataclass

from kopt_kb.base.wire import Wire

__all__ = ["CompilerRemark"]


@dataclass(frozen=True, slots=True)
class CompilerRemark(Wire):
    """One remark.

    Attributes:
        verdict: Passed, Missed, Failed or Analysis.
        what: Such as `Load instruction selected`.
        instruction: Such as `TMA Load instruction`; empty where none is named.
        shape: Elements of the instruction, along each dimension.
        file: Source file.
        line: Line in it; 0 when unsaid.
        more: What else it says, as `name value` words.
    """

    verdict: str
    what: str
    instruction: str = ""
    shape: tuple[int, ...] = ()
    file: str = ""
    line: int = 0
    more: str = ""
