"""The door `Export`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from kopt_kb.wiki.collect import Collection, ProductPeaks
    from kopt_kb.wiki.foreign_row import ForeignRow

__all__ = ["Export"]


@dataclass(frozen=True, slots=True)
class Export:
    """A form in which values leave, and come back to be compared.

    Attributes:
        name: Stable name, as `kb export peaks --for` takes it.
        what: Who reads it and in which file, for messages.
        render: Returns file name → text of a collection; a product that the form can't hold is not in it.
        store: For binary forms in place of `render`: writes a collection to a file.
        many: Whether it has one file a product.
        lacks: Returns why it can't hold a product, empty when it can; None: it holds every product.
        recognises: Whether a text is of this form; None: nothing of it is read back by its text.
        read: Returns the rows of a text that it recognises, given the text and its place.
        magic: First bytes of a binary form.
        load: Returns the rows of a file that begins with them.
    """

    name: str
    what: str
    render: Callable[[Collection], dict[str, str]] | None = None
    store: Callable[[Collection, Path], None] | None = None
    many: bool = False
    lacks: Callable[[ProductPeaks], str] | None = None
    recognises: Callable[[str], bool] | None = None
    read: Callable[[str, str], Iterable[ForeignRow]] | None = None
    magic: bytes = b""
    load: Callable[[Path], list[ForeignRow]] | None = None
