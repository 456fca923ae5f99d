"""Documents of logs read back as they were written."""

from __future__ import annotations

from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.packs.cutile.check.logs import ExplainedLog, NamedCause
from kopt_kb.packs.cutile.source.causes import CAUSES


def test_they_travel() -> None:
    """Through JSON and back."""
    one = ExplainedLog((NamedCause(CAUSES[0], "a line"),))
    assert read(ExplainedLog, parse(canonical(one.to_json()))) == one
