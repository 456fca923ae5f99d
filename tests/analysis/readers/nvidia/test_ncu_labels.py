"""Labels of the details page."""

from __future__ import annotations

import csv

import pytest

from kopt_kb.analysis.profile import SOL_RULE_TITLES
from kopt_kb.analysis.readers.common.units import base_unit
from kopt_kb.analysis.readers.nvidia.ncu_labels import metric_name, sol_title


def test_one_label_of_two_sections_is_told_apart_by_its_unit():
    """Memory Throughput is a share of peak in one section and a rate in another."""
    share = metric_name("GPU Speed Of Light Throughput", "Memory Throughput", "%")
    rate = metric_name("Memory Workload Analysis", "Memory Throughput", "Gbyte/second")
    assert share == "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
    assert rate == "dram__bytes.sum.per_second"


def test_real_names_stay_and_unknown_labels_keep_their_section():
    """Nothing is mapped by similarity."""
    assert metric_name("Command line profiler metrics", "inst_executed", "") == "inst_executed"
    assert metric_name("New Section", "Fancy Number", "") == "New Section/Fancy Number"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("This kernel grid is too small to fill the available resources", "Small Grid"),
        ("This workload exhibits low compute throughput and memory bandwidth utilization", "Latency Issue"),
        ("Memory is more heavily utilized than Compute: Look at", "High Memory Throughput"),
        ("Compute is more heavily utilized than Memory: Look at", "High Compute Throughput"),
        ("Compute and Memory are well-balanced: To reduce runtime", "Balanced Throughput"),
        ("The kernel is utilizing greater than 80.0% of the available", "High Throughput"),
        ("Check the scheduler", ""),
    ],
)
def test_a_verdict_is_known_by_the_words_of_its_text(text, title):
    """Pages without titles still show the stored verdict."""
    assert sol_title(text) == title
    assert title == "" or title in SOL_RULE_TITLES


@pytest.mark.corpus
def test_every_label_shows_the_value_of_its_metric(profile_corpus):
    """Details and raw page of one run agree label by label, to the two decimals of the details page."""
    with (profile_corpus / "ncu-csv" / "b200_algo64_raw.csv").open(newline="") as stream:
        names, units, values = list(csv.reader(stream))[:3]
    raw = dict(zip(names, zip(units, values, strict=True), strict=True))
    checked = 0
    with (profile_corpus / "ncu-csv" / "b200_algo64_details.csv").open(newline="") as stream:
        for cells in csv.reader(stream):
            if cells[0] == "ID" or not cells[12]:
                continue
            unit, value = raw[metric_name(cells[11], cells[12], cells[13])]
            try:
                printed, exact = base_unit(cells[13]).apply(float(cells[14])), base_unit(unit).apply(float(value))
            except ValueError:
                assert cells[14] == value
                continue
            assert printed == pytest.approx(exact, rel=0.006, abs=0.006)
            checked += 1
    assert checked > 40
