"""The audit of a bundle, on a machine that has nothing else of the campaign: its own pages are its wiki.

Nothing of the file is believed. It is unpacked under limits into a folder of its own: regular files of known names
alone, each once, each with the hash that the statement names. Then journal, blobs, records, registered rows and targets
are held against each other as in a workspace, and the statement's predicate is computed again.
"""

from __future__ import annotations

import hashlib
import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kopt_kb.analysis.roofline.caches import CACHE_METRICS
from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import WireError, parse, plain, read
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.wiki.resolve import verify
from kopt_kb.wiki.version import NO_DATA, DataVersion, data_version
from kopt_kb.workspace.archive import UNREADABLE, archived, chunks
from kopt_kb.workspace.audit.absent import absent_findings
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.audit.judged import judged_findings
from kopt_kb.workspace.audit.recompiled import MadeAgain, made_again
from kopt_kb.workspace.audit.replayed import TimedAgain, timed_again
from kopt_kb.workspace.audit.sources import other_wiki, row_findings, set_by, target_findings
from kopt_kb.workspace.bundle import STATEMENT, Statement, statement_of
from kopt_kb.workspace.fold import folded
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.reader import read_journal
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.registration import citation_of
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["Bundled", "bundle_findings", "is_bundle", "statement_in"]

_MAGIC = b"\x1f\x8b"
_MOST_FILES, _MOST_BYTES, _MOST_STATEMENT = 50_000, 4 << 30, 64 << 20
_NAME = re.compile(
    r"statement\.json|journal\.jsonl|objects/[0-9a-f]{64}"
    r"|wiki/(?:hardware/[a-z0-9_]{1,40}|targets|measured)/[A-Za-z0-9_.\-]{1,100}\.md"
)
_JOURNAL = "journal.jsonl"
_NEWER = "see which of the two documents is newer"
_REMEDY = "ask for the bundle again, from the workspace itself"


@dataclass(frozen=True, slots=True)
class Bundled:
    """What the audit of a bundle found: findings and notes, events, rows read again in which data, replay and code."""

    all: tuple[AuditFinding, ...]
    events: tuple[Event, ...] = ()
    checked: int = 0
    data: DataVersion = NO_DATA
    timed: TimedAgain | None = None
    made: MadeAgain | None = None


class _Refused(Exception):
    """Why a file is no bundle, or no whole one: member, what."""

    def __init__(self, name: str, what: str) -> None:
        super().__init__(what)
        self.finding = AuditFinding("bundle", name, 0, what, _REMEDY)


def is_bundle(path: Path) -> bool:
    """Return whether a path is a gzipped file, which no workspace is."""
    try:
        with path.open("rb") as file:
            return path.is_file() and file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def statement_in(path: Path) -> Statement:
    """Return the statement of a bundle, or of a file that holds a statement alone.

    Raises:
        WireError: It is none.
        OSError: It can't be read.
    """
    if is_bundle(path):
        try:
            with archived(path) as archive:
                first = archive.next()
                named = first if first is not None and first.name == STATEMENT else None
                text = b"" if named is None else b"".join(chunks(archive, named, _MOST_STATEMENT))
        except UNREADABLE as error:
            raise WireError(f"is no bundle: {error}", where=str(path)) from error
    else:
        with path.open("rb") as file:
            text = file.read(_MOST_STATEMENT)
    return read(Statement, parse(text, where=str(path)), where=str(path))


def bundle_findings(
    path: Path, here: Registry | None = None, *, replay: bool = False, recompile: bool = False
) -> Bundled:
    """Return everything that does not hold in a bundle, notes among them.

    Args:
        path: The bundle.
        here: A wiki of this machine to compare the bundle's rows with. None: nothing.
        replay: Whether its best version's records are timed again on this machine's GPU.
        recompile: Whether its best version's code objects are made again by this machine's compiler.
    """
    with owned_folder("kb-bundle-") as folder:
        try:
            hashes = _unpack(path, folder)
            statement = _statement(folder, hashes)
        except _Refused as error:
            return Bundled((error.finding,))
        layout = Layout(folder)
        store = ObjectStore(layout.objects)
        try:
            events = read_journal(layout.journal)
            state = folded(layout.journal, events, store.get)
            own = Registry.open(folder / "wiki", use_cache=False)
            platform = own.platform(state.created.platform)
        except KoptError as error:
            return Bundled((AuditFinding("bundle", _JOURNAL, 0, error.what, error.fix or _REMEDY),))
        found = [
            *row_findings(state, platform, ""), *target_findings(state, platform, ""),
            *judged_findings(events, state, store, platform, here or own), *set_by(state, ""), *absent_findings(state),
            *other_wiki(state, None, ""),
            *_predicate_findings(folder, state, platform, statement),
            *(_elsewhere(state, here) if here is not None else ()),
        ]  # fmt: skip
        again = timed_again(events, state, store, here or own) if replay else None
        made = made_again(events, state, store) if recompile else None
        return Bundled(tuple(map(_in_journal, found)), events, len(state.specs), data_version(own.wikis), again, made)


def _in_journal(finding: AuditFinding) -> AuditFinding:
    """Return a finding about a view, which a bundle has none of, as one about the journal that it shows."""
    known = finding.file in {STATEMENT, _JOURNAL} or finding.file.startswith("wiki/")
    return finding if known else replace(finding, file=_JOURNAL, line=0)


def _unpack(path: Path, folder: Path) -> dict[str, str]:
    """Write the files of an archive into a folder; return name → sha256. Raises `_Refused`."""
    hashes: dict[str, str] = {}
    left = _MOST_BYTES
    try:
        with archived(path) as archive:
            while (member := archive.next()) is not None:
                name = member.name
                if not member.isreg() or not _NAME.fullmatch(name) or ".." in name:
                    raise _Refused(name[:200], "the bundle holds what is no file of a campaign")
                if name in hashes or len(hashes) >= _MOST_FILES or member.size > left:
                    raise _Refused(name, "the bundle holds a file twice, or more than a campaign has")
                left -= member.size
                hashes[name] = _write(archive, member, folder / name)
    except (*UNREADABLE, OSError) as error:
        raise _Refused(path.name, f"the bundle can't be read to its end: {error}") from error
    return hashes


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> str:
    target.parent.mkdir(parents=True, exist_ok=True)
    total = hashlib.sha256()
    with target.open("xb") as file:
        for chunk in chunks(archive, member, member.size):
            total.update(chunk)
            file.write(chunk)
    return total.hexdigest()


def _statement(folder: Path, hashes: Mapping[str, str]) -> Statement:
    """Return the statement, whose subjects are exactly the files that are there. Raises `_Refused`."""
    for name in (STATEMENT, _JOURNAL):
        if name not in hashes:
            raise _Refused(name, "the bundle lacks it")
    try:
        statement = statement_in(folder / STATEMENT)
    except KoptError as error:
        raise _Refused(STATEMENT, error.what) from error
    named = {one.name: one.digest.get("sha256", "") for one in statement.subject}
    there = {name: sha for name, sha in hashes.items() if name != STATEMENT}
    for name in sorted(named.keys() | there.keys()):
        if named.get(name) != there.get(name):
            what = "missing" if name not in there else "not in the statement" if name not in named else "changed"
            raise _Refused(name, f"the file is {what}")
    for name, sha in there.items():
        if name.startswith("objects/") and name != f"objects/{sha}":
            raise _Refused(name, "the blob's bytes do not have the hash in its name")
    return statement


def _predicate_findings(
    folder: Path, state: WorkspaceState, platform: Platform, statement: Statement
) -> Iterator[AuditFinding]:
    """Yield a finding for each member of the predicate that the journal and the pages do not give."""
    files = {
        file.name: (folder / file.name).read_bytes()
        for file in statement.subject
        if not file.name.startswith("objects/")
    }
    again = statement_of(state, platform, files)
    if (statement.kind, statement.predicate_type) != (again.kind, again.predicate_type):
        yield AuditFinding("bundle", STATEMENT, 0, f"the statement is of type {statement.predicate_type}", _REMEDY)
    said, true = statement.predicate.to_json(), again.predicate.to_json()
    for name in true:
        if said.get(name) != true[name] and (name in said or name != "level"):  # bundles of before say no level
            yield AuditFinding("bundle", STATEMENT, 0, f"the statement's {name} is not what the journal says", _REMEDY)


def _elsewhere(state: WorkspaceState, here: Registry) -> Iterator[AuditFinding]:
    """Yield what this machine's wiki says otherwise: a finding where targets or floors rest on it, else a note."""
    try:
        platform = here.platform(state.created.platform)
    except KoptError as error:
        fix = "name the wiki that knows the product: --wiki"
        yield AuditFinding("foreign-row", _JOURNAL, 0, f"this machine's wiki: {error.what}", fix)
        return
    for row in state.specs.values():
        held, now = verify(platform.wiki, citation_of(row))
        if held not in {"changed", "missing"}:
            continue
        says = f"{now.value} {now.unit} ({now.grade})" if now is not None else "nothing"
        text = f"{row.key} is {row.value} {row.unit} ({row.grade}) in the bundle, this machine's wiki says {says}"
        is_other = now is None or (now.value, now.unit, now.grade) != (row.value, row.unit or "-", row.grade)
        if is_other and row.key in _used(state):
            yield AuditFinding("foreign-row", _JOURNAL, 0, text, _NEWER)
        else:
            yield AuditFinding("this-wiki", _JOURNAL, 0, text, _NEWER)


def _used(state: WorkspaceState) -> frozenset[str]:
    """Return the keys of the rows that targets and floors rest on."""
    if state.targets is None:
        return frozenset()
    texts = str(plain(state.targets.work.get("floors")))
    caches = {key for key in state.specs if key.partition("[")[0] in CACHE_METRICS}
    return frozenset({*state.targets.ceiling_keys, *caches, *(key for key in state.specs if f"{key}:" in texts)})
