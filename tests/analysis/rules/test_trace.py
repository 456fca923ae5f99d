"""What limits a device over a trace."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile import ReportSource
from kopt_kb.analysis.profile.events import EventLog, TimedKind
from kopt_kb.analysis.rules.thresholds import load_thresholds
from kopt_kb.analysis.rules.trace import TRACE_RULES, judge_timeline


def timeline(*events, calls=(), waits=()):
    """Return the timeline of (kind, start, end, call) in ns."""
    log = EventLog(ReportSource("t", "f", "tool", "nvidia"))
    log.device("0")
    for kind, start, end, call in events:
        log.add(0, log.kind(TimedKind(kind, kind, 0)), log.stream("7"), start, end, call)
    for one in calls:
        log.launch(*one)
    for one in waits:
        log.wait(*one)
    return log.trace().devices[0]


@pytest.mark.parametrize(
    ("limiters", "events", "calls", "waits"),
    [
        (["kernels"], [("kernel", 0, 90, 1), ("kernel", 95, 100, 2)], [], []),
        (["communication"], [("kernel", 0, 50, 1), ("communication", 50, 100, 2)], [], []),
        (["kernels"], [("kernel", 0, 100, 1), ("communication", 0, 100, 2), ("copy", 0, 100, 3)], [], []),
        (["copies"], [("kernel", 0, 50, 1), ("copy", 50, 80, 2), ("fill", 80, 100, 3)], [], []),
        (["launches"], [("kernel", 0, 50, 1), ("kernel", 90, 100, 2)], [(2, 80, 95)], []),
        (["synchronisation"], [("kernel", 0, 50, 1), ("kernel", 90, 100, 2)], [(2, 80, 95)], [(10, 60)]),
        (["idle"], [("kernel", 0, 20, 1), ("kernel", 90, 100, 2)], [], []),
        (["idle"], [("kernel", 0, 20, 1), ("kernel", 90, 100, 2)], [(2, 5, 9)], []),
        (["launches", "copies"], [("copy", 0, 40, 1), ("kernel", 90, 100, 2)], [(2, 80, 95)], []),
    ],
)
def test_each_limit_has_a_trace_that_shows_it(limiters, events, calls, waits):
    """The largest share first; idleness without a cause only when nothing else is found."""
    found = judge_timeline(timeline(*events, calls=calls, waits=waits))
    assert [one.limiter for one in found] == limiters
    assert all(one.advice and one.proof for one in found)


def test_short_launches_are_told_with_the_launches():
    """Evidence with its threshold when most kernels are shorter than their calls."""
    made = timeline(("kernel", 0, 5, 1), ("kernel", 90, 100, 2), calls=[(1, 0, 50), (2, 30, 95)])
    (found,) = judge_timeline(made)
    assert [(one.metric, one.value) for one in found.evidence][1] == ("short_launches_pct", 100.0)
    assert found.evidence[1].threshold.value == 50


def test_every_rule_has_its_threshold():
    """And the document says what to do."""
    page = load_thresholds()
    assert all(page.row(code, metric) for code, (_, metric, _) in TRACE_RULES.items())
    document = judge_timeline(timeline(("kernel", 0, 5, 1)))[0].to_json()
    assert (document["limiter"], document["code"]) == ("kernels", "BN-TRACE-KERNELS")
    assert document["advice"]
