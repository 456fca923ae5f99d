"""Accounts of public reports: expected numbers by hand from their counters, and sums on every report."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from kopt_kb.analysis.gap.account import GapCase, account
from kopt_kb.analysis.gap.document import Gap
from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.analysis.rules.product import product_of
from kopt_kb.problem.work import Work, work
from kopt_kb.wiki.registry import Registry

pytestmark = pytest.mark.corpus
REGISTRY = Registry.open()


def _first(report: Path, asked: Work | None = None) -> Gap:
    profile = next(iter(read_profiles(report)))
    return account(GapCase.of_profile(profile, product_of(profile, REGISTRY), asked))


def _time_pct(gap: Gap, words: str) -> float:
    return sum(one.time_pct for one in gap.parts if one.words == words)


def test_an_addition_on_a_t4_is_short_and_pays_for_its_launch(profile_corpus: Path) -> None:
    """13.80 MB in 52.58 us of 320 GB/s; memory busy 88.39 % of it; 27433 of 30730 cycles with work."""
    pytest.importorskip("ncu_report")
    gap = _first(profile_corpus / "ncu-rep" / "t4_matadd.ncu-rep")
    assert gap.of_roof_pct == pytest.approx(82.03, abs=0.05)
    assert _time_pct(gap, "roof out of reach") == pytest.approx(88.39 - 82.03, abs=0.05)
    assert _time_pct(gap, "launch") == pytest.approx(100 * (1 - 27433 / 30730), abs=0.05)
    assert gap.unexplained_pct is not None
    assert gap.unexplained_pct < 2


def test_a_norm_on_an_h100_moves_a_third_more_bytes_than_its_shape_needs(profile_corpus: Path) -> None:
    """720.2 MB for 8192x8192 floats read and written once: 1.341 times as many, 17.1 % of the time."""
    pytest.importorskip("ncu_report")
    gap = _first(profile_corpus / "ncu-rep" / "h100_rmsnorm.ncu-rep", work("rms_norm", "8192x8192", "fp32"))
    assert gap.of_roof_pct == pytest.approx(50.0, abs=0.1)
    assert _time_pct(gap, "extra bytes (dram)") == pytest.approx(17.1, abs=0.1)
    assert _time_pct(gap, "exposed latency") == pytest.approx(22.5, abs=0.2)


def test_a_naive_transpose_waits_for_l2(profile_corpus: Path) -> None:
    """L2 is busy 91.3 % of the time of a kernel that uses a fifth of device memory."""
    pytest.importorskip("ncu_report")
    gap = _first(profile_corpus / "ncu-rep" / "rtx4090_transpose.ncu-rep")
    assert _time_pct(gap, "extra bytes (l2)") == pytest.approx(91.26 - 19.72, abs=0.1)


def test_sixty_four_blocks_on_148_sms_are_a_grid_too_small(profile_corpus: Path) -> None:
    """The report holds no bytes and no operations: the roof is the matrix pipe by counters, 57 % of the SMs idle."""
    gap = _first(profile_corpus / "ncu-csv" / "b200_algo64_raw.csv")
    assert (gap.basis, gap.roof) == ("counters", "compute")
    assert max(gap.parts, key=lambda one: one.seconds).words == "tail wave"


def test_a_copy_on_an_mi300x_is_as_far_as_fabric_and_waves_tell(profile_corpus: Path) -> None:
    """AMD's counters: 46.8 % of the documented bandwidth; 1.68 waves and waiting waves are upper bounds."""
    gap = _first(profile_corpus / "rocprof-compute" / "vcopy_mi300x_rocpd")
    assert gap.of_roof_pct == pytest.approx(46.8, abs=0.1)
    certainties = {one.words: one.certainty for one in gap.parts}
    assert certainties["exposed latency"] == "at most"


def test_every_report_gets_an_account_that_sums_to_its_gap(profile_corpus: Path) -> None:
    """CSV, text and folders of both vendors: 100 % in parts wherever a roof is known."""
    reports = [one for kind in ("ncu-csv", "ncu-text", "rocprofv3-csv", "rocpd", "rocprof-compute")
               for one in sorted((profile_corpus / kind).iterdir())
               if "expected" not in one.name and "session" not in one.name]  # fmt: skip
    seen = 0
    for report in reports:
        for number, profile in enumerate(read_profiles(report)):
            if number == 20:
                break
            gap = account(GapCase.of_profile(profile, product_of(profile, REGISTRY)))
            if gap.parts:
                assert math.isclose(sum(one.share_pct for one in gap.parts), 100.0, rel_tol=1e-9)
                seen += 1
            else:
                assert gap.notes
    assert seen
