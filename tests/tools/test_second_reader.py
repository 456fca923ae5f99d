"""The second reader's tool: questions without answers, and an honest comparison of what was read."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from kopt_kb.base.errors import BadInput

PAGE = """---
platform: INVENTED
vendor: NVIDIA
sku: Invented 1
arch: None
target: sm_00
---

# Invented

## Memory

| Metric | Value | Unit | Conditions | Grade | Source | Note |
|---|---|---|---|---|---|---|
| memory_capacity | 24 | GB | - | vendor | [^doc] row Memory quote="24 GB GDDR6"; [^two] page 3 quote="24GB" |  |
| memory_type | GDDR6 | - | - | vendor | [^doc] row Memory quote="24 GB GDDR6" |  |
| memory_bus_width | UNKNOWN | bit | - | - | - | reason: nobody says |
| sm_count | 8 | count | - | derived | - | formula: 4 * 2 |

[^doc]: title="Sheet"; publisher="Nobody"; url="https://example.org/sheet"; revision="1"; read="2026-01-01"
[^two]: title="Other"; publisher="Nobody"; url="https://example.org/other"; revision="2"; read="2026-01-01"
"""


@pytest.fixture(scope="module")
def tool(repo_root: Path) -> ModuleType:
    """The tool, loaded from its file: tools/ is no package."""
    spec = importlib.util.spec_from_file_location("second_reader", repo_root / "tools" / "second_reader.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    """A wiki of two pages with the same rows."""
    for name in ("one", "two"):
        page = tmp_path / "hardware" / "nvidia" / f"{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(PAGE, encoding="utf-8")
    return tmp_path


def answer(tool: ModuleType, wiki: Path, key: str, **filled: str) -> dict[str, object]:
    """The question of a key of page one, with answers filled in."""
    questions = tool.draw(tool.load(wiki, ("one",)), 1, 9)
    return {**next(one for one in questions if one["key"] == key), **filled}


def test_a_question_says_where_to_look_and_not_what_stands_there(tool: ModuleType, wiki: Path) -> None:
    """Value, unit and quote are absent; every source of the row is named."""
    question = answer(tool, wiki, "memory_capacity")
    assert set(question) == {"key", "page", "row", "title", "url", "revision", "locator", "others"}
    assert question["others"] == [
        {"title": "Other", "url": "https://example.org/other", "revision": "2", "locator": "page 3"}
    ]
    assert "24" not in json.dumps({**question, "row": ""})


def test_only_rows_that_a_document_prints_are_drawn(tool: ModuleType, wiki: Path) -> None:
    """UNKNOWN and derived rows have no printed cell to read again."""
    drawn = tool.draw(tool.load(wiki), 1, 99)
    assert sorted(one["key"] for one in drawn) == ["memory_capacity"] * 2 + ["memory_type"] * 2


def test_the_same_seed_draws_the_same_rows(tool: ModuleType, wiki: Path) -> None:
    """A draw can be repeated, and another seed draws in another order."""
    pages = tool.load(wiki)
    assert tool.draw(pages, 7, 3) == tool.draw(pages, 7, 3)
    assert len({json.dumps(tool.draw(pages, seed, 4)) for seed in range(20)}) > 1


def test_a_draw_a_page_does_not_depend_on_the_other_pages(tool: ModuleType, wiki: Path) -> None:
    """With --per-page a page asked alone gives the rows it gives among others."""
    together = tool.draw(tool.load(wiki), 5, 1, per_page=True)
    alone = tool.draw(tool.load(wiki, ("two",)), 5, 1, per_page=True)
    assert len(together) == 2
    assert alone == together[1:]


@pytest.mark.parametrize(
    ("key", "filled", "outcome"),
    [
        ("memory_capacity", {"value": "24", "unit": "GB", "quote": "24 GB GDDR6"}, "agree"),
        ("memory_capacity", {"value": "0.024", "unit": "TB", "quote": "24 GB"}, "agree"),
        ("memory_capacity", {"value": "24", "unit": "GiB", "quote": "24 GiB"}, "differ"),
        ("memory_capacity", {"value": "24", "unit": "GB", "quote": "32 GB"}, "differ"),
        ("memory_type", {"value": "gddr6", "unit": "-", "quote": "24 GB GDDR6"}, "agree"),
        ("memory_type", {"value": "GDDR7", "unit": "-", "quote": "GDDR7"}, "differ"),
        ("memory_type", {"not_opened": "no copy found"}, "not opened"),
        ("memory_type", {}, "not opened"),
    ],
)
def test_an_answer_agrees_only_in_value_unit_and_quote(
    tool: ModuleType, wiki: Path, key: str, filled: dict[str, str], outcome: str
) -> None:
    """Equal in base units and printed in the reader's own quote is agreement; anything else is not."""
    (found,) = tool.compare(tool.load(wiki), [answer(tool, wiki, key, **filled)])
    assert found[0] == outcome


def test_a_row_changed_since_the_draw_is_not_compared(tool: ModuleType, wiki: Path) -> None:
    """The hash of the row is in the question, so an edited row never counts as agreement."""
    filled = answer(tool, wiki, "memory_type", value="GDDR6", unit="-", quote="GDDR6")
    page = wiki / "hardware" / "nvidia" / "one.md"
    page.write_text(PAGE.replace("| GDDR6 |", "| GDDR7 |"), encoding="utf-8")
    assert tool.compare(tool.load(wiki), [filled])[0][0] == "changed"


def test_the_command_line_draws_compares_and_exits_by_the_result(
    tool: ModuleType, wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 when all agree, 1 when one differs, 2 with one line on bad input."""
    root = ["--wiki", str(wiki)]
    assert tool.main([*root, "draw", "--seed", "1", "--count", "9", "--pages", "one"]) == 0
    questions = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    cells = {"memory_capacity": ("24", "GB", "24 GB"), "memory_type": ("GDDR6", "-", "GDDR6")}
    answers = [dict(zip(("value", "unit", "quote"), cells[one["key"]], strict=True), **one) for one in questions]
    file = wiki / "answers.jsonl"
    file.write_text("\n".join(json.dumps(one) for one in answers), encoding="utf-8")
    assert tool.main([*root, "compare", str(file)]) == 0
    assert "2 rows: 2 agree, 0 differ, 0 not opened, 0 changed" in capsys.readouterr().out
    file.write_text(json.dumps({**answers[0], "value": "1" if answers[0]["value"] == "24" else "GDDR5"}))
    assert tool.main([*root, "compare", str(file)]) == 1
    assert tool.main([*root, "draw", "--seed", "1", "--count", "1", "--pages", "none"]) == 2
    assert "no page none" in capsys.readouterr().err


def test_a_line_that_is_no_object_is_named(tool: ModuleType, tmp_path: Path) -> None:
    """Bad input names the file and the line."""
    file = tmp_path / "answers.jsonl"
    file.write_text('{"key": "a"}\n[1]\n', encoding="utf-8")
    with pytest.raises(BadInput, match="not a JSON object") as caught:
        tool.read_answers(file)
    assert str(caught.value.where).endswith("answers.jsonl:2")
