"""Documents that a command puts together itself: errors, the list of products, codes, files that were written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import Wire
from kopt_kb.wiki.names import Identity

__all__ = [
    "CodeEntry",
    "Codes",
    "ErrorBody",
    "ErrorDocument",
    "ProductListing",
    "Products",
    "WrittenFile",
    "WrittenFiles",
    "WrittenPage",
]


@dataclass(frozen=True, slots=True)
class ErrorBody(Wire):
    """An error: its code, what is wrong, where, and what to do."""

    code: str
    message: str
    where: str
    fix: str


@dataclass(frozen=True, slots=True)
class ErrorDocument(Wire):
    """What every command prints in place of its result when it is refused."""

    error: ErrorBody

    @staticmethod
    def of(error: KoptError) -> ErrorDocument:
        """Return the document of an error."""
        return ErrorDocument(ErrorBody(error.error_code, error.what, error.where, error.fix))


@dataclass(frozen=True, slots=True)
class ProductListing(Wire):
    """One product of the wiki and how many rows of its page have a value or a word."""

    WIRE: ClassVar = (
        "platform=identity.platform", "vendor=identity.vendor", "arch=identity.arch", "target=identity.target",
        "sku=identity.sku", "specs",
    )  # fmt: skip
    identity: Identity
    specs: int


@dataclass(frozen=True, slots=True)
class Products(Wire):
    """All products."""

    platforms: tuple[ProductListing, ...]


@dataclass(frozen=True, slots=True)
class CodeEntry(Wire):
    """A code, what kind of thing has it, and what is known of it; faults, rules and findings state a cause alone."""

    WIRE: ClassVar = ("code", "kind", "name?", "cause", "remedy?")
    code: str
    kind: str
    cause: str
    name: str | None = None
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Codes(Wire):
    """Codes that were asked for, or all."""

    codes: tuple[CodeEntry, ...]


@dataclass(frozen=True, slots=True)
class WrittenFile(Wire):
    """A file that was written."""

    path: str


@dataclass(frozen=True, slots=True)
class WrittenPage(Wire):
    """A page that was written into a wiki, and the faults it brings."""

    path: str
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WrittenFiles(Wire):
    """Files that were written."""

    paths: tuple[str, ...]
