"""Documents of logs read back as they were written."""

from __future__ import annotations

from kopt_kb.analysis.cutile.causes import CAUSES
from kopt_kb.static.cutile.logs import ExplainedLog, NamedCause
from kopt_kb.wire import canonical, parse, read


def test_they_travel() -> None:
    """Through JSON and back."""
    one = ExplainedLog((NamedCause(CAUSES[0], "a line"),))
    assert read(ExplainedLog, parse(canonical(one.to_json()))) == one
