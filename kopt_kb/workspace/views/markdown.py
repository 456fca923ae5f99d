"""Pieces of rendered Markdown: numbers, bullets, and texts of people made safe to stand in them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["bullets", "figure", "percent", "quoted"]


def figure(value: float | None, digits: int = 4) -> str:
    """Return a number at a few significant digits, `-` for none."""
    return "-" if value is None else f"{value:.{digits}g}"


def percent(value: float | None) -> str:
    """Return a signed percentage with three decimals, `-` for none."""
    return "-" if value is None else f"{value:+.3f}%"


def bullets(items: Iterable[object], none: str = "none") -> list[str]:
    """Return one bullet an item and a blank line; `none` when there are no items."""
    lines = [f"- {' '.join(str(one).split())}" for one in items]
    return [*(lines or [f"- {none}"]), ""]


def quoted(text: str) -> list[str]:
    """Return a text of several lines as a block quote, which no heading or table of it can leave."""
    return [f"> {line}".rstrip() for line in text.strip().split("\n")]
