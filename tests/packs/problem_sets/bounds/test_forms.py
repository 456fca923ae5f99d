"""The three forms of a table hold the same numbers."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from kopt_kb.packs.problem_sets.bounds.bound import table_of
from kopt_kb.packs.problem_sets.bounds.facts import FoundFacts
from kopt_kb.packs.problem_sets.bounds.forms import FORMS, as_csv, as_json, as_markdown
from kopt_kb.wiki.registry import Registry
from tests.packs.problem_sets.bounds.test_bound import FACTS

_FACTS = [FoundFacts("a.py", FACTS), FoundFacts("b.py", None, "KB084", "fails | badly")]
TABLE = table_of(_FACTS, Path(), Registry.open().platform("H100_SXM"), "2.13")


def test_json_and_csv_hold_the_same_numbers():
    rows = json.loads(as_json(TABLE))["rows"]
    cells = list(csv.DictReader(io.StringIO(as_csv(TABLE))))
    assert [float(one["floor_s"]) for one in cells] == [one["floor_s"] for one in rows]
    assert [one["reason"] for one in cells] == ["", "fails | badly"]


def test_markdown_has_a_row_a_problem_and_the_rows_of_the_wiki():
    text = as_markdown(TABLE)
    assert "| a | 2.368 ms | bytes |" in text
    assert "fails / badly" in text and "hardware/nvidia/h100_sxm.md:L" in text


def test_suffixes_name_the_forms():
    assert set(FORMS) == {".json", ".csv", ".md"}
