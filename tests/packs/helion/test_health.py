"""The line of `kb doctor`."""

from __future__ import annotations

import dataclasses

from kopt_kb.launch.machine.this_machine import this_machine
from kopt_kb.packs.helion.health import lines


def test_what_is_installed_is_within_its_range_or_named_as_absent() -> None:
    """The package decides alone; the range is the extra's."""
    bare = dataclasses.replace(this_machine(), package=lambda _: None)
    (line,) = lines(bare)
    assert (line.group, line.name, line.state, line.fix) == ("languages", "Helion", "absent", "")
    least = bare.ranges["helion"].partition(",")[0].removeprefix(">=")
    for version, state in (("0.0.0", "wrong"), (least, "ok")):
        host = dataclasses.replace(bare, package={"helion": version}.get)
        (line,) = lines(host)
        assert line.state == state
