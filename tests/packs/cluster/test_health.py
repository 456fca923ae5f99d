"""What the pack cluster says of a machine."""

from __future__ import annotations

import dataclasses

import pytest

from kopt_kb.launch.machine.this_machine import this_machine
from kopt_kb.packs.cluster.health import lines


@pytest.mark.parametrize(
    ("version", "state"), [("4.6.0", "ok"), ("3.9.1", "wrong"), (None, "absent")],
)  # fmt: skip
def test_each_package_has_a_line(version: str | None, state: str) -> None:
    """There in a version that is supported, in another, or with the extra that brings it."""
    host = dataclasses.replace(this_machine(), package={"optuna": version}.get, ranges={"optuna": ">=4"})
    optuna, ray = lines(host)
    assert (optuna.name, optuna.state, bool(optuna.fix)) == ("optuna", state, state == "wrong")
    assert (ray.state, "[cluster]" in ray.found) == ("absent", True)
