"""Rows stand in documents as the contract names their parts, and read back from there."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from kopt_kb.base.wire import read, schema
from kopt_kb.wiki.answers import DocumentRef, NoValue, Spec, no_row, no_value, spec
from kopt_kb.wiki.lookup import Lookup, lookup
from kopt_kb.wiki.registry import Registry


def test_every_row_of_a_product_reads_back_from_its_document(wiki_root: Path) -> None:
    """Values, words and states; derived rows name their formula instead of a document."""
    found = lookup(Registry.open(wiki_root).platform("T10"))
    document = json.loads(json.dumps(found.to_json()))
    jsonschema.validate(document, schema(Lookup))
    for row, body in zip(found.specs, document["specs"], strict=True):
        assert read(Spec, body) == spec(row, source=found.source(row))
    for row, body in zip(found.unknown, document["unknown"], strict=True):
        assert read(NoValue, body) == no_value(row)
    assert document["unknown"]


def test_numbers_are_numbers_and_words_are_words(wiki_root: Path) -> None:
    """2.0 TB/s is 2e12 B/s; a word has no SI value; integers stay integers."""
    rows = {row.metric: spec(row) for row in lookup(Registry.open(wiki_root).platform("T10")).specs}
    assert (rows["memory_bandwidth"].value, rows["memory_bandwidth"].si_value) == (2.0, 2 * 10**12)
    assert isinstance(rows["sm_count"].value, int)
    words = [one for one in rows.values() if one.si_value is None]
    assert words
    assert all(isinstance(one.value, str) for one in words)


def test_a_derived_row_cites_its_formula(wiki_root: Path) -> None:
    """There is no document to name, so title, url and day are empty and the rest is left out."""
    found = lookup(Registry.open(wiki_root).platform("T10"))
    derived = next(row for row in found.specs if not row.sources)
    assert found.source(derived).to_json() == {"title": "", "locator": derived.note("formula"), "url": "", "read": ""}
    cited = next(row for row in found.specs if row.sources)
    assert isinstance(found.source(cited), DocumentRef)
    assert found.source(cited).to_json()["quote"] == cited.sources[0].quote


def test_no_row_has_no_citation() -> None:
    """Nobody said so."""
    assert no_row("memory_bandwidth", "memory_bandwidth", {}).citation is None
