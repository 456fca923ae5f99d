"""Which rounds are shown when there are too many, and what a row says."""

from __future__ import annotations

from kopt_kb.base.markup.blocks import Cell, TableBlock
from kopt_kb.tuning.page.fitted import CutLevel
from kopt_kb.tuning.page.rounds import gap_section, ledger_section, measurement_section, round_section
from tests.kopt_kb.tuning.page.conftest import CAMPAIGNS, ROOT, lengthened, reported, state_of


def test_accepted_and_last_rounds_are_kept() -> None:
    """Of 60 rounds 20 are shown, in their order, and the others counted."""
    state = lengthened(state_of(ROOT / "h200_sxm" / "rms_norm"), 60)
    report = reported(state)
    section = round_section(report, state, CutLevel(100, 20))
    table, said = section.blocks
    assert isinstance(table, TableBlock)
    numbers = [int(str(row[0])) for row in table.rows]
    assert numbers == sorted(numbers)
    assert len(numbers) == 20
    assert numbers[-1] == 59
    assert isinstance(said, Cell)
    assert said.text.startswith("40 rounds")


def test_a_row_says_what_its_numbers_rest_on() -> None:
    """Records over times, the event over a verdict; without notes they are gone."""
    state = state_of(ROOT / "h200_sxm" / "rms_norm")
    for notes in (True, False):
        table = round_section(reported(state), state, CutLevel(100, 9, notes=notes)).blocks[0]
        assert isinstance(table, TableBlock)
        gain, time = table.rows[1][3], table.rows[1][4]
        assert isinstance(gain, Cell)
        assert isinstance(time, Cell)
        assert ("v1.timing.1:v0:8192x4096:1" in gain.note) is notes
        assert ("median of 3 records: v1.timing.1:v1:8192x4096:1" in time.note) is notes


def test_what_nobody_accounted_for_is_said() -> None:
    """Journals from before accounts and ledgers."""
    report = reported(state_of(ROOT / "h200_sxm" / "rms_norm"))
    assert "Nobody accounted" in str(gap_section(report, 100).blocks[0])
    assert "No opportunity" in str(ledger_section(report, CutLevel(100, 9)).blocks[0])
    accounted = reported(state_of(CAMPAIGNS[0]))
    assert gap_section(accounted, 100).title == "Where the time of v1 goes"


def test_every_time_has_its_record_in_print() -> None:
    """What stands over a time on a screen stands in a table on paper; with few rows accepted versions are kept."""
    state = state_of(ROOT / "h200_sxm" / "rms_norm_2")
    table = measurement_section(state, CutLevel(100, 400)).blocks[0]
    assert isinstance(table, TableBlock)
    known = {one.id: one for round_ in state.rounds for one in round_.measured.values() if one.candidate == round_.name}
    assert [row[0] for row in table.rows] == list(known)
    few, said = measurement_section(state, CutLevel(100, 10)).blocks
    assert isinstance(few, TableBlock)
    assert {str(row[0]).split(":")[1] for row in few.rows} == {"v0", "v1"}
    assert f"{len(known) - 10} more" in str(said)
    assert "journal" in str(measurement_section(state, CutLevel(100, 10, notes=False)).blocks[0])
