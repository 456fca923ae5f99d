"""DeviceNames of tables as products."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.packs.tables.devices import DeviceNames
from kopt_kb.problem.tuned_table import TunedRow, TunedTable
from kopt_kb.wiki.registry import Registry

TABLE = TunedTable("form", "a.json", "", {}, ())


@pytest.fixture(scope="module")
def devices() -> DeviceNames:
    """The packaged wiki's."""
    return DeviceNames(Registry.open())


@pytest.mark.parametrize(
    ("name", "product", "reason"),
    [
        ("NVIDIA H20-3e", "H20_141GB", ""),
        ("NVIDIA H800", "", "not one product"),
        ("gfx942:80", "MI308X", ""),
        ("gfx950:256", "", "gfx950 with 256 compute units is"),
        ("gfx942:7", "", "no page for a product of gfx942 with 7 compute units"),
        ("gfx1", "", "no page for a product of gfx1"),
        (":304", "", "304 compute units are named, and no target"),
    ],
)
def test_a_name_is_one_product_or_a_reason(devices: DeviceNames, name: str, product: str, reason: str) -> None:
    """A target with its compute units is a name too."""
    found = devices.of(replace(TABLE, device=name))
    assert (found.platform.id if found.platform else "") == product
    assert reason in "; ".join(found.reasons) and bool(found.reasons) == bool(reason)
    named = devices.named(name)
    assert (named.id if named else "") == product


def test_rows_may_be_of_several_products(devices: DeviceNames) -> None:
    """Then the table is of none; a table that names no device has no names."""
    rows = tuple(TunedRow("1", {}, device=one) for one in ("gfx942:80", "gfx942:80", "NVIDIA H200"))
    found = devices.of(replace(TABLE, rows=rows))
    assert (found.names, found.platform, found.reasons) == (("gfx942:80", "NVIDIA H200"), None, ())
    assert devices.of(TABLE).names == ()


def test_limits_are_read_once(devices: DeviceNames) -> None:
    """Of each product."""
    platform = devices.named("NVIDIA H200")
    assert platform is not None and devices.limits(platform) is devices.limits(platform)
