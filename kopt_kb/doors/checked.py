"""Whether what a stranger's pack brings is what it says: types, names and places, looked at once when it is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import PurePosixPath

from kopt_kb.doors.command import Command, JsonDocument
from kopt_kb.doors.later import Later
from kopt_kb.doors.loop_part import LoopPart
from kopt_kb.doors.pack import Pack, PackCause

__all__ = ["wrong_pack"]

_TUPLES: Mapping[str, type[object] | str] = {
    "words": str,
    "readers": "kopt_kb.analysis.readers.common.base:Reader",
    "languages": "kopt_kb.doors.language:Language",
    "problem_sources": "kopt_kb.doors.problem_source:ProblemSource",
    "table_forms": "kopt_kb.doors.table_form:TableForm",
    "loop_parts": LoopPart,
    "workers": "kopt_kb.doors.worker:Worker",
    "audit_forms": "kopt_kb.doors.audit_form:AuditForm",
    "exports": "kopt_kb.doors.export:Export",
    "wiki_checks": "kopt_kb.doors.wiki_check:WikiCheck",
    "commands": Command,
    "arguments": "kopt_kb.doors.arguments:Arguments",
    "schemas": JsonDocument,
}
"""Field → what its tuple holds."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_COMMAND = re.compile(r"[a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*)?")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_CODE = re.compile(r"(?!KB)[A-Z][A-Z0-9]{0,15}\d+")
_RESERVED = ("help", "version")
_LONGEST = 200


def wrong_pack(pack: Pack) -> str:
    """Return the first thing that a pack brings and that can't be what it says; empty where all can."""
    try:
        return next(_wrong(pack), "")
    except Exception as error:  # noqa: BLE001 - whatever a stranger's table does when it is read
        return f"{type(error).__name__}: {' '.join(str(error).split())[:_LONGEST]}"


def _wrong(pack: Pack) -> Iterator[str]:
    lines: tuple[tuple[str, object], ...] = (("name", pack.name), ("what", pack.what))
    for name, text in lines:
        if not isinstance(text, str) or not text.isprintable() or not 0 < len(text) <= _LONGEST:
            yield f"{name} is no line of at most {_LONGEST} characters"
    if not _NAME.fullmatch(str(pack.name)):
        yield f"name {pack.name!r} is not written in lower case, digits and _"
    for field, kind in _TUPLES.items():
        held: object = getattr(pack, field)
        if not isinstance(held, tuple) or not all(isinstance(one, _type(kind)) for one in held):
            yield f"{field} is no tuple of {kind.rpartition(':')[2] if isinstance(kind, str) else kind.__name__}"
    yield from _wrong_names(pack)
    yield from _wrong_places(pack)
    doctor: object = pack.doctor
    if doctor is not None and not callable(doctor):
        yield "doctor is no function"


def _type(kind: type[object] | str) -> type[object]:
    if not isinstance(kind, str):
        return kind
    module, _, name = kind.partition(":")
    found: type[object] = getattr(import_module(module), name)
    return found


def _wrong_names(pack: Pack) -> Iterator[str]:
    for command in pack.commands:
        if not _COMMAND.fullmatch(command.name) or command.name in _RESERVED or not _MODULE.fullmatch(command.module):
            yield f"command {command.name!r} of the module {command.module!r} can't be a word of the command line"
    events: Mapping[str, object] = pack.events
    for kind, data in events.items():
        if not _NAME.fullmatch(kind) or not isinstance(data, Later):
            yield f"event kind {kind!r} is no name with a `later` of its data"
    for name, place in pack.names.items():
        if not (name.isidentifier() and ":" in str(place)):
            yield f"public name {name!r} has no place `module:name`"
    given: object = pack.causes
    causes: object = given.target if isinstance(given, Later) else given
    if not isinstance(causes, tuple) or not all(isinstance(one, PackCause) for one in causes):
        yield "causes is no tuple of PackCause"
        return
    for cause in causes:
        texts = (cause.name, cause.cause, cause.remedy)
        if not _CODE.fullmatch(cause.code) or not all(map(str.isprintable, texts)):
            yield f"error code {cause.code!r}: capitals and a number, not KB, and texts without controls are wanted"


def _wrong_places(pack: Pack) -> Iterator[str]:
    """Yield folders and patterns of views that lead out of a workspace."""
    for part in pack.loop_parts:
        for view in part.views:
            for place in (*view.folders, *view.patterns):
                parts = PurePosixPath(str(place)).parts
                if not parts or ".." in parts or parts[0].startswith(("/", ".")):
                    yield f"view {view.name!r} names {place!r}, which does not lie below a workspace"
