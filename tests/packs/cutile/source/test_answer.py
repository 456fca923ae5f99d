"""What recipes are asked with."""

from __future__ import annotations

from kopt_kb.packs.cutile.source.answer import Situation


def test_generations_and_what_was_tried() -> None:
    """sm_100 is generation 10, sm_90a is 9; a change counts as tried when a claim says it."""
    assert [Situation(target=one).generation for one in ("sm_80", "sm_90a", "sm_100", "sm_120", "")] == [
        8,
        9,
        10,
        12,
        0,
    ]
    said = Situation(tried=("recipe E, latency hints: latency 3 on 4 loads",))
    assert said.was_tried("latency 3 on 4") and not said.was_tried("latency 6")
