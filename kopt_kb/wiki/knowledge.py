"""Knowledge pages: what people know about tuning, each claim with its source, read strictly into sections."""

from __future__ import annotations

import datetime
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kopt_kb.wiki.basis import from_one, outdated, says_one
from kopt_kb.wiki.blocks import Outline, TextBlock, is_prose, paired, read_blocks
from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.footnotes import Footnote, days_to_come, read_footnotes
from kopt_kb.wiki.names import FrontMatter
from kopt_kb.wiki.op_ids import OPS
from kopt_kb.wiki.page import read_front_matter
from kopt_kb.wiki.sheet import MAX_BYTES
from kopt_kb.wiki.tables import split_cells

__all__ = [
    "FOLDERS",
    "KINDS",
    "OPS",
    "VENDORS",
    "KnowledgePage",
    "expired",
    "links",
    "page_faults",
    "read_knowledge",
]

FOLDERS: dict[str, str] = {
    "ops": "op",
    "backends": "backend",
    "playbooks": "playbook",
    "profiling": "profiling",
    "pitfalls": "pitfall",
    "advice": "advice",
}
"""Folder of the wiki to the kind of its pages, in reading order."""
KINDS: tuple[str, ...] = tuple(FOLDERS.values())
VENDORS = ("nvidia", "amd")

_SECTIONS = {"pitfall": ("Trap", "Symptom", "Why", "What to do")}
_LINK = re.compile(r"(?<!\!)\[[^\]^][^\]]*\]\(([^)\s]+)\)")
_SEE_ALSO = "See also"
_STEPS = "What to do"
_FOOTNOTE = (
    'write [^id]: title="…"; publisher="…"; url="…"; revision="…"; read="…"; basis="source"; n="1"; part="…"; '
    'toolkit="…"; expires="…"'
)


@dataclass(slots=True)
class KnowledgePage:
    """A page as read; `faults` says what is wrong with it.

    Attributes:
        tags: Values of op, backend and arch; `any` stands for every one.
    """

    path: str
    title: str = ""
    kind: str = ""
    versions: str = ""
    tags: dict[str, tuple[str, ...]] = field(default_factory=dict)
    outline: Outline = field(default_factory=Outline)
    footnotes: dict[str, Footnote] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def fault(self, code: str, line: int, message: str, fix: str = "") -> None:
        """Record a fault of this page."""
        self.faults.append(Fault(code, self.path, line, message, fix))


_FIELDS = ("title", "kind", "op", "backend", "arch", "versions")


def _check_front(
    page: KnowledgePage, front: FrontMatter, targets: Iterable[str], backends: Iterable[str] | None
) -> None:
    """Read the fields; an advice page names its limiter and is about everything unless it says otherwise."""
    folder = page.path.split("/", 1)[0]
    defaults: FrontMatter = {"op": ["any"], "backend": ["any"], "arch": ["any"], "versions": "any"}
    given = {**defaults, **front} if folder == "advice" else front
    for name in ("title", "kind", "versions"):
        if not isinstance(given.get(name), str) or not str(given[name]).strip():
            page.fault("WK501", 1, f"front matter lacks {name!r}", f"needed: {', '.join(_FIELDS)}")
    page.title, page.kind, page.versions = (str(given.get(name, "")).strip() for name in ("title", "kind", "versions"))
    if page.kind != FOLDERS.get(folder):
        page.fault("WK501", 1, f"kind {page.kind!r} does not fit the folder", f"write `kind: {FOLDERS.get(folder)}`")
    words = front.get("backend")
    said = tuple(one for one in words if isinstance(one, str)) if isinstance(words, list) else ()
    spoken = said if backends is None or folder == "backends" else tuple(backends)
    for name, allowed in (("op", OPS), ("backend", spoken), ("arch", (*targets, *VENDORS))):
        page.tags[name] = _tags(page, name, given.get(name), allowed)
    extra = set(front) - {*_FIELDS, *(("limiter",) if folder == "advice" else ())}
    if extra:
        page.fault("WK501", 1, f"front matter has unknown fields: {', '.join(sorted(extra))}", "remove them")
    if "limiter" in front and page.path != f"advice/{front['limiter']}.md":
        page.fault("WK501", 1, f"limiter {front['limiter']!r} does not fit the file's name", "name the file after it")


def _tags(page: KnowledgePage, name: str, given: object, allowed: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(given, list) or not given or not all(isinstance(one, str) for one in given):
        page.fault("WK501", 1, f"front matter field {name!r} is not a list", f"write `{name}: [any]` or list them")
        return ()
    wrong = [one for one in given if one not in allowed and not (one == "any" and len(given) == 1)]
    if wrong:
        page.fault("WK501", 1, f"{name}: {', '.join(wrong)} is not in the vocabulary", f"{name}: {', '.join(allowed)}")
    return tuple(given)


def _check_structure(page: KnowledgePage) -> None:
    first, second = page.outline.titles(1), [text for _, text in page.outline.titles(2)]
    if [text for _, text in first] != [page.title]:
        at = first[-1][0] if first else 1
        page.fault("WK502", at, "the title is not the page's only H1", f"write `# {page.title}` once")
    if not second:
        page.fault("WK502", 1, "the page has no H2 section", "add a `## Section`")
    lacking = [name for name in _SECTIONS.get(page.kind, ()) if name not in second]
    if lacking:
        page.fault("WK502", 1, f"a {page.kind} page lacks {', '.join(lacking)}", "add the sections")
    if page.outline.open_fence:
        page.fault("WK502", page.outline.open_fence, "a code fence is never closed", "close it")


def _is_step(page: KnowledgePage, block: TextBlock) -> bool:
    """Return whether a block is a step of advice, which the claims above it bear out, or a row that quotes one."""
    if page.kind != "advice" or block.heading != _STEPS:
        return False
    quote = (split_cells(block.text) or [""])[-1]
    steps = (one.text for one in page.outline.blocks if one.kind == "item" and one.heading == _STEPS)
    return block.kind == "item" or (bool(quote) and any(quote in " ".join(one.split()) for one in steps))


def _check_claims(page: KnowledgePage) -> None:
    for block, previous in paired(page.outline.blocks):
        if block.heading == _SEE_ALSO:
            if not _LINK.search(block.text):
                page.fault("WK503", block.line, "an entry of See also without a link", "link the page")
        elif is_prose(block, previous) and not block.sources and not _is_step(page, block):
            shown = " ".join(block.text.split())[:50]
            page.fault("WK503", block.line, f"a claim without a source: {shown!r}", "add [^id] or remove it")


def _check_observations(page: KnowledgePage) -> None:
    """A claim that was seen once says so; what to do about it is no claim."""
    for block in page.outline.blocks:
        notes = {name: page.footnotes[name] for name in block.sources if name in page.footnotes}
        once = from_one(one.evidence for one in notes.values() if one.evidence is not None)
        if once and block.heading != _STEPS and not says_one(block.text):
            message = f"a claim from one observation does not say so: {' '.join(block.text.split())[:50]!r}"
            page.fault("WK505", block.line, message, "write `one run`, `one recording` or `one report` into it")


def _check_footnotes(page: KnowledgePage) -> None:
    used: set[str] = set()
    for block in page.outline.blocks:
        used.update(block.sources)
        for name in block.sources:
            if name not in page.footnotes:
                page.fault("WK109", block.line, f"footnote [^{name}] is not defined", "define it or correct the id")
    for one in page.footnotes.values():
        if one.id not in used:
            page.fault("WK109", one.line, f"footnote [^{one.id}] is never used", "remove it or cite it")


def links(page: KnowledgePage) -> Iterator[tuple[int, str]]:
    """Yield (line, path below the wiki's root) of every relative link outside of code."""
    folder = page.path.rpartition("/")[0]
    for block in page.outline.blocks:
        for target in _LINK.findall(block.text) if block.kind != "code" else ():
            if "://" not in target and not target.startswith("#"):
                yield block.line, posixpath.normpath(posixpath.join(folder, target.partition("#")[0]))


def _decode(page: KnowledgePage, data: bytes) -> str | None:
    if len(data) > MAX_BYTES:
        page.fault("WK101", 0, f"{len(data)} bytes, more than {MAX_BYTES}", "split the page")
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        page.fault(
            "WK102", data[: error.start].count(b"\n") + 1, f"byte {error.start} is not UTF-8", "save it as UTF-8"
        )
        return None
    if "\0" in text:
        page.fault("WK102", text[: text.index("\0")].count("\n") + 1, "a NUL byte", "save the page as UTF-8 text")
        return None
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def read_knowledge(
    data: bytes, path: str, targets: Iterable[str], backends: Iterable[str] | None = None
) -> KnowledgePage:
    """Return the page with its sections and every fault; never raises for bad content.

    Args:
        data: The file's bytes.
        path: Its path relative to the wiki's root.
        targets: Exact targets that `arch` may name.
        backends: Words that `backend` may name, where the page is none about a backend itself; None: any.
    """
    page = KnowledgePage(path)
    text = _decode(page, data)
    if text is None:
        return page
    front_matter = read_front_matter(text)
    if front_matter is None:
        page.fault("WK501", 1, "no YAML front matter between --- lines", "start the page with it")
        return page
    front, start = front_matter
    _check_front(page, front, tuple(targets), backends)
    lines = text.split("\n")
    page.footnotes, bad = read_footnotes(lines, evidence=True)
    for line, message in bad:
        page.fault("WK109", line, message, _FOOTNOTE)
    page.outline = read_blocks(lines, start)
    _check_structure(page)
    _check_claims(page)
    _check_observations(page)
    _check_footnotes(page)
    return page


def expired(pages: Iterable[KnowledgePage]) -> Iterator[Fault]:
    """Yield a fault for each footnote whose evidence is older than the newest reading of any page allows.

    The wiki's own newest day is the measure, not the clock: a wiki that nobody touches is as good as it was.
    """
    pages = list(pages)
    days = [datetime.date.fromisoformat(note.read) for page in pages for note in page.footnotes.values()]
    for page in pages:
        behind = {name: note.evidence for name, note in page.footnotes.items() if note.evidence is not None}
        for name in outdated(behind, max(days, default=datetime.date.min)):
            note, fix = page.footnotes[name], "read it or measure it again, and write the new day"
            yield Fault("WK506", page.path, note.line, f"[^{name}] expired on {behind[name].expires}", fix)


def page_faults(page: KnowledgePage, exists: Iterable[str]) -> list[Fault]:
    """Return the page's faults with those of its links and days; `exists` are the paths of the wiki."""
    known = set(exists)
    lost = [
        Fault("WK504", page.path, line, f"the link to {target} leads to nothing", "correct it")
        for line, target in links(page)
        if target not in known
    ]
    return [*page.faults, *lost, *days_to_come(page.path, page.footnotes)]
