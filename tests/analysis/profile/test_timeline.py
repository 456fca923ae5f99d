"""Documents of timelines."""

from __future__ import annotations

from kopt_kb.analysis.profile import ReportSource
from kopt_kb.analysis.profile.events import EventLog, TimedKind
from kopt_kb.analysis.profile.timeline import DirectionCopies


def test_rates_need_bytes_and_time():
    """Neither is taken for zero."""
    assert DirectionCopies("up", 1, 100, 2.0).rate_si == 50
    assert (DirectionCopies("up", 1, None, 2.0).rate_si, DirectionCopies("up", 1, 5, 0.0).rate_si) == (None, None)


def test_a_timeline_of_no_length_has_no_shares():
    """One event of no time."""
    log = EventLog(ReportSource("t", "f", "tool", "nvidia"))
    log.add(log.device("0"), log.kind(TimedKind("kernel", "k", 0)), log.stream("7"), 5, 5)
    (device,) = log.trace().devices
    assert (device.span_s, device.idle_pct, device.pct(1.0)) == (0, 0, 0)
    document = device.to_json()
    assert (document["launches"], document["idle_pct"], document["streams"][0]["events"]) == (1, 0, 1)
