"""A log's audit as `kb audit` asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.main import main
from kopt_kb.packs.foreign_logs.command import audit_log, is_log, meanings, render_log
from kopt_kb.wiki.registry import Registry


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """One claim that lacks nearly everything."""
    path = tmp_path / "results.tsv"
    path.write_text("experiment\tspeedup\tcorrectness\n1\t1.2\tPASS\n")
    return path


def test_a_report_and_its_text(log: Path, wiki_root: Path) -> None:
    """A line for the claim, and the sum; each code of a finding has a meaning."""
    assert is_log(log)
    report = audit_log(str(log), Registry.open(wiki_root), {})
    assert report.campaigns is None
    assert "results.tsv:2" in render_log(report)
    assert {one.code for one in report.findings} <= meanings().keys()


def test_campaigns_are_written_where_it_is_asked_for(log: Path, wiki_root: Path, tmp_path: Path) -> None:
    """Into a new folder alone; asking for it asks for the rules."""
    registry = Registry.open(wiki_root)
    report = audit_log(str(log), registry, {"import-to": str(tmp_path / "new")})
    assert report.campaigns is not None
    assert (tmp_path / "new").is_dir()
    with pytest.raises(BadInput, match="new folder"):
        audit_log(str(log), registry, {"import-to": str(tmp_path / "new")})


def test_a_log_of_others(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line a claim, then what contradicts what, then the sum; exit 1."""
    log = tmp_path / "results.tsv"
    log.write_text("experiment\tspeedup\tpct_peak\tcorrectness\n1\t1.2\t140\tPASS\n")
    assert main(["audit", str(log), "--wiki", str(wiki_root)]) == 1
    out = capsys.readouterr().out
    assert "results.tsv:2 round 1" in out
    assert "results.tsv:2: round 1: pct_peak 140 is above the peak that it is a share of" in out
    assert "1 claim(s), of which with correctness 1, timing 0, noise 0, roof 0, snapshot 0" in out


def test_options_of_the_one_kind_are_refused_for_the_other(
    wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line."""
    log = tmp_path / "results.tsv"
    log.write_text("experiment\tspeedup\n1\t1.2\n")
    assert main(["audit", str(log), "--anchor", str(log), "--wiki", str(wiki_root)]) == 2
    assert main(["audit", str(tmp_path / "none"), "--rev", "main", "--wiki", str(wiki_root)]) == 2
    assert main(["audit", str(log), "--rev", "main", "--wiki", str(wiki_root)]) == 2
    err = capsys.readouterr().err
    assert (
        "--anchor, --replay, --recompile and --require are for workspaces" in err,
        "is no git repository" in err,
    ) == (True, True)


def test_the_terminal_obeys_no_log(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters of others are shown as escapes."""
    log = tmp_path / "log.jsonl"
    log.write_text('{"round": 1, "speedup": "1.2", "task": "a\\u001b[31m"}\n')
    assert main(["audit", str(log), "--wiki", str(wiki_root)]) == 1
    assert "\x1b" not in capsys.readouterr().out
