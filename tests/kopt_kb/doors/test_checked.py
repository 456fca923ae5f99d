"""What a stranger's pack brings is looked at when it is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kopt_kb.doors.checked import wrong_pack
from kopt_kb.doors.command import Command
from kopt_kb.doors.later import later
from kopt_kb.doors.loop_part import LoopPart
from kopt_kb.doors.pack import Pack, PackCause
from kopt_kb.doors.table import packs
from kopt_kb.doors.view import View

GOOD = Pack(
    name="mine",
    what="a pack of a test",
    commands=(Command("dream", "dream", "mine.dream"), Command("verify dreams", "verify", "mine.verify")),
    events={"dreamt": later("mine.events:Dreamt")},
    causes=(PackCause("MINE1", "no-dream", "nothing was dreamt", "Sleep."),),
    names={"dream": "mine.dream:dream"},
)


def _view(**fields: Any) -> tuple[LoopPart, ...]:
    view = View(
        **{"name": "diary", "what": "a diary", "patterns": ("diary/*.md",), "texts": later("mine:texts"), **fields}
    )
    return (LoopPart("mine", "mine", views=(view,)),)


def test_what_can_be_what_it_says_passes() -> None:
    """So do all packs of this distribution but for their codes, which are ours to give."""
    assert wrong_pack(GOOD) == ""
    assert wrong_pack(replace(GOOD, loop_parts=_view())) == ""
    ours = [wrong_pack(pack) for pack in packs().usable.values() if pack.name != "mine"]
    assert not [one for one in ours if one and "not KB" not in one]


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Bad Name"}, {"name": 5}, {"what": ""}, {"what": "x" * 201}, {"what": "a\x1b[31m"}, {"what": None},
        {"words": ["mine"]}, {"words": (1,)}, {"commands": 5}, {"commands": None}, {"commands": later("missing:X")},
        {"commands": ("dream",)}, {"readers": (object(),)}, {"exports": ("csv",)}, {"loop_parts": ({},)},
        {"events": None}, {"events": {"Bad Kind": later("a:b")}}, {"events": {"dreamt": "a:b"}},
        {"causes": later("missing_module:X")}, {"causes": (1,)}, {"doctor": 5}, {"names": {"dream": "nowhere"}},
        {"causes": (PackCause("KB999", "ours", "x", "y"),)}, {"causes": (PackCause("", "none", "x", "y"),)},
        {"causes": (PackCause("A\x1b1", "controls", "x", "y"),)},
        {"commands": (Command("help", "h", "m"),)}, {"commands": (Command("--version", "v", "m"),)},
        {"commands": (Command("Bad Word\n", "b", "m"),)}, {"commands": (Command("dream", "d", "no module"),)},
        {"loop_parts": _view(folders=("../x",))}, {"loop_parts": _view(folders=("/tmp/x",))},
        {"loop_parts": _view(patterns=("/etc/*",))}, {"loop_parts": _view(patterns=("a/../../b",))},
    ],
)  # fmt: skip
def test_what_can_not_be_is_a_fault(change: dict[str, Any]) -> None:
    """By one line, whatever it is; never an exception."""
    why = wrong_pack(replace(GOOD, **change))
    assert why
    assert "\n" not in why
