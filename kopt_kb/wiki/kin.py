"""Targets of one vendor beside each other: a limit that all others agree on is not changed without a word."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.wiki import Wiki

__all__ = ["odd_targets"]

_RULE = "KIN"
_LEAST = 5
"""So many targets of a vendor have to state a limit before one of them can be the odd one."""
_ODD = 1
"""At most so many may differ: where more do, the limit is one that generations differ in."""


def _stated(wiki: Wiki) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for path in wiki.pages("targets"):
        page = wiki.page(path)
        for row in page.rows if page is not None else ():
            if row.kind == "value" and row.chosen is not False and page is not None:
                found[str(page.front.get("vendor")), f"{row.key} {row.unit}"].append(row)
    return found


def odd_targets(wiki: Wiki) -> Iterator[Fault]:
    """Yield a fault for each limit in which one target differs from all others of its vendor.

    A difference that is real declares `exception KIN: why`.
    """
    for (vendor, _), rows in _stated(wiki).items():
        usual, many = Counter(row.value for row in rows).most_common(1)[0]
        if many < _LEAST or len(rows) - many > _ODD:
            continue
        for row in rows:
            declared = any(tag == "exception" and text.startswith(f"{_RULE}:") for tag, text in row.notes)
            if row.value != usual and not declared:
                message = f"{row.key} = {row.value}, all other {vendor} targets say {usual}"
                yield Fault("WK406", row.path, row.line, message, f"read it again, or declare `exception {_RULE}: why`")
            elif row.value == usual and declared:
                yield Fault(
                    "WK303", row.path, row.line, f"{row.key} is that of the other targets", "remove the exception"
                )
