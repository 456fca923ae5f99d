"""Event kinds of packs, `pack.kind`: looked up only where a journal or its writer names one."""

from __future__ import annotations

import re
from typing import Annotated, Any

from kopt_kb.base.wire import Matches

__all__ = ["PackWord", "pack_class", "pack_of", "why_unread"]

PackWord = Annotated[str, Matches(r"^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$", "a pack's word such as pack.word")]
"""A gate, stop reason or event kind of a pack."""

_OF_PACK = re.compile(r"([a-z][a-z0-9_]*)\.[a-z][a-z0-9_]*")


def pack_of(name: str) -> str:
    """Return the pack that a name `pack.word` belongs to; empty for a name of the core."""
    written = _OF_PACK.fullmatch(name)
    return written[1] if written else ""


def pack_class(kind: str) -> type[Any] | None:
    """Return the dataclass of the data of `pack.kind`; None where no usable pack knows the kind."""
    from kopt_kb.doors import table  # no journal without such kinds needs the packs

    pack = table.packs().usable.get(pack_of(kind))
    event = pack.events.get(kind.partition(".")[2]) if pack is not None else None
    if event is None:
        return None
    try:
        found: type[Any] = event.target
    except (ImportError, AttributeError):  # a pack in pieces is as good as absent, and `why_unread` says so
        return None
    return found


def why_unread(pack: str) -> str:
    """Return why what journals hold of a pack can't be read here, such as `is not installed`."""
    from kopt_kb.doors import table

    if pack in table.packs().usable:
        return "is installed in a version that does not know them"
    fault = next((one for one in table.packs().faults if one.name == pack and not one.absent), None)
    return "is not installed" if fault is None else f"can't be used: {fault.why}"
