"""Claims about machines of a journal: those that can't be are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.kopt_kb.workspace.audit.forging import codes, of_kind, rewritten


@pytest.mark.parametrize(
    "change",
    [
        {"device": "NVIDIA H900"},
        {"device": "NVIDIA H900", "product": None},
        {"device": "NVIDIA H200"},
        {"uuid": "0" * 32},
        {"uuid": "my card"},
        {"driver": "newest"},
        {"clocks": {"clocks.max.sm": "2600 MHz"}},
    ],
)
def test_a_machine_that_is_none(change: dict[str, Any], rms_norm: Path) -> None:
    """No product, another one than is said, no identity, no version, a clock that its page does not have."""
    assert "machine" in codes(rewritten(rms_norm, of_kind("environment_recorded", lambda one: one.update(change))))


@pytest.mark.parametrize(
    "change",
    [
        {"device": "NVIDIA H900", "product": ""},
        {"device": "host AMD EPYC", "product": None},
        {"uuid": "GPU-9b5b6cb9-94bd-cb90-95ca-6285d5677a59"},
        {"uuid": None, "driver": None},
        {"driver": "580.159.04"},
        {"driver": "6.8.0-45-generic"},
        {"clocks": {"clocks.max.sm": "1980 MHz", "clocks.sm": "345 MHz"}},
    ],
)
def test_a_machine_that_may_be(change: dict[str, Any], rms_norm: Path) -> None:
    """One that says that no page knows it, a host, and what drivers of both vendors print."""
    assert "machine" not in codes(rewritten(rms_norm, of_kind("environment_recorded", lambda one: one.update(change))))
