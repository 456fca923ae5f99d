"""The door `WikiCheck`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kopt_kb.wiki.faults import Fault
    from kopt_kb.wiki.names import Identity
    from kopt_kb.wiki.sheet import Sheet
    from kopt_kb.wiki.wiki import Wiki

__all__ = ["WikiCheck"]


@dataclass(frozen=True, slots=True)
class WikiCheck:
    """What `kb wiki check` asks of pages besides grammar, quotes and physics.

    Attributes:
        name: Stable name.
        what: The same in a reader's words, for messages.
        product: Yields faults of one product's page.
        wiki: Yields faults of pages beside each other, and beside what the wiki keeps besides pages.
    """

    name: str
    what: str
    product: Callable[[Identity, Sheet], Iterable[Fault]] | None = None
    wiki: Callable[[Wiki], Iterable[Fault]] | None = None
