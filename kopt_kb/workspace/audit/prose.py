"""The search for hardware numbers in what people wrote: notes, plans, memory, reports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from kopt_kb.analysis.roofline.recorded import DRAM
from kopt_kb.quantity.citation import Citation, CitationError
from kopt_kb.quantity.units import UNITS, unit
from kopt_kb.wiki.numbers import HardwareNumber, find_numbers
from kopt_kb.wiki.registry import Platform
from kopt_kb.wiki.resolve import verify
from kopt_kb.wiki.sheet import row_value
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.journal.campaign_events import TipsRead
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import HypothesisStated, MemoryMasked, MemoryUnmasked
from kopt_kb.workspace.journal.setup_events import FileAdopted, MemoryNoted, NoteAdded
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.blocks import BlockError, parse_blocks
from kopt_kb.workspace.views.words import blob_text

__all__ = ["audit_prose"]

KnownValue = tuple[str, Fraction]

_PLAN = re.compile(r"v(\d+)_plan\.md")
_SOURCED = "write the sourced value with its citation, or UNKNOWN (gpu-wiki not found)"
_REGISTER = "cite it: `<metric>: <value> <unit> <- <gpu-wiki>/<path>:L<line>`"


def _blank_blocks(data: bytes) -> str:
    """Return the text with rendered blocks emptied, line numbers kept: blocks are compared byte by byte elsewhere."""
    try:
        blocks = parse_blocks(data, "README.md")
    except BlockError:
        return ""  # broken markers are a finding of their own; without them rendered and authored text look alike
    for block in blocks:
        body = data[block.start : block.end]
        data = data[: block.start] + b"".join(b"\n" if byte == 10 else b" " for byte in body) + data[block.end :]
    return data.decode("utf-8", "replace")


def _authored(layout: Layout) -> Iterator[tuple[str, str]]:
    """Yield (relative path, text) of every text that people or agents write."""
    if layout.readme.is_file() and not layout.readme.is_symlink():
        yield "README.md", _blank_blocks(read_regular(layout.readme) or b"")
    found = [path for path in layout.root.glob("*.md") if path.name != "README.md"]
    for folder in set(layout.folders) - {layout.objects, layout.profiles}:
        found += [path for path in folder.rglob("*") if path.suffix in {".md", ".json", ".txt"}]
    for path in sorted(found):
        if path.is_file() and not path.is_symlink():
            text = (read_regular(path) or b"").decode("utf-8", "replace")
            yield path.relative_to(layout.root).as_posix(), text


def _current_plan(layout: Layout) -> Path | None:
    numbered = [(int(match[1]), path) for path in layout.plans.glob("*.md") if (match := _PLAN.fullmatch(path.name))]
    return max(numbered)[1] if numbered else None


def _own_values(state: WorkspaceState) -> list[KnownValue]:
    """Return targets, those of before too, and measured rates of this journal."""
    values: list[KnownValue] = []
    in_force = () if state.targets is None else (state.targets,)
    for target in (one for each in (*state.superseded, *in_force) for one in each.targets):
        if target.unit:
            one = unit(target.unit)
            values.append((one.dimension, Fraction(target.value) * one.factor))
    for roof in state.rooflines:
        for aimed in roof.targets:
            if aimed.value is not None and aimed.unit is not None:
                one = unit(aimed.unit)
                values.append((one.dimension, Fraction(str(aimed.value)) * one.factor))
    works = {roof.shape: roof.work for roof in state.rooflines}
    for record in state.measured.values():
        work = works.get(record.shape)
        if work is not None and record.median_s > 0:
            seconds = Fraction(record.median_s)
            values.append(("B/s", work.amount_under(DRAM) / seconds))
            engines = [flop.useful.value for flop in work.flops]
            values += [("op/s", amount / seconds) for amount in {*engines, sum(engines)}]
    return values


def _registered(state: WorkspaceState) -> list[KnownValue]:
    return [
        (UNITS[row.unit].dimension, Fraction(row.si)) for row in state.specs.values() if row.si is not None and row.unit
    ]


def _platform_values(platform: Platform) -> list[KnownValue]:
    return [
        (UNITS[row.unit].dimension, row_value(row)) for row in platform.sheet.chosen().values() if row.kind == "value"
    ]


def _citations(name: str, text: str, platform: Platform) -> tuple[list[KnownValue], list[AuditFinding], set[int]]:
    """Return values that citations in a text register, findings and notes on them, and their lines."""
    values: list[KnownValue] = []
    findings: list[AuditFinding] = []
    lines: set[int] = set()
    for number, line in enumerate(text.split("\n"), 1):
        if "<- <gpu-wiki>/" not in line:
            continue
        lines.add(number)
        if "UNKNOWN" in line:
            continue
        try:
            citation = Citation.parse(line)
        except CitationError as error:
            findings.append(AuditFinding("citation", name, number, error.what, error.fix))
            continue
        held, row = verify(platform.wiki, citation)
        if held in {"ok", "moved"} and row is not None:
            if row.kind == "value":
                values.append((UNITS[row.unit].dimension, row_value(row)))
            if held == "moved":
                text_moved = f"{row.key} moved to {row.path}:L{row.line}, unchanged"
                findings.append(AuditFinding("moved", name, number, text_moved, "nothing to do"))
        else:
            what = "gone from the wiki" if row is None else f"now {row.value} {row.unit} on {row.path}:L{row.line}"
            now = f"{citation.key} {citation.value} {citation.unit} is {what}"
            findings.append(AuditFinding("citation", name, number, now, "correct the citation"))
    return values, findings, lines


def _judge(
    name: str, number: HardwareNumber, allowed: list[KnownValue], known: list[KnownValue], *, strict: bool
) -> AuditFinding | None:
    if any(number.prints(*value) for value in allowed):
        return None
    if any(number.prints(*value) for value in known):
        if not strict:
            return None
        text = f"{number.text} is a value of this platform that is not registered"
        return AuditFinding("unregistered", name, number.line, text, _REGISTER, number.text)
    text = f"{number.text} is no row, target or measurement of this workspace"
    return AuditFinding("unsourced", name, number.line, text, f"remove it or {_REGISTER}", number.text)


def words_of_people(events: tuple[Event, ...], blob: BlobReader) -> str:
    """Return every text that people or agents gave the journal and that rendered files repeat."""
    found: list[str] = []
    for event in events:
        data = event.data
        if isinstance(data, HypothesisStated):
            found += [data.claim, data.expected]
        elif isinstance(data, TipsRead):
            found.append(data.text)
        elif isinstance(data, NoteAdded | MemoryNoted):
            found.append(blob_text(blob, data.text))
        elif isinstance(data, FileAdopted):
            found.append(blob_text(blob, data.blob))
        elif isinstance(data, MemoryMasked | MemoryUnmasked):
            found.append(data.reason)
    return "\n".join(found)


def audit_prose(layout: Layout, state: WorkspaceState, platform: Platform) -> Iterator[AuditFinding]:
    """Yield findings and notes on authored texts.

    The README may name any row of its platform; plans, memory and reports only what the README or the current
    plan registers. Targets and rates measured in this journal may stand anywhere.
    """
    allowed = [*_registered(state), *_own_values(state)]
    known = _platform_values(platform)
    texts = dict(_authored(layout))
    plan = _current_plan(layout)
    cited: dict[str, set[int]] = {}
    for name, text in texts.items():
        values, findings, cited[name] = _citations(name, text, platform)
        yield from findings
        if name == "README.md" or (plan is not None and name == plan.relative_to(layout.root).as_posix()):
            allowed += values
    for name, text in texts.items():
        for number in find_numbers(text):
            if number.hedge:
                said = f"{number.text} is a guess: {number.hedge!r} stands beside it"
                yield AuditFinding("hedged", name, number.line, said, _SOURCED, number.text)
            if number.line not in cited[name]:
                finding = _judge(name, number, allowed, known, strict=name != "README.md")
                if finding is not None:
                    yield finding
