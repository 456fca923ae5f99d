"""Power: watts a processor, the default cap, what a diagnostic asks for."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.physics import judge


@pytest.mark.parametrize(
    ("rule", "rows", "expected"),
    [
        ("PHY-WATTS", ("board_power 700 W kind=tdp", "sm_count 132 count"), ["pass"]),
        ("PHY-WATTS", ("board_power 100 W kind=tdp", "sm_count 100 count"), ["pass"]),
        ("PHY-WATTS", ("board_power 99 W kind=tdp", "sm_count 100 count"), ["fail"]),
        ("PHY-WATTS", ("board_power 1200 W kind=cap_max", "sm_count 100 count"), ["pass"]),
        ("PHY-WATTS", ("board_power 7000 W kind=tdp", "sm_count 132 count"), ["fail"]),
        ("PHY-WATTS", ("board_power 700 W kind=tdp",), []),
        ("PHY-CAP", ("board_power 500 W kind=tdp", "board_power 510 W kind=cap_default"), ["fail"]),
        ("PHY-CAP", ("board_power 500 W kind=tdp", "board_power 500 W kind=cap_default"), ["pass"]),
        ("PHY-CAP", ("board_power 500 W kind=tdp", "board_power 400 W kind=cap_default"), ["fail"]),
        ("PHY-CAP", ("board_power 500 W kind=tdp", "board_power 490 W kind=cap_max"), ["pass"]),
        ("PHY-CAP", ("board_power 500 W kind=tdp", "board_power 450 W kind=cap_max"), ["fail"]),
        ("PHY-CAP", ("board_power 450 W kind=cap_max",), []),
        ("PHY-DIAG", ("board_power 700 W kind=tdp", "board_power 700 W kind=diag_target"), ["pass"]),
        ("PHY-DIAG", ("board_power 700 W kind=tdp", "board_power 699 W kind=diag_target"), ["pass"]),
        ("PHY-DIAG", ("board_power 700 W kind=tdp", "board_power 698 W kind=diag_target"), ["fail"]),
        ("PHY-DIAG", ("board_power 700 W kind=tdp", "board_power 701 W kind=diag_target"), ["fail"]),
        ("PHY-DIAG", ("board_power 400 W kind=tdp", "board_power 500 W kind=cap_max", "board_power 399 W kind=diag_target"), ["pass"]),
        ("PHY-DIAG", ("board_power 400 W kind=tdp", "board_power 500 W kind=cap_max", "board_power 450 W kind=diag_target"), ["fail"]),
        ("PHY-DIAG", ("board_power 400 W kind=tdp", "board_power 500 W kind=cap_default", "board_power 500 W kind=diag_target"), ["pass"]),
        ("PHY-DIAG", ("board_power 500 W kind=diag_target",), ["not-checkable"]),
        ("PHY-STEP", ("board_power 275 W kind=tdp",), ["pass"]),
        ("PHY-STEP", ("board_power 257 W kind=tdp",), ["fail"]),
        ("PHY-STEP", ("board_power 27.5 W kind=tdp",), ["fail"]),
        ("PHY-STEP", ("board_power 399 W kind=diag_target",), ["pass"]),
        ("PHY-STEP", ("board_power 398 W kind=diag_target",), ["fail"]),
        ("PHY-STEP", ("board_power 399 W kind=cap_max",), ["fail"]),
        ("PHY-STEP", ("board_power 72 W kind=tdp ! PHY-STEP",), ["excepted"]),
    ],
)  # fmt: skip
def test_outcomes(sheet_of, rule: str, rows: tuple[str, ...], expected: list[str]) -> None:
    """Each rule on a right value, on the border, past it, and with nothing to compare."""
    assert [check.outcome for check in judge(sheet_of(*rows)) if check.rule == rule] == expected
