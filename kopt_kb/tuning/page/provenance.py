"""Where each number of a report comes from, in words: rows of the wiki, records of the journal, machines."""

from __future__ import annotations

from collections.abc import Iterable

from kopt_kb.base.markup.text import clipped
from kopt_kb.quantity.readable import duration
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.journal.setup_events import SpecRow
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.words import spec_line

__all__ = ["cited", "machine", "named", "of_record", "of_records"]

_IDS_SHOWN = 8
_NAME, _SOURCE = 80, 400


def cited(row: SpecRow) -> str:
    """Return a registered value with its line of the wiki, its grade and its document."""
    document = f"; {clipped(row.source, _SOURCE)}" if row.source else ""
    return f"{spec_line(row)} (grade {clipped(row.grade, _NAME)}{document})"


def named(ids: Iterable[str]) -> str:
    """Return the ids of records, the first of many."""
    found = list(ids)
    more = len(found) - _IDS_SHOWN
    return ", ".join(found[:_IDS_SHOWN]) + (f" and {more} more" if more > 0 else "")


def machine(state: WorkspaceState, seq: int) -> str:
    """Return the machine of an event."""
    one = state.environments.get(seq)
    if one is None:
        return f"event {seq}"
    return f"{clipped(one.device, _NAME)}, driver {clipped(one.driver or 'unknown', _NAME)} (event {seq})"


def of_record(state: WorkspaceState, measured: Measured) -> str:
    """Return what a time rests on."""
    spread = ", ".join(
        f"{name.removesuffix('_s')} {duration(value)}" for name, value in sorted(measured.spread.items())
    )
    level = "" if measured.trust == "unstated" else f", {measured.source.beside(measured.trust)}"
    return f"record {measured.id}: {measured.n} timed runs{level}; {spread}; {machine(state, measured.environment)}"


def of_records(state: WorkspaceState, round_: Round, shape: str) -> str:
    """Return what a round's own time of a shape rests on: the median of its repeats."""
    found = [one for one in round_.measured.values() if one.candidate == round_.name and one.shape == shape]
    if not found:
        return ""
    words = f"median of {len(found)} records" if len(found) > 1 else "record"
    return f"{words}: {named(one.id for one in found)}; {machine(state, found[-1].environment)}"
