"""Each kind of contradiction is found, and its honest twin is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.packs.foreign_logs.audit import audit_foreign
from kopt_kb.wiki.registry import Registry

SUMMARY = "# Round {n}\nprimary_score = {score}; n_pass = {passed}\n"


@pytest.fixture
def found(tmp_path: Path, wiki_root: Path):  # type: ignore[no-untyped-def]
    """A function: files → codes of the contradictions in them."""

    def codes(**files: str) -> list[str]:
        for name, text in files.items():
            path = tmp_path / "log" / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        report = audit_foreign(tmp_path / "log", Registry.open(wiki_root))
        return [one.code for one in report.findings if one.code != "unproven"]

    return codes


@pytest.mark.parametrize(("said", "codes"), [("2.0", []), ("2.5", ["arithmetic"]), ("1.99", [])])
def test_a_speedup_is_the_quotient_of_its_times(found, said: str, codes: list[str]) -> None:  # type: ignore[no-untyped-def]
    """Within its rounding."""
    assert found(log_dot_jsonl=f'{{"round": 1, "speedup": {said}, "baseline_ms": 4.0, "candidate_ms": 2.0}}') == codes


def test_units_are_not_mixed(found) -> None:  # type: ignore[no-untyped-def]
    """Milliseconds over microseconds need no unit in common, where names say both."""
    assert found(log_dot_jsonl='{"round": 1, "speedup": 2.0, "baseline_ms": 4.0, "candidate_us": 2.0}') == []


@pytest.mark.parametrize(("share", "codes"), [("78.5", []), ("241.6", ["above-peak"])])
def test_a_share_above_the_whole(found, share: str, codes: list[str]) -> None:  # type: ignore[no-untyped-def]
    """More than 100 % of a peak is none."""
    assert found(results_dot_tsv=f"experiment\tspeedup\tpct_peak\n1\t1.1\t{share}\n") == codes


def test_accepted_though_wrong(found) -> None:  # type: ignore[no-untyped-def]
    """A kept row with a failed check; a reverted one is honest."""
    text = "| Round | status | speedup | correct |\n|---|---|---|---|\n| 1 | KEEP | 2.0 | FAIL |\n| 2 | REVERT | 1.0 | FAIL |\n"
    assert found(log_dot_md=text) == ["accepted-wrong"]


def test_a_spread_that_is_always_zero(found) -> None:  # type: ignore[no-untyped-def]
    """Two rows of 0 are no measurement."""
    assert found(a_dot_csv="label,speedup,ms_stddev\na,1.1,0.0\nb,1.2,0.0\n") == ["zero-spread"]
    assert found(a_dot_csv="label,speedup,ms_stddev\na,1.1,0.0\nb,1.2,0.1\n") == []


def test_a_mean_that_its_table_does_not_give(found) -> None:  # type: ignore[no-untyped-def]
    """1, 2 and 4 have the geometric mean 2."""
    table = "# Round 1\n| label | ratio |\n|---|---|\n| a | 1.0 |\n| b | 2.0 |\n| c | 4.0 |\n\n- score (geomean across 3 cases) = **{}**\n"
    assert found(**{"round-1__s_dot_md": table.format("2.00")}) == []
    assert found(**{"round-1__s_dot_md": table.format("2.20")}) == ["aggregate"]


def test_rounds_that_the_trend_lacks(found) -> None:  # type: ignore[no-untyped-def]
    """A table of rounds with round 1 and 3, notes of 1 and 2."""
    trend = "| Round | Status | primary_score |\n|---|---|---|\n| 1 | BASELINE | 1.00 |\n| 3 | ACCEPTED | 1.20 |\n"
    notes = {
        f"rounds__round-{n}__summary_dot_md": SUMMARY.format(n=n, score=score, passed="4/4")
        for n, score in ((1, "1.00"), (2, "1.10"))
    }
    assert found(logs__performance_trend_dot_md=trend, **notes) == ["trend-missing", "round-missing"]


def test_one_round_under_two_numbers(found) -> None:  # type: ignore[no-untyped-def]
    """Round 2 scored 1.15 in its notes, 1.04 in those of round 3; 1.2 and 1.15 are one number, rounded."""
    third = "# Round 3\nprimary_score: R2 {} → R3 1.30\n"
    second = SUMMARY.format(n=2, score="1.15", passed="4/4")
    assert found(**{"rounds__round-2__s_dot_md": second, "rounds__round-3__s_dot_md": third.format("1.04")}) == [
        "two-numbers"
    ]
    assert found(**{"rounds__round-3__s_dot_md": third.format("1.2")}) == []


def test_the_same_best_under_two_numbers(found) -> None:  # type: ignore[no-untyped-def]
    """A report's best and what was verified of it."""
    report = '{"best_round": "round_2", "best_speedup": 1.25}'
    assert found(
        final_report_dot_json=report, round_2_evaluation_dot_json='{"round": 2, "verified_speedup": 1.1004}'
    ) == ["two-numbers"]


def test_rounds_judged_on_other_cases(found) -> None:  # type: ignore[no-untyped-def]
    """30 shapes, then 20."""
    files = {
        f"rounds__round-{n}__s_dot_md": SUMMARY.format(n=n, score="1.1", passed=p)
        for n, p in ((1, "30/30"), (2, "20/20"))
    }
    assert found(**files) == ["scope-changed"]


def test_numbers_of_rounds_that_nothing_is_said_of(found) -> None:  # type: ignore[no-untyped-def]
    """1 and 4 are there."""
    assert found(log_dot_jsonl='{"round": 1, "speedup": 1.0}\n{"round": 4, "speedup": 1.1}\n') == ["rounds-unaccounted"]


def test_a_step_begins_where_the_one_before_ended(found) -> None:  # type: ignore[no-untyped-def]
    """17 → 13, then 12 → 11."""
    assert found(log_dot_md="- R1: worst gap 17.3% → 13.5%\n- R2: worst gap 13.5% → 12.9%\n") == []
    assert found(log_dot_md="- R1: worst gap 17.3% → 13.5%\n- R2: worst gap 12.1% → 11.0%\n") == ["broken-chain"]


def test_steps_multiply_to_the_total(found) -> None:  # type: ignore[no-untyped-def]
    """1.5 × 1.2 is 1.8."""
    text = '{{"round": 1, "actual_speedup": 1.5, "cumulative_speedup": 1.5}}\n{{"round": 2, "actual_speedup": 1.2, "cumulative_speedup": {}}}\n'
    assert found(log_dot_jsonl=text.format("1.8")) == []
    assert found(log_dot_jsonl=text.format("2.4")) == ["product"]


def test_rounds_of_several_campaigns_in_one_folder_are_not_compared(found) -> None:  # type: ignore[no-untyped-def]
    """Two rounds 2 that differ contradict nothing: they may be of different things."""
    files = {
        f"round-2-{name}_dot_md": SUMMARY.format(n=2, score=score, passed="4/4")
        for name, score in (("a", "1.1"), ("b", "1.3"))
    }
    assert found(**files) == ["mixed-rounds"]
