"""Rules on memory, caches of several dies, and links."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.physics import judge


def outcomes(sheet, rule: str) -> list[str]:
    """Outcomes of one rule."""
    return [check.outcome for check in judge(sheet) if check.rule == rule]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        ("2.0", "pass"),
        ("2.006", "pass"),
        ("2.007", "fail"),
        ("2.03", "fail"),
        ("2", "pass"),
        ("4.0", "fail"),
        ("1.0", "fail"),
    ],
)
def test_bandwidth_is_bus_times_rate(sheet_of, value: str, outcome: str) -> None:
    """4000 bit / 8 x 4 Gbit/s = 2.0 TB/s."""
    rows = ("memory_bus_width 4000 bit", "memory_data_rate 4 Gbit/s", f"memory_bandwidth {value} TB/s")
    assert outcomes(sheet_of(*rows), "PHY-BW") == [outcome]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [("2010 GB/s", "fail"), ("1990 GB/s", "fail"), ("2.0 TB/s", "pass"), ("1.9 TB/s", "fail"), ("2.04 TB/s", "fail")],
)
def test_bandwidth_is_rounded_as_its_digits_say(sheet_of, value: str, outcome: str) -> None:
    """Of 2.0 TB/s half a unit of the last digit is let pass, 0.3 % at least and 2 % at most."""
    rows = ("memory_bus_width 4000 bit", "memory_data_rate 4 Gbit/s", f"memory_bandwidth {value}")
    assert outcomes(sheet_of(*rows), "PHY-BW") == [outcome]


def test_clock_times_multiplier_is_a_rate(sheet_of) -> None:
    """2000 MHz at two transfers a clock; the same field read at four would double."""
    for multiplier, outcome in (("x2", "pass"), ("x4", "fail")):
        rows = (
            "memory_bus_width 4000 bit",
            f"memory_clock 2000 MHz multiplier={multiplier}",
            "memory_bandwidth 2.0 TB/s",
        )
        assert outcomes(sheet_of(*rows), "PHY-BW") == [outcome]


def test_bandwidth_without_bus_is_not_checkable(sheet_of) -> None:
    """Never a pass."""
    assert outcomes(sheet_of("memory_bandwidth 2.0 TB/s"), "PHY-BW") == ["not-checkable"]


@pytest.mark.parametrize(
    ("mib", "outcome"), [("81920", "pass"), ("81559", "pass"), ("81000", "fail"), ("82000", "fail")]
)
def test_visible_capacity(sheet_of, mib: str, outcome: str) -> None:
    """80 GB on a sheet is 80 GiB; a device shows 99 to 100 % of it."""
    rows = ("memory_capacity 80 GB", f"memory_capacity {mib} MiB config=visible")
    assert outcomes(sheet_of(*rows), "PHY-VISIBLE") == [outcome]


@pytest.mark.parametrize(("rate", "outcome"), [("7.88", "pass"), ("8.0", "pass"), ("7.87", "fail"), ("8.01", "fail")])
def test_visible_bandwidth(sheet_of, rate: str, outcome: str) -> None:
    """What bus and clock of a device give is at most 1.5 % under what its sheet rounds."""
    rows = ("memory_bandwidth 8.0 TB/s", f"memory_bandwidth {rate} TB/s config=visible")
    assert outcomes(sheet_of(*rows), "PHY-VISIBLE") == [outcome]
    assert outcomes(sheet_of(rows[1]), "PHY-VISIBLE") == []


@pytest.mark.parametrize(("whole", "outcome"), [("32", "pass"), ("16", "fail"), ("256", "fail")])
def test_l2_of_all_dies(sheet_of, whole: str, outcome: str) -> None:
    """8 dies of 4 MiB are 32 MiB, exactly; the memory-side cache is another level."""
    rows = ("l2_capacity 4 MiB scope=xcd", "die_count 8 count die=xcd", f"l2_capacity {whole} MiB")
    assert outcomes(sheet_of(*rows), "PHY-DIES") == [outcome]


@pytest.mark.parametrize(
    ("total", "expected"), [("900", ["pass", "pass"]), ("450", ["fail", "fail"]), ("1800", ["fail", "fail"])]
)
def test_links(sheet_of, total: str, expected: list[str]) -> None:
    """18 links of 50 GB/s are 900 GB/s in both directions together, 450 each way."""
    rows = (
        "link_count 18 count link=nvlink4",
        "link_bandwidth 50 GB/s link=nvlink4;direction=both;scope=link",
        "link_bandwidth 450 GB/s link=nvlink4;direction=each",
        f"link_bandwidth {total} GB/s link=nvlink4;direction=both",
    )
    assert outcomes(sheet_of(*rows), "PHY-LINK") == expected


@pytest.mark.parametrize(("value", "outcome"), [("1.9", "pass"), ("2.0", "pass"), ("2.1", "fail")])
def test_measured_bandwidth_is_below_the_documented(sheet_of, value: str, outcome: str) -> None:
    """A copy counted twice would be above."""
    rows = ("memory_bandwidth 2.0 TB/s", f"measured_bandwidth {value} TB/s level=dram;pattern=copy;bytes=unstated")
    assert outcomes(sheet_of(*rows), "PHY-ACHIEVED-BW") == [outcome]


@pytest.mark.parametrize(("total", "outcome"), [("917", "pass"), ("883", "pass"), ("919", "fail"), ("881", "fail")])
def test_the_border_of_links(sheet_of, total: str, outcome: str) -> None:
    """1.9 % off twice one direction passes, 2.1 % fails."""
    rows = (
        "link_bandwidth 450 GB/s link=nvlink4;direction=each",
        f"link_bandwidth {total} GB/s link=nvlink4;direction=both",
    )
    assert outcomes(sheet_of(*rows), "PHY-LINK")[0] == outcome


@pytest.mark.parametrize(
    ("kib", "outcome"), [("83886080", "pass"), ("83886081", "fail"), ("83047220", "pass"), ("83047219", "fail")]
)
def test_the_borders_of_visible_capacity(sheet_of, kib: str, outcome: str) -> None:
    """80 GiB are 83886080 KiB; 99 % of them are 83047219.2 KiB."""
    rows = ("memory_capacity 80 GB", f"memory_capacity {kib} KiB config=visible")
    assert outcomes(sheet_of(*rows), "PHY-VISIBLE") == [outcome]


DIES = ("l2_capacity 4 MiB scope=xcd", "l2_capacity 32 MiB")


def test_caches_of_dies_need_the_number_of_dies(sheet_of) -> None:
    """8 dies of 4 MiB have 32 MiB, 6 have not; without a count nothing is checked."""
    assert outcomes(sheet_of(*DIES, "die_count 8 count die=xcd"), "PHY-DIES") == ["pass"]
    assert outcomes(sheet_of(*DIES, "die_count 6 count die=xcd"), "PHY-DIES") == ["fail"]
    assert outcomes(sheet_of(*DIES), "PHY-DIES") == ["not-checkable"]


def test_a_total_of_links_needs_the_number_of_links(sheet_of) -> None:
    """18 links of 50 GB/s are 900 GB/s; without the rate of one link nothing is checked."""
    total = "link_bandwidth 900 GB/s link=NVLink4;direction=both"
    each = "link_bandwidth 50 GB/s link=NVLink4;direction=both;scope=link"
    count = "link_count 18 count link=NVLink4"
    assert outcomes(sheet_of(total, each, count), "PHY-LINK") == ["pass"]
    assert outcomes(sheet_of(total, each, count.replace("18", "17")), "PHY-LINK") == ["fail"]
    assert outcomes(sheet_of(total, count), "PHY-LINK") == ["not-checkable"]
    one_way = "link_bandwidth 450 GB/s link=NVLink4;direction=each"
    assert outcomes(sheet_of(total, each, count, one_way), "PHY-LINK") == ["pass", "pass"]


DRAM = "measured_bandwidth {} GB/s level=dram;pattern={};bytes=unstated @ {}"


@pytest.mark.parametrize(
    ("copy", "document", "expected"),
    [
        ("1000", "a", ["pass", "pass"]),
        ("1350", "a", ["pass", "pass"]),
        ("1351", "a", ["fail", "pass"]),
        ("4000", "b", []),
    ],
)
def test_patterns_of_one_document_are_alike(sheet_of, copy: str, document: str, expected: list[str]) -> None:
    """A factor of 1.35 between copy and read of one author; another author is another matter."""
    rows = (DRAM.format(copy, "copy", document), DRAM.format("1000", "read", "a"))
    assert sorted(outcomes(sheet_of(*rows), "PHY-PATTERN")) == sorted(expected)


@pytest.mark.parametrize(("whole", "outcome"), [("3.2", "pass"), ("3.26", "pass"), ("3.27", "fail"), ("1.6", "fail")])
def test_bandwidth_of_all_dies(sheet_of, whole: str, outcome: str) -> None:
    """Two dies of 1.6 TB/s, within the 2 % that sheets round."""
    rows = ("memory_bandwidth 1.6 TB/s scope=gcd", "die_count 2 count die=gcd", f"memory_bandwidth {whole} TB/s")
    assert outcomes(sheet_of(*rows), "PHY-DIES") == [outcome]


@pytest.mark.parametrize(("l2", "outcome"), [("1001", "pass"), ("1000", "pass"), ("999", "fail"), ("1", "fail")])
def test_a_nearer_level_is_the_faster(sheet_of, l2: str, outcome: str) -> None:
    """The L2 of a part is never measured slower than its memory."""
    rows = (DRAM.format("1000", "read", "a"), f"measured_bandwidth {l2} GB/s level=l2;pattern=read;bytes=4MiB @ b")
    assert outcomes(sheet_of(*rows), "PHY-PATTERN") == [outcome]


@pytest.mark.parametrize(("l1", "outcome"), [("1001", "pass"), ("999", "fail")])
def test_a_cache_is_faster_than_the_memory_is_sold_for(sheet_of, l1: str, outcome: str) -> None:
    """A measurement of the memory that is entered as one of a cache is below the printed bandwidth."""
    rows = ("memory_bandwidth 1 TB/s", f"measured_bandwidth {l1} GB/s level=l1;pattern=read;bytes=unstated @ a")
    assert outcomes(sheet_of(*rows), "PHY-PATTERN") == [outcome]
