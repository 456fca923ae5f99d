"""The view of a target or an architecture."""

from __future__ import annotations

import json

import pytest

from kopt_kb.cli.main import main
from kopt_kb.wiki.group import OVERVIEW, group, members
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.vocabulary import UnknownMetric


@pytest.fixture(scope="module")
def registry() -> Registry:
    """The shipped wiki."""
    return Registry.open()


@pytest.mark.parametrize(
    ("name", "kind", "spelled", "product"),
    [
        ("gfx942", "target", "gfx942", "MI300X"),
        ("sm_90", "target", "sm_90", "H20"),
        ("SM90", "target", "sm_90", "H20"),
        ("sm_90a", "target", "sm_90", "H20"),
        ("sm_100f", "target", "sm_100", "B200"),
        ("hopper", "arch", "Hopper", "H20"),
        ("cdna3", "arch", "CDNA 3", "MI300X"),
        ("ada-lovelace", "arch", "Ada Lovelace", "L4"),
    ],
)
def test_names_of_a_view(registry: Registry, name: str, kind: str, spelled: str, product: str) -> None:
    """Targets and architectures, with or without the letter of a feature set."""
    found = members(registry, name)
    assert found is not None
    assert found[:2] == (kind, spelled)
    assert product in found[2]
    assert list(found[2]) == sorted(set(found[2]))


@pytest.mark.parametrize("name", ["", "H20", "H100", "rubin", "gfx94", "sm_9", "gfx942a", "sm_90b", "amd", "blackwel"])
def test_no_view(registry: Registry, name: str) -> None:
    """A product's name means the product; nothing is guessed."""
    assert members(registry, name) is None
    assert group(registry, name) is None


def test_every_product_is_in_the_view_of_its_target_and_architecture(registry: Registry) -> None:
    """Nobody is left out, unless the architecture is also a product's name."""
    for one in registry.platforms():
        identity = registry.platform(one).identity
        assert one in (members(registry, identity.target) or ("", "", ()))[2]
        view = members(registry, identity.arch)
        assert view is None or one in view[2]


def test_a_view_has_the_rows_of_each_product(registry: Registry) -> None:
    """The overview without a metric; one lookup a product with one."""
    view = group(registry, "gfx942")
    assert view is not None
    assert len(view.products) == len(OVERVIEW) * len({one.identity.platform for one in view.products})
    peaks = group(registry, "gfx942", "peak_compute", dtype="bf16")
    assert peaks is not None
    assert {row.metric for one in peaks.products for row in one.specs} == {"peak_compute"}
    with pytest.raises(UnknownMetric):
        group(registry, "gfx942", "no_such_metric")


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Text with citations, JSON with the same products; exit 4 if nobody has a value."""
    assert main(["lookup", "gfx942", "memory_bandwidth"]) == 0
    out = capsys.readouterr().out
    assert "gfx942: 4 product(s) of this target: MI300A, MI300X, MI308X, MI325X" in out
    assert "<gpu-wiki>/hardware/amd/mi300x.md:L" in out
    assert "UNKNOWN" in out
    assert main(["lookup", "gfx942", "memory_bandwidth", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["name"], document["kind"]) == ("gfx942", "target")
    assert [one["platform"] for one in document["products"]] == ["MI300A", "MI300X", "MI308X", "MI325X"]
    assert main(["lookup", "gfx942", "peak_compute", "dtype=int4"]) == 4
