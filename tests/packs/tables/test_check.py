"""Rows of a table against the default and against each other, on a simulated device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.packs.tables.check import TableCheck, check_rows, check_sarif, rows_at
from kopt_kb.wiki.registry import Registry
from tests.packs.tables.simulated import ROW, Device
from tests.packs.tables.test_session import settled

FAST = {**ROW, "num_warps": 8}
SLOW = {**ROW, "num_warps": 2}


def checked(folder: Path, wiki: Registry, rows: Any, keys: Any = (), tokens: Any = (), **given: Any) -> TableCheck:
    """A check of rows."""
    found = settled(folder, wiki, rows=rows, **given)
    with found.bouts(wiki, lambda _: None) as bouts:
        return check_rows(found, bouts, rows_at(found.table, keys, tokens))


@pytest.fixture
def warps(simulated: Device) -> Device:
    """Warps decide; 7 stages are wrong and 9 can't be recorded."""

    def cost(settings: Any, tokens: int) -> float:
        return {9: -1.0, 7: 0.0}.get(settings["num_stages"], {4: 1e-4, 8: 0.9e-4, 2: 1.2e-4}[settings["num_warps"]])

    simulated.cost = cost
    return simulated


def test_a_slower_row_is_found(tmp_path: Path, registry: Registry, warps: Device) -> None:
    """The default of 1, 2 and 4 tokens has four warps; who is beside a row counts too; the document reads back."""
    found = checked(tmp_path, registry, {"1": FAST, "2": SLOW, "4": ROW})
    assert [one.bout.verdict for one in found.rows] == ["faster", "slower", "equal"]
    assert (found.verdict, found.counts) == ("slower", {"faster": 1, "slower": 1, "equal": 1})
    assert [[(one.key, one.bout.verdict) for one in row.neighbours] for row in found.rows] == [
        [], [("1", "slower"), ("4", "slower")], [],
    ], "what a few launches show to be slower is not compared"  # fmt: skip
    first = found.rows[0]
    assert first.right is True and first.rel_l2_err == 1e-3
    assert first.share is not None and 0 < first.share < 1 and first.bound
    assert first.work_flops == 2 * 6 * 128 * 256 and first.default["num_warps"] == 4
    assert read(TableCheck, parse(canonical(found.to_json()))).rows == found.rows
    results = [(one.rule, one.level, one.line) for one in check_sarif(found)]
    assert results == [
        ("row-slower", "error", found.rows[1].line), ("row-beaten", "warning", found.rows[1].line),
        ("row-beaten", "warning", found.rows[1].line),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "verdict", "right", "rule"),
    [({**ROW, "num_stages": 9}, "fault", None, "row-fault"), ({**ROW, "num_stages": 7}, "wrong", False, "row-wrong")],
    ids=["it can't be recorded", "it is wrong"],
)
def test_a_row_that_does_not_work(
    tmp_path: Path, registry: Registry, warps: Device, row: Any, verdict: str, right: bool | None, rule: str
) -> None:
    """It fails as a slower one does, and no roof is named."""
    found = checked(tmp_path, registry, {"1": row, "2": ROW})
    assert (found.rows[0].bout.verdict, found.rows[0].right, found.verdict) == (verdict, right, "slower")
    assert found.rows[0].share is None and found.rows[0].neighbours == ()
    assert next(iter(check_sarif(found))).rule == rule


def test_a_default_that_does_not_work_leaves_a_row_undecided(tmp_path: Path, registry: Registry, warps: Device) -> None:
    """The row is timed by itself: its share of the roof is known all the same."""
    warps.cost = lambda settings, _: -1.0 if settings["num_warps"] == 4 else 1e-4
    found = checked(tmp_path, registry, {"1": FAST})
    assert (found.verdict, found.rows[0].bout.verdict) == ("undecided", "undecided")
    assert found.rows[0].share is not None
    assert [one.rule for one in check_sarif(found)] == ["row-undecided"]


def test_rows_are_chosen_by_key_or_by_tokens(tmp_path: Path, registry: Registry, warps: Device) -> None:
    """For tokens the row that the engine takes, timed for these."""
    rows = {"1": FAST, "16": ROW}
    assert [one.key for one in checked(tmp_path, registry, rows, keys=["16"]).rows] == ["16"]
    served = checked(tmp_path, registry, rows, tokens=[3, 12]).rows
    assert [(one.key, one.tokens) for one in served] == [("1", 3), ("16", 12)]
    with pytest.raises(BadInput, match="has no row 5"):
        checked(tmp_path, registry, rows, keys=["5"])


def test_neighbours_may_be_left_out(tmp_path: Path, registry: Registry, warps: Device) -> None:
    """Then two settings a row are recorded."""
    found = settled(tmp_path, registry, rows={"1": FAST, "16": FAST})
    with found.bouts(registry, lambda _: None) as bouts:
        seen = check_rows(found, bouts, rows_at(found.table), neighbours=False)
        assert bouts.recorded == 4
    assert [one.neighbours for one in seen.rows] == [(), ()]


def test_a_row_that_is_named_twice_is_checked_once(tmp_path: Path, registry: Registry) -> None:
    """As numbers of tokens are."""
    assert len(rows_at(settled(tmp_path, registry).table, ["1", "1"])) == 1
