"""Makes a person's edit of a rendered or authored file part of the record, and refuses what records already say."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kopt_kb.errors import BadInput, FindingError
from kopt_kb.workspace.attempts import attempts_of
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.journal import Journal
from kopt_kb.workspace.journal.round_events import MemoryMasked, MemoryUnmasked
from kopt_kb.workspace.journal.setup_events import EventData, FileAdopted
from kopt_kb.workspace.layout import LayoutError
from kopt_kb.workspace.memory import is_version_file
from kopt_kb.workspace.memory_edit import FREE_TEXT, check_maskable, note_data, refuse_field
from kopt_kb.workspace.views.blocks import Block, parse_blocks
from kopt_kb.workspace.views.header import RenderedFile, split_view
from kopt_kb.workspace.views.render import RenderReport, Texts, render_texts, render_workspace
from kopt_kb.workspace.workspace import Workspace

__all__ = ["FIXED_BLOCKS", "AdoptRefusedError", "Adoption", "adopt_file", "find_workspace"]

FIXED_BLOCKS = {
    "target": "it says what the workspace is for",
    "inputs": "shapes change through `kb workspace set`",
    "hardware-spec": "hardware values come from the wiki",
    "roofline": "it is computed from registered rows",
    "stop-conditions": "targets change only through `kb workspace set`",
    "isa-targets": "targets come from the policy",
}
"""README blocks of which nothing can be adopted, and why."""

_OWN = {"journal.jsonl", ".gitignore"}
_MARKER = re.compile(r"[ \t]*<!--\s*kb:")
_CLAIM = re.compile(r"\d(?:[.,]\d+)*\s?(?:us|µs|ms|ns|s|[TGP]?FLOP/?[sS]|[TG]OPS|[KMGT]i?B/s|%|x|×)(?![\w/])")
_FILE_BYTES = 1 << 20


class AdoptRefusedError(FindingError):
    """An edit that can't be adopted: a record, a target or the journal already says what stands there."""

    code = "KB317"


@dataclass(frozen=True, slots=True)
class Adoption:
    """What was adopted: the file, the kinds of events written, and the rendering that followed."""

    path: str
    events: tuple[Event, ...]
    report: RenderReport

    def to_json(self) -> dict[str, Any]:
        """Return the CLI's JSON."""
        made = [{"seq": one.seq, "kind": one.kind} for one in self.events]
        return {"path": self.path, "events": made, "render": self.report.to_json()}


def find_workspace(path: Path) -> tuple[Workspace, str]:
    """Return the workspace a file lies in, and the file's path inside it with `/`.

    Raises:
        LayoutError: No folder above the file is a workspace.
    """
    absolute = path.absolute()
    for folder in absolute.parents:
        if (folder / "journal.jsonl").is_file():
            return Workspace.open(folder), absolute.relative_to(folder).as_posix()
    raise LayoutError("no folder above it is a workspace", where=str(path), fix="name a file of a workspace")


def adopt_file(path: Path, by: str) -> Adoption:
    """Make the edit of a file events and blobs, then render.

    A rendered text takes added lines; a memory file takes words in its free-text fields and `masked`; any other
    file below the workspace is captured as a blob.

    Args:
        path: A file of a workspace.
        by: Who edited it.

    Raises:
        AdoptRefusedError: The edit changes what a record or a target says; nothing is adopted.
        BadInput: There is no edit, or the file can't be read.
    """
    workspace, relative = find_workspace(path)
    data = _read(workspace, relative)
    store = ObjectStore(workspace.layout.objects)
    with Journal.open(workspace.layout.journal) as journal:
        texts = render_texts(journal.events, store.get)
        made = list(_adopted(workspace, relative, data, journal.events, texts, by))
        if not made:
            raise BadInput("holds nothing that is not in the record already", where=relative, fix="edit it first")
        events = tuple(journal.append(one.kind, one) for one in made)
    rendered = relative in texts.files or relative in texts.blocks
    return Adoption(relative, events, render_workspace(workspace, discard=[relative] if rendered else []))


def _read(workspace: Workspace, relative: str) -> bytes:
    if relative in _OWN or relative.startswith(("objects/", ".git/")) or ".." in relative.split("/"):
        raise AdoptRefusedError("belongs to kb and is never edited", where=relative, fix="restore it from git")
    try:
        data = read_regular(workspace.layout.root / relative)
    except OSError as error:
        raise BadInput(f"can't be read: {error.strerror or error}", where=relative) from error
    if data is None:
        raise BadInput("there is no such file", where=relative)
    if len(data) > _FILE_BYTES:
        raise BadInput(f"has {len(data)} bytes, more than {_FILE_BYTES}", where=relative, fix="keep large files out")
    return data


def _adopted(
    workspace: Workspace, relative: str, data: bytes, events: tuple[Event, ...], texts: Texts, by: str
) -> Iterator[EventData]:
    store = ObjectStore(workspace.layout.objects)
    if relative in texts.blocks:
        yield from _blocks(store, relative, data, events, texts, by)
    elif relative in texts.files:
        view = split_view(relative, data)
        if view is None:
            fix = f"put it back, or drop the edit with `kb render --discard {relative}`"
            raise BadInput("its first line is no longer the header kb wrote", where=f"{relative}:1", fix=fix)
        base = _base_text(relative, view, events, texts, store)
        if is_version_file(relative.removeprefix("memory/")):
            yield from _memory(workspace, relative, data, base, events, by)
        elif view.body != base.encode():
            yield _additions(store, relative, None, base, view.body, 2, by)
    else:
        sha = hashlib.sha256(data).hexdigest()
        past = [one.data for one in events if isinstance(one.data, FileAdopted) and one.data.path == relative]
        if not past or past[-1].blob != sha:
            yield FileAdopted(relative, None, store.put(data), by)


def _base_text(relative: str, view: RenderedFile, events: tuple[Event, ...], texts: Texts, store: ObjectStore) -> str:
    """Return what the file was rendered as: at the event its header names, else now."""
    seq = view.head.seq
    if 0 < seq <= len(events) and events[seq - 1].zh == view.head.zh:
        return render_texts(events[:seq], store.get).files.get(relative, texts.files[relative])
    return texts.files[relative]


def _blocks(
    store: ObjectStore, relative: str, data: bytes, events: tuple[Event, ...], texts: Texts, by: str
) -> Iterator[EventData]:
    for block in parse_blocks(data, relative):
        now = texts.blocks[relative].get(block.name)
        if now is None or not block.edited or now.encode() == block.body:
            continue
        where = f"{relative}:{block.line}"
        if block.name in FIXED_BLOCKS:
            what = f"block {block.name} can't be edited: {FIXED_BLOCKS[block.name]}"
            raise AdoptRefusedError(what, where=where, fix=f"drop the edit with `kb render --discard {relative}`")
        base = _base_block(relative, block, events, now, store)
        yield _additions(store, relative, block.name, base, block.body, block.line + 1, by)


def _base_block(relative: str, block: Block, events: tuple[Event, ...], now: str, store: ObjectStore) -> str:
    """Return the text the marker's hash was written for, looked for in the latest renderings first."""
    for seq in range(len(events), 0, -1):
        if seq < len(events) and events[seq].kind not in {"target_set", "specs_registered", "file_adopted"}:
            continue
        body = render_texts(events[:seq], store.get).blocks[relative].get(block.name, "")
        if hashlib.sha256(body.encode()).hexdigest() == block.sha256:
            return body
    return now


def _additions(
    store: ObjectStore, relative: str, block: str | None, base: str, body: bytes, first_line: int, by: str
) -> FileAdopted:
    """Return the event that adopts added lines; a changed or deleted line is refused with its number."""
    try:
        new = body.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise BadInput(f"is not UTF-8 at byte {error.start}", where=relative) from error
    old = base.split("\n")
    added: list[str] = []
    for tag, start, end, first, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        where = f"{relative}:{first + first_line}"
        if tag != "insert":
            what = f"{' '.join(old[start:end]).strip()!r} is rendered from the journal and can't be changed"
            fix = f"add lines instead, or drop the edit with `kb render --discard {relative}`"
            raise AdoptRefusedError(what, where=where, fix=fix)
        added += _checked(new[first:last], relative, first + first_line)
    text = "\n".join(added).strip("\n")
    if not text.strip():
        raise BadInput("only blank lines were added", where=relative, fix=f"`kb render --discard {relative}`")
    return FileAdopted(relative, block, store.put(f"{text}\n".encode()), by)


def _checked(lines: Sequence[str], relative: str, first: int) -> Sequence[str]:
    for number, line in enumerate(lines, first):
        where = f"{relative}:{number}"
        if "\r" in line or _MARKER.match(line):
            raise AdoptRefusedError("an added line holds a carriage return or a marker", where=where)
        if line.lstrip().startswith("|"):
            fix = "say it in words; numbers come from `measured` records"
            raise AdoptRefusedError("rows of tables are rendered from records", where=where, fix=fix)
        claim = _CLAIM.search(line)
        if claim is not None and "<- <gpu-wiki>/" not in line:
            fix = "name the record's id instead; numbers come from `measured` records"
            raise AdoptRefusedError(f"{claim[0]!r} is a measurement without a record", where=where, fix=fix)
    return lines


def _memory(
    workspace: Workspace, relative: str, data: bytes, base: str, events: tuple[Event, ...], by: str
) -> Iterator[EventData]:
    from kopt_kb.workspace.views.memory_model import MemoryFileError, read_iteration

    new = read_iteration(data, relative).model_dump()
    old = read_iteration(base.encode(), relative).model_dump()
    number = int(old["version"][1:])
    made: list[EventData] = []
    for field in (name for name in old if old[name] != new[name]):
        if field == "masked":
            made.append(_mask_event(number, new["masked"], relative, by, events))
        elif field in FREE_TEXT:
            made += [note_data(workspace, number, field, text, by) for text in _new_entries(old, new, field, relative)]
        elif field != "mask_reason" or old["masked"] == new["masked"]:
            raise refuse_field(field, relative)
    if made:
        blob = ObjectStore(workspace.layout.objects).put(data)
        made.append(FileAdopted(relative, None, blob, by))
    elif old != new:
        raise MemoryFileError("its edit can't be adopted", where=relative)
    yield from made


def _mask_event(number: int, is_masked: bool, relative: str, by: str, events: tuple[Event, ...]) -> EventData:
    reason = f"set by hand in {relative} by {by}"
    if is_masked:
        check_maskable(attempts_of(events), [number])
        return MemoryMasked((number,), reason, None)
    return MemoryUnmasked((number,), reason, None)


def _new_entries(old: dict[str, Any], new: dict[str, Any], field: str, relative: str) -> list[str]:
    """Return the entries added to a list as JSON text; raises when one that stood there is gone or changed."""
    left = list(new[field])
    for entry in old[field]:
        if entry not in left:
            fix = "add an entry instead; what was said stays said"
            raise AdoptRefusedError(f"an entry of {field} was changed or removed", where=relative, fix=fix)
        left.remove(entry)
    return [json.dumps(entry, sort_keys=True, ensure_ascii=False) for entry in left]
