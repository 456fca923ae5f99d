"""The machine of a measurement."""

from __future__ import annotations

from kopt_kb.base.wire import read
from kopt_kb.launch.candidate.machine import HOST, Environment


def test_a_machine_is_read_as_it_was_written() -> None:
    """A host's name begins with a word that no GPU's name begins with."""
    machine = Environment(f"{HOST}AMD EPYC", None, None, {"sm": "1980 MHz"}, {"python": "3.12"})
    assert read(Environment, machine.to_json(), where="machine") == machine
    assert not "NVIDIA H200".startswith(HOST)
