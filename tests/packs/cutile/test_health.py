"""The line of `kb doctor`."""

from __future__ import annotations

import dataclasses

import pytest

from kopt_kb.launch.machine.this_machine import this_machine
from kopt_kb.packs.cutile.health import lines


@pytest.mark.parametrize(
    ("packages", "programs", "state"),
    [
        ({}, {}, "absent"), ({"cuda-tile": "0.0.1"}, {}, "wrong"), ({"cuda-tile": "VERSION"}, {}, "note"),
        ({"cuda-tile": "VERSION", "nvidia-cuda-tileiras": "13.4"}, {}, "ok"),
        ({"cuda-tile": "VERSION"}, {"tileiras": "tileiras"}, "ok"),
    ],
)  # fmt: skip
def test_files_are_checked_without_the_assembler_and_compiled_with_it(
    packages: dict[str, str], programs: dict[str, str], state: str
) -> None:
    """The assembler is a package of its own, or a program on PATH."""
    machine = this_machine()
    least = machine.ranges["cuda-tile"].partition(",")[0].removeprefix(">=")
    versions = {name: version.replace("VERSION", least) for name, version in packages.items()}
    (line,) = lines(dataclasses.replace(machine, package=versions.get, which=programs.get))
    assert (line.group, line.name, line.state) == ("languages", "cuTile", state)
    assert bool(line.fix) == (state in {"note", "wrong"})
