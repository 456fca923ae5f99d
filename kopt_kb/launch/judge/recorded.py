"""Launches of a record as compilations: what compile, count and roofline take, without compiling anything again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input
from kopt_kb.base.wire import parse, read
from kopt_kb.launch.compile.disassemble import sass_of
from kopt_kb.launch.compile.request import Compilation
from kopt_kb.launch.judge.makers import make_record
from kopt_kb.launch.record.judge import RECORD, code_of, load_record
from kopt_kb.launch.record.statics import STATICS, StaticLaunch, Statics
from kopt_kb.problem.ops import OPS, definition
from kopt_kb.problem.work import Work, work
from kopt_kb.sandbox.owned import owned_folder

__all__ = ["Wanted", "closed_form", "is_record", "recorded"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The device that launches are wanted for; an empty target takes the record's own.

    Attributes:
        target: Such as sm_90.
        device: Name of the product, for launchers that ask.
        facts: Sourced properties of the device by torch's names.
    """

    target: str = ""
    device: str = ""
    facts: Mapping[str, int] | None = None


def is_record(path: str | Path) -> bool:
    """Return whether a path is the folder of a launch record."""
    return (Path(path) / RECORD).is_file()


def recorded(folder: str | Path, wanted: Wanted = Wanted(), *, disassemble: bool = False) -> tuple[Compilation, ...]:
    """Return a record's launches, each kernel with each set of arguments once.

    Args:
        folder: The record's folder.
        wanted: For another target than the record's the launcher is recorded again.
        disassemble: Whether machine code is wanted; without it NVIDIA's compilations have no instructions.

    Raises:
        BadInput: There is no record, or one without IR.
        NotRecordedError: The launcher can't be recorded for the other target.
        MissingTool: The disassembler is not installed.
    """
    told = _told(Path(folder))
    if not wanted.target or wanted.target == told.request.target:
        return _compilations(Path(folder), told, disassemble=disassemble)
    again = replace(
        told.request,
        target=wanted.target,
        device=wanted.device or wanted.target,
        facts=wanted.facts or {},
    )
    with owned_folder("kb-recorded-") as scratch:
        make_record(again, scratch / "record")
        return _compilations(scratch / "record", _told(scratch / "record"), disassemble=disassemble)


def closed_form(folder: str | Path) -> Work | None:
    """Return the work of the operation that a record of one launch names; None: nobody knows the parts of more."""
    record = load_record(Path(folder))
    if record.op not in OPS or not record.shape or len(record.launches) != 1:
        return None
    if record.options is None and definition(record.op).options:
        return None
    return work(record.op, record.shape, record.dtype, **dict(record.options or {}))


def _told(folder: Path) -> Statics:
    path = folder / STATICS
    if not path.is_file():
        fix = "record it again with kb record; code objects alone can be read with kb isa"
        raise BadInput("the record has no IR of its launches", where=str(folder), fix=fix, code="KB440")
    return read(Statics, parse(read_input(path), where=str(path)), where=str(path))


def _compilations(folder: Path, told: Statics, *, disassemble: bool) -> tuple[Compilation, ...]:
    record = load_record(folder)
    return tuple(_whole(folder, one, record.target, disassemble=disassemble) for one in told.launches)


def _whole(folder: Path, launch: StaticLaunch, target: str, *, disassemble: bool) -> Compilation:
    """Return a launch's compilation with its code object, and with instructions where they are wanted."""
    code = code_of(folder, launch.code, target)
    text = launch.compilation.assembly
    if disassemble and not text:
        text = sass_of(code)
    return replace(launch.compilation, binary=code, assembly=text)
