"""Claims about whether code comes from its source, as events and reports say it."""

from __future__ import annotations

from kopt_kb.launch.record.source import BEFORE, NOT_REPLAYED, CodeSource, least_bound
from kopt_kb.workspace.journal.round_events import Measured


def test_reports_say_it_in_words() -> None:
    """With its reason; beside a level of trust only where the journal knows of it."""
    assert [str(one) for one in (BEFORE, NOT_REPLAYED, CodeSource("bound", None))] == [
        "unbound, recorded before", "unbound, not replayed", "bound",
    ]  # fmt: skip
    assert [one.beside("replayed") for one in (BEFORE, CodeSource("bound", None))] == ["replayed", "replayed; bound"]


def test_all_have_to_be_bound() -> None:
    """The first that is not counts; of nothing, nothing was judged."""
    bound, differs = CodeSource("bound", None), CodeSource("unbound", "differs", "x")
    assert least_bound([bound, differs]) == differs
    assert least_bound([bound, bound]) == bound
    assert least_bound([]) == NOT_REPLAYED


def test_an_older_event_reads_as_recorded_before() -> None:
    """Its journal has no such field."""
    record = Measured("r", "v1", "4", 1, 1.0, {}, "run", 1)
    assert str(record.source) == "unbound, recorded before"
