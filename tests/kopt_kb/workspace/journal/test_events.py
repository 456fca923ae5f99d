"""Every kind of the contract exists, round-trips exactly and is validated; newer kinds are kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import WireError, canonical, plain
from kopt_kb.launch.record.source import BEFORE
from kopt_kb.workspace.journal.events import (
    VERSION,
    Event,
    ForeignData,
    abandoned_runs,
    checked_data,
    event_from_json,
    format_time,
    kinds,
)

CONTRACT_KINDS = """
workspace_created specs_registered target_set environment_recorded bench_started noise_measured profile_read note_added
round_started hypothesis_stated candidate_submitted run_started run_finished gate_judged measured decided
snapshot_taken launcher_confirmed record_bound memory_masked memory_unmasked memory_noted file_adopted resumed campaign_confirmed campaign_named plan_made tips_read proposal_made
project_protected project_frozen level_chosen blocked stopped gap_accounted category_chosen review_held opportunity reachable_measured
"""

LATER = {
    ("environment_recorded", "product"): None, ("decided", "refutes"): (), ("measured", "trust"): "unstated",
    ("decided", "trust"): "unstated", ("decided", "launcher"): "", ("decided", "source"): BEFORE, ("measured", "source"): BEFORE, ("profile_read", "name"): "",
    ("run_finished", "records"): (), ("workspace_created", "kernel_test"): None,
    ("workspace_created", "written"): None, ("candidate_submitted", "plan"): None,
    ("campaign_confirmed", "launch"): None, ("proposal_made", "risk"): "", ("proposal_made", "confirms"): (),
}  # fmt: skip
"""Fields that journals of earlier programs lack → what they then are."""


def envelope(kind, data, /, **changes):
    members = {"v": 1, "seq": 1, "t": "2026-01-31T12:00:00.000000Z", "kind": kind, "data": data, "zh": "0" * 64}
    return {**members, **changes}


def test_the_kinds_are_exactly_those_of_the_contract(samples):
    """None is missing, none is extra, and each has an example here."""
    assert set(kinds()) == set(CONTRACT_KINDS.split()) == set(samples)


def test_data_round_trips_through_json_text(sample):
    """JSON → dataclass → JSON gives the same members, and the text decodes to the equal object."""
    kind, raw = sample
    data = checked_data(kind, raw)
    assert plain(data) == raw
    assert event_from_json(json.loads(json.dumps(envelope(kind, raw)))).data == data


def test_each_field_is_required_and_no_other_is_taken(sample):
    """Leaving any field out, or adding one, is refused by its name; only fields that came later have a default."""
    kind, raw = sample
    later = {name: default for (one, name), default in LATER.items() if one == kind}
    for name, default in later.items():
        assert getattr(checked_data(kind, {k: v for k, v in raw.items() if k != name}), name) == default
    for name in raw.keys() - later.keys():
        with pytest.raises(WireError) as caught:
            checked_data(kind, {k: v for k, v in raw.items() if k != name})
        assert caught.value.where == f"{kind}.{name}"
    with pytest.raises(WireError) as caught:
        checked_data(kind, {**raw, "surplus": 1})
    assert caught.value.where == f"{kind}.surplus"


def test_events_are_frozen(note):
    """Neither envelope nor data can be changed."""
    event = event_from_json(envelope("note_added", note))
    with pytest.raises(AttributeError):
        event.seq = 2
    with pytest.raises(AttributeError):
        event.data.by = "someone else"


class TestEnvelope:
    @pytest.mark.parametrize("name", ["v", "seq", "t", "kind", "data", "zh"])
    def test_no_member_may_be_missing(self, note, name):
        """The missing member is named."""
        members = envelope("note_added", note)
        del members[name]
        with pytest.raises(WireError, match=f"^{name}: is missing"):
            event_from_json(members)

    @pytest.mark.parametrize(
        "change",
        [{"v": "1"}, {"v": 0}, {"v": True}, {"seq": 1.0}, {"kind": 3}, {"extra": 1}, {"kind": "round_begun"}],
    )
    def test_wrong_members_are_refused(self, note, change):
        """Types are exact, members closed and kinds known."""
        with pytest.raises(WireError):
            event_from_json(envelope("note_added", note, **change))

    @pytest.mark.parametrize(
        "t", ["2026-01-31T12:00:00Z", "2026-02-30T12:00:00.000000Z", "2026-01-31T12:00:00.000000+01:00", 5]
    )
    def test_times_have_one_form(self, note, t):
        """UTC, microseconds, a real date."""
        with pytest.raises(WireError, match=r"^t: "):
            event_from_json(envelope("note_added", note, t=t))

    def test_the_event_gives_its_time_and_members_back(self, note):
        """`to_json` is the line's content."""
        members = envelope("note_added", note)
        event = event_from_json(members)
        assert event.time == datetime(2026, 1, 31, 12, tzinfo=UTC)
        assert event.to_json() == members


class TestNewerVersions:
    def test_an_unknown_kind_of_a_newer_version_is_kept_as_it_is(self):
        """Kind, data and unknown members survive reading."""
        members = envelope("dreamt", {"deep": [1, {"x": None}]}, v=VERSION + 1)
        event = event_from_json({**members, "new_member": 1})
        assert isinstance(event.data, ForeignData)
        assert event.to_json() == members

    def test_an_unknown_kind_of_this_version_is_refused(self):
        """It can't have been written by this version."""
        with pytest.raises(WireError, match="unknown event kind 'dreamt'"):
            event_from_json(envelope("dreamt", {}))

    def test_an_unknown_kind_can_not_be_written(self):
        """The refusal lists the kinds there are."""
        with pytest.raises(BadInput, match=r"unknown event kind 'dreamt'; one of .*, note_added, "):
            checked_data("dreamt", {})


def test_data_of_another_kind_is_refused(samples):
    """A dataclass has to belong to the kind it is written as."""
    data = checked_data("note_added", samples["note_added"])
    with pytest.raises(BadInput, match="NoteAdded is not the data of decided"):
        checked_data("decided", data)


class TestCanonicalJson:
    def test_it_is_sorted_dense_and_ascii(self):
        """One value has one form, whatever the order of its keys."""
        assert canonical({"b": "é\n", "a": [1, 0.5]}) == b'{"a":[1,0.5],"b":"\\u00e9\\n"}'

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    def test_nan_and_infinity_have_no_form(self, value):
        """JSON has no such numbers."""
        with pytest.raises(ValueError, match="Out of range"):
            canonical({"a": value})


@given(st.datetimes(timezones=st.just(timezone(timedelta(hours=5, minutes=45)))))
def test_written_times_are_read_back_to_the_microsecond(moment):
    """Any zone is turned into UTC and back."""
    try:
        text = format_time(moment)
    except OverflowError:
        return
    assert datetime.fromisoformat(text) == moment


def test_abandoned_runs_are_those_nobody_finished_or_gave_up(samples):
    """r1 finished, r2 was given up by an earlier resume, r3 is left."""
    start, finish, resume = samples["run_started"], samples["run_finished"], samples["resumed"]
    story = [
        ("run_started", {**start, "run": "r1"}),
        ("run_started", {**start, "run": "r2"}),
        ("run_finished", {**finish, "run": "r1"}),
        ("resumed", {**resume, "abandoned_runs": ["r2"]}),
        ("run_started", {**start, "run": "r3"}),
    ]
    events = [Event(1, n, "t", kind, checked_data(kind, data), "") for n, (kind, data) in enumerate(story, 1)]
    assert abandoned_runs(events) == ("r3",)
    assert abandoned_runs(events[:2]) == ("r1", "r2")
