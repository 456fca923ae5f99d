"""CSV pages and console text of real runs."""

from __future__ import annotations

import json

import pytest

from kopt_kb.analysis.profile import sol_class, stored_sol_class
from kopt_kb.analysis.readers import ReportError, read_profiles
from kopt_kb.analysis.readers.common.units import base_unit
from kopt_kb.analysis.readers.nvidia.ncu_labels import metric_name

pytestmark = pytest.mark.corpus

PAGES = (
    "b200_algo64_raw", "b200_algo64_details", "rtx4090_readoffset_ca", "rtx4090_reduce", "t4_copy_blocked_details"
)  # fmt: skip


def launches(profiles):
    return {one.id: one for profile in profiles for one in profile.launches}


@pytest.mark.parametrize("page", PAGES)
def test_every_expected_number_is_equal(profile_corpus, page):
    """Each metric of an independent reader, in base units."""
    file = profile_corpus / "ncu-csv" / f"{page}.csv"
    expected = json.loads((file.parent / f"{file.name}.expected.json").read_text())["kernels"]
    found = launches(read_profiles(file))
    assert len(found) == len(expected)
    for kernel in expected:
        launch = found[str(kernel["id"])]
        assert launch.name == kernel["kernel"]
        assert launch.target == "sm_" + kernel["cc"].replace(".", "")
        for key, metric in kernel["metrics"].items():
            section, _, label = key.partition("/") if not key.startswith("Command") else ("", "", key)
            name = metric_name(section, label or key, metric["unit"])
            if metric["value"] is None:
                continue
            base = base_unit(metric["base_unit"])
            assert launch.raw[name].value == pytest.approx(base.apply(metric["value"]), rel=1e-12), key
            assert launch.raw[name].unit == base.unit


def test_offset_reads_show_in_bytes_a_request(profile_corpus):
    """4, 5 and 4 sectors a request are 128, 160 and 128 bytes."""
    (profile,) = read_profiles(profile_corpus / "ncu-csv" / "rtx4090_readoffset_ca.csv")
    per_request = [one.metrics["global_load_bytes_per_request"] for one in profile.launches]
    assert per_request == pytest.approx([128.0, 160.0, 128.0], abs=0.5)
    assert [one.metrics["global_load_useful_bytes_per_sector"] for one in profile.launches][1] == pytest.approx(25.6)


def test_stored_verdicts_of_pages_are_equal(profile_corpus):
    """Details pages show the same class the metrics give."""
    for page in ("b200_algo64_details", "t4_copy_blocked_details"):
        for profile in read_profiles(profile_corpus / "ncu-csv" / f"{page}.csv"):
            assert stored_sol_class(profile) == profile.sol_class is not None


def test_console_text_of_seventeen_launches(profile_corpus):
    """Every launch has a time and the stored verdict of its own text."""
    found = launches(read_profiles(profile_corpus / "ncu-text" / "a100_lecture_stdout.txt"))
    assert len(found) == 17
    assert all(stored_sol_class(one) == sol_class(one) is not None for one in found.values())
    assert found["1"].duration_s == pytest.approx(10.85e-6)


def test_the_session_page_is_refused(profile_corpus):
    """It has the command line and host of its author, and no metric; neither is repeated."""
    with pytest.raises(ReportError, match="session page") as caught:
        list(read_profiles(profile_corpus / "ncu-csv" / "b200_algo64_session.csv"))
    assert "b200-1" not in str(caught.value)
