"""TileOPs' profiles: found by the driver's name, calibrated where there is a measurement."""

from __future__ import annotations

from collections.abc import Callable

import yaml

from kopt_kb.packs.curate.peaks import tileops
from kopt_kb.wiki.collect import Collection


def test_a_measured_part_is_calibrated(of: Callable[..., Collection]) -> None:
    """`effective` of its loader is theoretical times calibration: what was measured."""
    body = yaml.safe_load(tileops.render(of("H200_SXM"))["h200_sxm.yaml"])
    assert body["gpu"] == "NVIDIA H200"
    assert body["compute_capability"] == 9.0
    assert 0.9 < body["hbm"]["calibration"] < 1
    assert body["tensor_core"]["bf16"]["theoretical"] > body["cuda_core"]["fp32"]["theoretical"]


def test_a_part_nobody_measured_has_no_calibration(of: Callable[..., Collection]) -> None:
    """No factor is invented."""
    body = yaml.safe_load(tileops.render(of("L4"))["l4.yaml"])
    assert set(body["hbm"]) == {"theoretical"}


def test_a_part_without_values_has_no_profile(of: Callable[..., Collection]) -> None:
    """Nothing to say."""
    found = of("L20")
    assert tileops.render(found) == {}
    assert tileops.lacks(found.products[0])


def test_their_own_profile_is_read() -> None:
    """The product is the driver's name; calibrations are no values."""
    text = "gpu: NVIDIA H200\nhbm:\n  theoretical: 4800e9  # sheet\n  calibration: 0.9\ntensor_core:\n  fp16:\n    theoretical: 989.5e12\n"
    rows = tileops.read(text, "f")
    assert tileops.recognises(text)
    assert [(row.platform, row.metric, row.text) for row in rows] == [
        ("NVIDIA H200", "memory_bandwidth", "4800e9"),
        ("NVIDIA H200", "peak_compute", "989.5e12"),
    ]
