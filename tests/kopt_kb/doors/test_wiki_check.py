"""The door for what `kb wiki check` asks besides."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.doors import table
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.wiki_check import WikiCheck
from kopt_kb.wiki.check import check_page, check_wiki
from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.wiki import Wiki


def test_a_strangers_check_is_asked_of_pages_and_of_the_wiki(
    wiki_root: Path, product: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one page alone what is about that page."""
    each = WikiCheck("each", "x", product=lambda one, sheet: [Fault("WK401", one.path, 0, f"{len(sheet.rows)} rows")])
    whole = WikiCheck("whole", "x", wiki=lambda wiki: [Fault("WK406", "targets/sm_00.md", 1, wiki.root.name)])
    pack = Pack("strange", "a test's pack", wiki_checks=(each, whole))
    monkeypatch.setattr(table, "packs", lambda: table.Packs({"strange": pack}, ()))
    report = check_wiki(Wiki(wiki_root, use_cache=False))
    assert [one.path for one in report.faults if one.code == "WK401"] == [
        "hardware/nvidia/t10.md", "hardware/nvidia/t10_pro.md",
    ]  # fmt: skip
    assert [one.message for one in report.faults if one.code == "WK406"] == [wiki_root.name]
    page = check_page(Wiki(wiki_root, use_cache=False), product)
    assert {one.path for one in page.faults} == {"hardware/nvidia/t10.md"}
