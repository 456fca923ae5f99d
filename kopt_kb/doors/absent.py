"""What no installed pack brings is refused by the name of the pack that would.

A distribution says which of its packs brings what in the entry point group `kopt_kb.offers`: `offer = pack`. The core
asks by the offer, such as `audit_forms` or `wiki diff`, and so names no pack.
"""

from __future__ import annotations

from kopt_kb.base.errors import MissingTool
from kopt_kb.doors import table
from kopt_kb.doors.entries import entry_points

__all__ = ["OFFERS", "absent_offers", "absent_pack", "needs_pack"]

OFFERS = "kopt_kb.offers"


def absent_pack(offer: str) -> str:
    """Return the pack that brings an offer and can't be used here; nothing where none is declared, or it is there."""
    return _absent().get(offer, "")


def absent_offers(prefix: str) -> tuple[str, ...]:
    """Return what packs that can't be used here would bring, of the offers that begin so, without that beginning."""
    return tuple(offer.removeprefix(prefix) for offer in _absent() if offer.startswith(prefix))


def _absent() -> dict[str, str]:
    usable = table.packs().usable
    return {entry.name: entry.value for entry in entry_points(group=OFFERS) if entry.value not in usable}


def needs_pack(what: str, offer: str, where: str = "kb") -> MissingTool:
    """Return the refusal of what an absent pack would do.

    Args:
        what: What was asked for, as the subject of a sentence.
        offer: What it needs, as the group `kopt_kb.offers` names it.
        where: Place of the error.
    """
    name = absent_pack(offer)
    fault = next((one for one in table.packs().faults if one.name == name and not one.absent), None)
    missing = "is not installed" if fault is None else f"can't be used: {fault.why}"
    needs = f"the pack {name}, which {missing}" if name else f"a pack that brings {offer}; none is installed"
    return MissingTool(f"{what} needs {needs}", where=where, fix="install it; kb doctor lists the packs", code="KB120")
