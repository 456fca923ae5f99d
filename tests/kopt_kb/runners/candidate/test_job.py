"""Jobs and outcomes are plain data."""

from __future__ import annotations

from kopt_kb.runners.candidate.job import Job, Outcome, RunLimits


def test_limits_name_their_units() -> None:
    """As the journal writes them."""
    assert RunLimits(2.5, 1024).to_json() == {"wall_s": 2.5, "resident_bytes": 1024.0}


def test_defaults_are_empty() -> None:
    """An environment job needs no source; an outcome without a result has none."""
    job = Job("environment")
    assert (job.candidate, job.incumbent, dict(job.body)) == (b"", b"", {})
    assert Outcome("hang", None, 9, 1.0).result is None
