"""JSON of any size."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.readers.common import json_stream
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.json_stream import JsonStream

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def walked(path):
    with JsonStream(path) as stream:
        found = {}
        for key in stream.members():
            if stream.peek() == "[":
                found[key] = [stream.value() for _ in stream.elements()]
            else:
                found[key] = stream.value()
        stream.finish()
        return found


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=5), st.sampled_from([None, 1]))
def test_a_walk_gives_what_json_gives(tmp_path, monkeypatch, document, indent):
    """Whatever the chunk boundaries are."""
    monkeypatch.setattr(json_stream, "_CHUNK_BYTES", 3)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document, indent=indent))
    assert walked(path) == document


def test_a_number_at_the_end_of_a_chunk_is_whole(tmp_path, monkeypatch):
    """12 and then 345 is 12345."""
    monkeypatch.setattr(json_stream, "_CHUNK_BYTES", 7)
    path = tmp_path / "x.json"
    path.write_text('{"a": 12345}')
    assert walked(path) == {"a": 12345}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1]",
        '{"a": ',
        '{"a" 1}',
        '{"a": 1',
        '{"a": [1, }',
        '{"a": [1',
        "{a: 1}",
        '{"a": 1} x',
        '{"a": tru}',
        '{"a": ' + "[" * 100_000,
    ],
)
def test_damage_is_told_with_its_place(tmp_path, text):
    """Cut, foreign and too deep text."""
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(ReportError, match="at character"):
        walked(path)


def test_large_values_are_skipped_in_bounded_memory(tmp_path):
    """8 MB of records that nobody wants leave a buffer of under 3 MB."""
    path = tmp_path / "x.json"
    record = json.dumps({"size": 1, "text": "x" * 80})
    path.write_text('{"skip": [' + ",".join([record] * 80_000) + '], "want": 5}')
    with JsonStream(path) as stream:
        largest = 0
        for key in stream.members():
            if key == "want":
                assert stream.value() == 5
            else:
                for _ in stream.elements():
                    stream.skip()
                    largest = max(largest, len(stream._text))
    assert largest < 3 << 20
