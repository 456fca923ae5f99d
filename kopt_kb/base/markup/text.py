"""Text of others, made safe to show: what a page may not obey becomes visible, what is too long is cut."""

from __future__ import annotations

__all__ = ["clipped", "visible"]

_MARK = "…"


def visible(text: str) -> str:
    """Return a text with control and direction characters as escapes; line ends and spaces stay.

    Such characters reverse what stands beside them, hide it, or are refused by XML.
    """
    if text.isascii() and text.isprintable():
        return text
    kept = {"\n": "\n", "\t": " ", "\r": ""}
    return "".join(
        kept.get(one, one if one.isprintable() else one.encode("unicode_escape").decode("ascii")) for one in text
    )


def clipped(text: str, most: int) -> str:
    """Return a text of at most so many characters; what is cut off ends in `…`."""
    return text if len(text) <= most else text[: max(most - 1, 0)].rstrip() + _MARK
