"""The table of causes: closed, with a method and a source each."""

from __future__ import annotations

from typing import get_args

from kopt_kb.analysis.gap.causes import CAUSES, UNEXPLAINED, CauseName


def test_every_cause_has_words_a_method_and_a_source() -> None:
    """What is unexplained is the last and the only one without a source."""
    assert tuple(CAUSES) == get_args(CauseName)
    assert list(CAUSES)[-1] == UNEXPLAINED
    assert all(cause.words and cause.method for cause in CAUSES.values())
    assert [name for name, cause in CAUSES.items() if not cause.source] == [UNEXPLAINED]
