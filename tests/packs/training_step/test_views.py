"""What the sections of Rule 11 count by; rendered ones are in the tests of campaigns."""

from __future__ import annotations

from types import SimpleNamespace

from kopt_kb.packs.training_step.views import against


def test_a_gain_needs_times_of_both() -> None:
    """On the shapes that both have; the lower median stands for repeats."""
    own = SimpleNamespace(own_records={"a": SimpleNamespace(median_s=1.0), "b": SimpleNamespace(median_s=1.0)})
    base = SimpleNamespace(times=lambda _: {"a": [3.0, 2.0, 2.0]})
    assert against(own, "v0", base) == 100.0  # type: ignore[arg-type]
    assert against(own, "v0", SimpleNamespace(times=lambda _: {})) is None  # type: ignore[arg-type]
