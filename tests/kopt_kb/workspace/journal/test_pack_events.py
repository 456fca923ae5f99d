"""Event kinds of packs: read where the pack is there, kept as they are where it isn't, never a traceback."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from kopt_strange.events import Dreamt
from kopt_strange.pack import PACK

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import WireError
from kopt_kb.doors.later import later
from kopt_kb.doors.table import PackFault, packs
from kopt_kb.workspace.journal.events import EventData, ForeignData, checked_data, data_class
from kopt_kb.workspace.journal.journal import Journal
from kopt_kb.workspace.journal.pack_events import pack_of, why_unread
from kopt_kb.workspace.journal.reader import read_journal
from tests.kopt_kb.conftest import OnlyPacks


@pytest.mark.parametrize(
    ("kind", "pack"),
    [("mine.kind", "mine"), ("kind", ""), ("a.b.c", ""), (".kind", ""), ("mine.", ""), ("Mine.kind", ""), ("../x.y", "")],
)  # fmt: skip
def test_a_pack_s_names_have_one_dot(kind: str, pack: str) -> None:
    """Anything else is a name of the core, or of nobody."""
    assert pack_of(kind) == pack


def test_what_a_pack_wrote_is_read_with_it_and_kept_without_it(tmp_path: Path, only_packs: OnlyPacks, note) -> None:
    """The bytes are the same either way, and the journal goes on without the pack."""
    path = tmp_path / "j"
    only_packs(PACK)
    with Journal.create(path) as journal:
        journal.append("note_added", note)
        journal.append(Dreamt.kind, Dreamt(1, "sheep"))
    with_it, written = read_journal(path), path.read_bytes()
    assert with_it[1].data == Dreamt(1, "sheep")
    only_packs()
    without = read_journal(path)
    assert without[1].data == ForeignData({"round": 1, "of": "sheep", "text": None})
    assert [one.to_json() for one in without] == [one.to_json() for one in with_it]
    with Journal.open(path) as journal:
        with pytest.raises(BadInput, match=r"strange\.dreamt needs the pack strange, which is not installed"):
            journal.append("strange.dreamt", {"round": 2, "of": "sheep"})
        journal.append("note_added", note)
    assert path.read_bytes().startswith(written)
    assert [event.kind for event in read_journal(path)] == ["note_added", "strange.dreamt", "note_added"]


def test_with_the_pack_its_data_are_checked(only_packs: OnlyPacks) -> None:
    """As those of the core are."""
    only_packs(PACK)
    with pytest.raises(WireError, match=r"strange\.dreamt\.of"):
        checked_data("strange.dreamt", {"round": 1, "of": ""})
    assert (data_class("strange.dreamt"), data_class("strange.slept"), data_class("other.kind")) == (Dreamt, None, None)


def test_a_pack_in_pieces_is_no_traceback(only_packs: OnlyPacks) -> None:
    """One whose class is gone, one that is older than the journal, and one that can't be imported."""
    lost = replace(PACK, events={**PACK.events, "lost": later("kopt_strange.events:Nothing")})
    only_packs(lost, faults=(PackFault("broken", "SyntaxError: no"), PackFault("gone", "not there", absent=True)))
    assert data_class("strange.lost") is None
    assert why_unread("strange") == "is installed in a version that does not know them"
    assert why_unread("broken") == "can't be used: SyntaxError: no"
    assert why_unread("gone") == why_unread("never heard of") == "is not installed"


def test_kinds_of_the_core_never_ask_for_packs(small_journal: Path) -> None:
    """A journal without packs' events is read without the table of packs."""
    code = (
        "import sys\nfrom kopt_kb.workspace.journal.reader import read_journal\n"
        f"assert len(read_journal({str(small_journal)!r})) == 3\nassert 'kopt_kb.doors.table' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_event_of_every_pack_has_its_name() -> None:
    """What is appended by its class is written under the kind that reads it back."""
    for pack in packs().usable.values():
        for kind, event in pack.events.items():
            assert issubclass(event.target, EventData)
            assert event.target.kind == f"{pack.name}.{kind}"
