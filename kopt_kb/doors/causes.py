"""Error codes of packs beside those of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kopt_kb.base.error_codes import Code, PackCode, cause_of
from kopt_kb.doors.table import behind

if TYPE_CHECKING:
    from kopt_kb.doors.pack import PackCause

__all__ = ["known_code", "pack_causes"]


def pack_causes() -> dict[str, PackCause]:
    """Return code → cause of every pack; a code that the core has, or a pack before, stays theirs."""
    found: dict[str, PackCause] = {}
    for _, cause in behind("causes"):
        if not _is_core(cause.code):
            found.setdefault(cause.code, cause)
    return found


def known_code(word: str) -> Code | PackCode:
    """Return a code that another process wrote; raises `ValueError` for a word that neither core nor pack has."""
    if _is_core(word):
        return cause_of(word)
    if word not in pack_causes():
        raise ValueError(f"{word!r} is no error code")
    return PackCode(word)


def _is_core(word: str) -> bool:
    try:
        cause_of(word)
    except ValueError:
        return False
    return True
