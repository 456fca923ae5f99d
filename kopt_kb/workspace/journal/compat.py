"""Names of earlier journals → what they are called now; recorded journals are read through this one file.

It alone in the core names packs: a name moves here when what it stands for becomes a pack's.
"""

from __future__ import annotations

from collections.abc import Mapping

from kopt_kb.base.wire import JsonMap

__all__ = ["present_kind", "present_policy"]

_KINDS: Mapping[str, str] = {}
"""Event kind as journals were written with before → `pack.kind`."""


def present_kind(kind: str) -> str:
    """Return what a kind of event is called now."""
    return _KINDS.get(kind, kind)


def present_policy(recorded: JsonMap) -> JsonMap:
    """Return the document of a confirmed policy as it is written now."""
    if "transfer" not in recorded:
        return recorded
    kept = {name: value for name, value in recorded.items() if name != "transfer"}
    gates = kept.get("required_gates")
    if recorded["transfer"] is not True or not isinstance(gates, list | tuple):
        return kept
    return {**kept, "required_gates": [*gates, _TRANSFER], "named": True, "pack": _TRANSFER.partition(".")[0]}


_TRANSFER = "training_step.transfer"
"""Gate that a policy's switch `transfer` asked for."""
