"""Links: one link of a generation, both directions beside each, slots of the host."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.physics import judge


@pytest.mark.parametrize(
    ("rule", "rows", "expected"),
    [
        ("PHY-GENERATION", ("link_bandwidth 50 GB/s link=nvlink4;direction=both;scope=link",), ["pass"]),
        ("PHY-GENERATION", ("link_bandwidth 51 GB/s link=nvlink4;direction=both;scope=link",), ["pass"]),
        ("PHY-GENERATION", ("link_bandwidth 25 GB/s link=nvlink4;direction=both;scope=link",), ["fail"]),
        ("PHY-GENERATION", ("link_bandwidth 900 GB/s link=nvlink4;direction=both",), ["pass"]),
        ("PHY-GENERATION", ("link_bandwidth 1.8 TB/s link=nvlink5;direction=both",), ["pass"]),
        ("PHY-GENERATION", ("link_bandwidth 1.8 TB/s link=nvlink4;direction=both",), ["fail"]),
        ("PHY-GENERATION", ("link_bandwidth 900 GB/s link=nvlink4;direction=both", "link_count 18 count link=nvlink4"), ["pass", "pass"]),
        ("PHY-GENERATION", ("link_bandwidth 900 GB/s link=nvlink4;direction=both", "link_count 9 count link=nvlink4"), ["pass", "fail"]),
        ("PHY-GENERATION", ("link_bandwidth 9 GB/s link=nvlink4;direction=both", "link_count 1 count link=nvlink4"), ["fail", "fail"]),
        ("PHY-GENERATION", ("link_bandwidth 925 GB/s link=nvlink4;direction=both",), ["fail"]),
        ("PHY-GENERATION", ("link_bandwidth 128 GB/s link=xgmi;direction=both;scope=link",), []),
        ("PHY-EACH", ("link_bandwidth 450 GB/s link=nvlink4;direction=each", "link_bandwidth 900 GB/s link=nvlink4;direction=both"), ["pass"]),
        ("PHY-EACH", ("link_bandwidth 900 GB/s link=nvlink4;direction=each", "link_bandwidth 900 GB/s link=nvlink4;direction=both"), ["fail"]),
        ("PHY-EACH", ("link_bandwidth 900 GB/s link=nvlink4;direction=each",), ["fail"]),
        ("PHY-EACH", ("host_bandwidth 900 GB/s link=nvlink_c2c;direction=each",), ["fail"]),
        ("PHY-EACH", ("host_bandwidth 450 GB/s link=nvlink_c2c;direction=each", "host_bandwidth 900 GB/s link=nvlink_c2c;direction=both"), ["pass"]),
        ("PHY-HOST", ("host_bandwidth 128 GB/s link=pcie5x16;direction=both",), ["pass"]),
        ("PHY-HOST", ("host_bandwidth 63 GB/s link=pcie4x16;direction=both",), ["pass"]),
        ("PHY-HOST", ("host_bandwidth 31.5 GB/s link=pcie4x16;direction=each",), ["pass"]),
        ("PHY-HOST", ("host_bandwidth 64 GB/s link=pcie4x16;direction=each",), ["fail"]),
        ("PHY-HOST", ("host_bandwidth 61 GB/s link=pcie4x16;direction=both",), ["fail"]),
        ("PHY-HOST", ("host_bandwidth 63.4 GB/s link=pcie4x16;direction=both",), ["fail"]),
        ("PHY-HOST", ("host_bandwidth 63.7 GB/s link=pcie4x16;direction=both",), ["pass"]),
        ("PHY-HOST", ("host_bandwidth 32 GB/s link=pcie5x8;direction=each",), ["pass"]),
        ("PHY-HOST", ("host_bandwidth 900 GB/s link=c2c;direction=both",), []),
    ],
)  # fmt: skip
def test_outcomes(sheet_of, rule: str, rows: tuple[str, ...], expected: list[str]) -> None:
    """Each rule on a right value, on the border, past it, and with nothing to compare."""
    assert [check.outcome for check in judge(sheet_of(*rows)) if check.rule == rule] == expected
