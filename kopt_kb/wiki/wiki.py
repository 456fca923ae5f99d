"""A wiki on disk: where it is, which pages it has, their bytes, and their compiled sheets."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput
from kopt_kb.wiki import cache
from kopt_kb.wiki.indexed import front_stands, says_what_its_pages_say
from kopt_kb.wiki.names import FrontMatter, Identity, NameIndex
from kopt_kb.wiki.places import packaged_root
from kopt_kb.wiki.sheet import MAX_BYTES, Sheet

if TYPE_CHECKING:
    from collections.abc import Callable

    from kopt_kb.wiki.page import Page

__all__ = [
    "Wiki",
    "WikiNotFound",
]


_HEAD_BYTES = 4096


class WikiNotFound(BadInput):
    """No wiki folder where one was expected."""

    code = "KB053"


def _stored_fronts(stored: object, paths: list[str]) -> dict[str, FrontMatter]:
    """Return path → front matter as the cache has it; empty when it is not of these pages."""
    try:
        fronts = dict(stored)  # type: ignore[call-overload]
        for path, front in fronts.items():
            Identity.from_front(front, path)
    except (TypeError, ValueError, AttributeError):
        return {}
    return fronts if list(fronts) == paths else {}


class Wiki:
    """One wiki folder, read only.

    Args:
        root: Folder with `hardware/`, `targets/` and `measured/`.
        use_cache: Whether compiled pages are read from and written to the user's cache.
    """

    def __init__(self, root: Path, *, use_cache: bool = True) -> None:
        self.root = root
        self.use_cache = use_cache
        self._bytes: dict[str, bytes] = {}
        self._sheets: dict[str, Sheet] = {}
        self._pages: dict[str, Page] = {}
        self._heads: dict[str, bytes] = {}
        self._fronts: dict[str, FrontMatter] = {}
        self._is_read = False
        self.label = "packaged with kopt-kb" if root == packaged_root() else str(root.resolve())
        if not (root / "hardware").is_dir():
            raise WikiNotFound(
                "no wiki here: there is no hardware/ folder",
                where=str(root),
                fix="name a wiki folder, such as one that `kb wiki copy DIR` makes",
            )

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a page below the root (at most a little over 1 MiB), or None if there is none."""
        if path not in self._bytes:
            try:
                with (self.root / path).open("rb") as file:
                    self._bytes[path] = file.read(MAX_BYTES + 1)
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                return None
        return self._bytes[path]

    def page(self, path: str) -> Page | None:
        """Return a page as the strict reader sees it, read once; None if there is no such file."""
        content = self.read(path)
        if content is not None and path not in self._pages:
            from kopt_kb.wiki.page import read_page

            self._pages[path] = read_page(content, path, kind=path.split("/", 1)[0])
        return self._pages.get(path)

    def pages(self, folder: str) -> list[str]:
        """Return the paths of a folder's pages, relative to the root, sorted."""
        top = str(self.root / folder)
        found = ((folder + at[len(top) :], files) for at, _, files in os.walk(top))  # each lookup is here
        return sorted(
            f"{at}/{name}" for at, files in found for name in files if name.endswith(".md") and name != "README.md"
        )

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """Exact targets that have a page."""
        return tuple(path.rsplit("/", 1)[-1].removesuffix(".md") for path in self.pages("targets"))

    @cached_property
    def backends(self) -> tuple[str, ...]:
        """Words that `backend:` of a page may hold: the core's, and those of pages about backends."""
        from kopt_kb.doors.languages import CORE
        from kopt_kb.wiki.page import read_front_matter

        words = [topic for language in CORE for topic in language.topics]
        for path in self.pages("backends"):
            front = read_front_matter((self.read(path) or b"").decode("utf-8", "replace"))
            given = front[0].get("backend") if front else None
            words += [str(word) for word in given if word != "any"] if isinstance(given, list) else []
        return tuple(dict.fromkeys(words))

    @cached_property
    def names(self) -> NameIndex:
        """The index of all platform names, from the front matter of the product pages."""
        paths = self.pages("hardware")
        self._heads = {path: self._head(path) for path in paths}
        key = "names-" + cache.digest("\n".join(paths).encode(), *self._heads.values())
        self._fronts = _stored_fronts(cache.load(key), paths) if self.use_cache else {}
        if not self._fronts:
            self._fronts = {path: self._front(content) for path, content in self._heads.items()}
            self._is_read = True
            if self.use_cache:
                cache.store(key, list(self._fronts.items()))
        return NameIndex(
            tuple(Identity.from_front(front, path) for path, front in self._fronts.items() if front.get("platform"))
        )

    def resolve(self, name: str) -> Identity:
        """Return the product of a name, as its page says it now; raises like `NameIndex.resolve`."""
        try:
            found = self.names.resolve(name)
            head = self._heads[found.path].decode("utf-8", "replace")
            if self._is_read or front_stands(self._fronts[found.path], head):
                return found
        except BadInput:
            if self._is_read:
                raise
        self._is_read = True  # the index is not what the pages say, or does not know what they might
        fronts = {path: self._front(content) for path, content in self._heads.items()}
        self.names = NameIndex(
            tuple(Identity.from_front(one, path) for path, one in fronts.items() if one.get("platform"))
        )
        return self.names.resolve(name)

    def _head(self, path: str) -> bytes:
        """Return a page's bytes as far as its front matter needs them: a name lookup reads no tables."""
        with open(f"{self.root}/{path}", "rb", buffering=0) as file:  # noqa: PTH123 - twice as fast as by pathlib
            head = file.read(_HEAD_BYTES)
        return head if b"\n---" in head[3:] or len(head) < _HEAD_BYTES else self.read(path) or b""

    @staticmethod
    def _front(content: bytes) -> FrontMatter:
        from kopt_kb.wiki.page import read_front_matter

        found = read_front_matter(content.decode("utf-8", "replace").replace("\r\n", "\n"))
        return found[0] if found else {}

    def sheet(self, identity: Identity) -> Sheet:
        """Return the compiled sheet of a product, from the cache when its bytes are known."""
        if identity.path in self._sheets:
            return self._sheets[identity.path]
        target_path = f"targets/{identity.target}.md"
        measured_path = f"measured/{identity.platform.lower()}.md"
        parts = {path: self.read(path) for path in (identity.path, target_path, measured_path)}
        sheet = self._compiled(parts, lambda: self._compile(identity.path, target_path, measured_path))
        self._sheets[identity.path] = sheet
        return sheet

    def common(self, path: str) -> Sheet | None:
        """Return the compiled sheet of a page that is of no one product, such as that of routes; None without it."""
        content = self.read(path)
        if content is not None and path not in self._sheets:
            self._sheets[path] = self._compiled({path: content}, lambda: self._compile(path))
        return self._sheets.get(path)

    def _compiled(self, parts: dict[str, bytes | None], compile_pages: Callable[[], Sheet]) -> Sheet:
        """Return the sheet of these pages, the first of which is its own, from the cache or compiled."""
        own = next(iter(parts))
        key = cache.digest(*(content if content is not None else b"-" for content in parts.values()), own.encode())
        there = tuple(path for path, content in parts.items() if content is not None)
        sheet = self._stored(key, there) if self.use_cache else None
        if sheet is None:
            sheet = compile_pages()
            if self.use_cache:
                cache.store(key, sheet.to_cache())
        return sheet

    def _stored(self, key: str, paths: tuple[str, ...]) -> Sheet | None:
        """Return the sheet that the cache has, if it says what the pages say."""
        stored = cache.load(key)
        try:
            sheet = Sheet.from_cache(stored) if stored is not None else None
            return sheet if sheet is not None and says_what_its_pages_say(sheet, paths, self.read) else None
        except (TypeError, ValueError, KeyError, AttributeError, LookupError):
            return None

    def _compile(self, path: str, target_path: str = "", measured_path: str = "") -> Sheet:
        from kopt_kb.wiki.merge import build_sheet
        from kopt_kb.wiki.page import Page

        own = self.page(path) or Page(path)
        if target_path and self.read(target_path) is None:
            target = target_path.removeprefix("targets/").removesuffix(".md")
            own.fault("WK103", 1, f"target {target!r} has no page", f"write {target_path}")
        more = [page for page in (self.page(measured_path) if measured_path else None,) if page is not None]
        return build_sheet(own, self.page(target_path) if target_path else None, more)
