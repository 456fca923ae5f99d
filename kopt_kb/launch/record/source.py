"""Whether a record's code objects come from the source they are said to come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from kopt_kb.base.wire import JsonMap, Sha256, Wire
from kopt_kb.launch.record.code_request import UnboundReason

__all__ = ["BEFORE", "NOT_REPLAYED", "CodeBound", "CodeSource", "least_bound"]


@dataclass(frozen=True, slots=True)
class CodeSource(Wire):
    """Whether code was made again from its source and came out the same.

    Attributes:
        state: `bound` where it did.
        reason: Why not; None where it did.
        detail: The same in words.
    """

    state: Literal["bound", "unbound"] = "unbound"
    reason: UnboundReason | None = "recorded_before"
    detail: str = ""

    def __str__(self) -> str:
        """Return the state with its reason, as reports print it."""
        if self.reason is None:
            return self.state
        return f"{self.state}, {self.reason.replace('_', ' ')}"

    def beside(self, level: str) -> str:
        """Return a level of trust with this behind it; alone where a journal is from before there was this field."""
        return level if self.reason == "recorded_before" else f"{level}; {self}"


BEFORE = CodeSource()
"""Of what was recorded before there was this field."""
NOT_REPLAYED = CodeSource("unbound", "not_replayed")
"""Of what no launch record stands for."""


@dataclass(frozen=True, slots=True)
class CodeBound(Wire):
    """A code object that was made again.

    Attributes:
        code: sha256 of the recorded one.
        kernel: Language and kernel, as the recorder names them.
        source: The outcome.
        files: Name of each file of source that was read → sha256.
        options: Options of the compiler, floating-point fusion among them.
        versions: Program → version.
    """

    code: Sha256
    kernel: str
    source: CodeSource
    files: Mapping[str, str] = field(default_factory=dict)
    options: JsonMap = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def least_bound(found: Iterable[CodeSource]) -> CodeSource:
    """Return the first outcome that is unbound, or that all are bound; of nothing, that no record was judged."""
    outcomes = list(found)
    unbound = next((one for one in outcomes if one.state != "bound"), None)
    return unbound or (CodeSource("bound", None) if outcomes else NOT_REPLAYED)
