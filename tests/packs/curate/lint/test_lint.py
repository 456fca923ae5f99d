"""The lint of files: where findings stand, what silences them, and that this repository is clean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.packs.curate.lint.judge import TextFinding
from kopt_kb.packs.curate.lint.lint import Linter, lint
from kopt_kb.wiki.registry import Registry

Found = Callable[..., list[TextFinding]]
WRONG = "H20: peak memory bandwidth 4.8 TB/s"


def test_line_and_column(found: Found) -> None:
    """Counted from 1, in prose, tables, code and fences."""
    text = f"# a\n\n{WRONG}\n\n```yaml\nH20:\n  hbm_gbps: 4800\n```\n\n| GPU | HBM bandwidth |\n|---|---|\n| H20 | 4.8 TB/s |\n"
    assert [(one.line, one.column) for one in found(text)] == [(3, 28), (7, 13), (12, 9)]
    assert [(one.line, one.column) for one in found(f"x = 1  # {WRONG}", "a.py")] == [(1, 37)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (WRONG, 1),
        (f"{WRONG} <!-- kb-lint: ignore -->", 0),
        (f"{WRONG} <!-- kb-lint: ignore other-product -->", 0),
        (f"{WRONG} <!-- kb-lint: ignore per-die -->", 1),
        (f"<!-- kb-lint: ignore-next-line -->\n{WRONG}", 0),
        (f"<!-- kb-lint: ignore-next-line -->\n\n{WRONG}", 1),
        (f"<!-- kb-lint: ignore-file -->\n\n{WRONG}", 0),
    ],
)
def test_comments_silence(found: Found, text: str, count: int) -> None:
    """A line, the next, one class, or the file."""
    assert len([one for one in found(text) if one.level == "error"]) == count


def test_levels(tmp_path: Path) -> None:
    """Each shows what is worse as well."""
    (tmp_path / "a.md").write_text(f"{WRONG}\n\nMI300X: roughly 5.3 TB/s HBM\n\nH200: HBM 4.8 TB/s\n")
    counts = [len(lint(Registry.open(), [tmp_path], level).findings) for level in ("error", "warning", "note")]
    assert counts == [1, 2, 3]


def test_this_repository_contradicts_nothing(repo_root: Path) -> None:
    """Documents, code and pages agree with the wiki."""
    folders = [
        repo_root / name for name in ("README.md", "docs", "gpuwiki", "kopt_kb", "analysis", "kernels", "benchmarks")
    ]
    found = lint(Registry.open(), folders, "error")
    assert [f"{one.path}:{one.line}: {one.message}" for one in found.findings] == []
    assert found.files > 300


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="H100 MI300X|-:#`~{}[]()\"'=,.\n0123456789TBGs/FLOPSpeakhbm\t", max_size=200))
def test_any_text_is_read(linter: Linter, text: str) -> None:
    """No text raises, in any of the three readings."""
    for name in ("a.md", "a.py", "a.json"):
        linter.findings(name, text)
