"""Every conflict is shown with both sides and their reasons."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.wiki.conflicts import wiki_conflicts
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.wiki import Wiki


def test_both_sides_with_reasons(wiki_root: Path) -> None:
    """The invented bandwidth, once for each of the two products."""
    found = wiki_conflicts(Wiki(wiki_root))
    assert [(one.platform, one.key) for one in found] == [("T10", "memory_bandwidth"), ("T10_PRO", "memory_bandwidth")]
    body = found[0].to_json()
    assert (body["chosen"]["value"], body["chosen"]["why"]) == (2.0, "the sheet of the shipped part")
    assert [(row["value"], row["why"]) for row in body["rejected"]] == [(2.2, "a blog before launch")]


def test_conflicts_of_a_target_are_shown_once(wiki_root: Path) -> None:
    """Both products share the target page."""
    page = wiki_root / "targets/sm_00.md"
    line = '| warp_size | 32 | count | - | vendor | [^guide] table 1 row warp quote="32" | |'
    chosen = line.replace("| |", "| chosen: the guide |")
    rejected = line.replace("32", "64").replace("| |", "| rejected: another family |")
    page.write_text(page.read_text().replace(line, f"{chosen}\n{rejected}"))
    found = [one for one in wiki_conflicts(Wiki(wiki_root)) if one.key == "warp_size"]
    assert [(one.platform, one.chosen.value if one.chosen else "", len(one.rejected)) for one in found] == [
        ("sm_00", "32", 1)
    ]


@pytest.mark.core
def test_every_rejected_row_of_the_shipped_wiki_has_a_reason() -> None:
    """And every conflict with a chosen row says why it is chosen."""
    found = wiki_conflicts(Wiki(default_root()))
    assert len(found) > 20
    assert all(row.note("rejected") for one in found for row in one.rejected)
    assert all(one.chosen is None or one.chosen.note("chosen") for one in found)
