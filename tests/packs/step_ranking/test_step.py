from __future__ import annotations

import json

import pytest

from kopt_kb.base.errors import KoptError
from kopt_kb.packs.step_ranking.step import step_report
from tests.packs.step_ranking.traces import ADD, H100, kernel, launch, op, product, step_range, write


def test_a_step_has_shares_idle_time_and_launches(tmp_path, registry) -> None:
    path = write(tmp_path / "t.json", step_range(1, 0, 5000), *product(0, 1, 1000), *product(3000, 2, 1000))
    found = step_report(path, registry)
    assert (found.device, found.platform, found.step, found.steps) == (H100, "H100_SXM", "ProfilerStep#1", 1)
    assert (found.host_s, found.kernel_s, found.covered, found.launches) == (0.005, 0.002, 1, 2)
    assert found.launch_s == pytest.approx(4e-6)
    assert found.graph_won_s == pytest.approx(1.992e-3)
    assert [one.category for one in found.categories] == ["products"]
    (timeline,) = found.timelines
    assert (timeline.gaps, timeline.launches) == (1, 2)


def test_the_timeline_is_that_of_the_step_alone(tmp_path, registry) -> None:
    steps = [step_range(one, 10_000 * one, 9000) for one in range(3)]
    works = [one for at in range(3) for one in product(10_000 * at + 5, at, 1000 + at)]
    (timeline,) = step_report(write(tmp_path / "t.json", *steps, *works), registry).timelines
    assert timeline.span_s == pytest.approx(1.001e-3)


def test_a_trace_without_shapes_says_how_to_record_them(tmp_path, registry) -> None:
    path = write(tmp_path / "t.json", op("aten::add", 0, 9), launch(1, 1), kernel(ADD, 3, 2, 1), device="nobody's")
    found = step_report(path, registry)
    assert found.roofed_s == 0
    assert ["record_shapes=True" in one or "--platform" in one for one in found.notes] == [True, True]


def test_graphs_caches_and_repeated_numbers_are_said(tmp_path, registry) -> None:
    small = [op("aten::add", 100, 20, [[1 << 22]], ["float"]), launch(105, 1), kernel(ADD, 110, 1, 1)]
    graph = [launch(200, 3, "cudaGraphLaunch"), kernel("a", 210, 9, 3), kernel("b", 220, 9, 3)]
    path = write(tmp_path / "t.json", *product(0, 1), *small, *graph)
    notes = " | ".join(step_report(path, registry).notes)
    assert "2 kernels were launched by graphs" in notes
    assert "beat their roof" in notes
    assert "1 correlation numbers are on several calls" in notes


def test_only_bytes_are_said_to_come_from_a_cache(tmp_path, registry) -> None:
    path = write(tmp_path / "t.json", *product(0, 1, 1))
    (note,) = step_report(path, registry).notes
    assert "beat their roof" in note and "no cache explains it" in note


def test_a_step_on_two_products_says_whose_roofs_it_has(tmp_path, registry) -> None:
    path = write(tmp_path / "t.json", *product(0, 1), kernel(ADD, 20, 9) | {"args": {"device": 1, "stream": 1}})
    trace = json.loads(path.read_text())
    trace["deviceProperties"].append({"id": 1, "name": "NVIDIA A100-SXM4-80GB"})
    path.write_text(json.dumps(trace))
    assert any("roofs are those of H100_SXM for all" in one for one in step_report(path, registry).notes)


def test_other_reports_and_products_are_refused(tmp_path, registry) -> None:
    other = tmp_path / "r.csv"
    other.write_text("no report at all")
    with pytest.raises(KoptError, match="no profiler report"):
        step_report(other, registry)
    path = write(tmp_path / "t.json", *product(0, 1))
    with pytest.raises(KoptError, match="contradicts"):
        step_report(path, registry, registry.platform("A100_SXM_80GB"))
    cut = tmp_path / "cut.json"
    cut.write_text(path.read_text()[:-40])
    with pytest.raises(KoptError, match="cut"):
        step_report(cut, registry)


def test_copies_alone_are_a_step_too(tmp_path, registry) -> None:
    path = write(tmp_path / "t.json", kernel("Memset (Device)", 0, 9, category="gpu_memset", bytes=1 << 20))
    found = step_report(path, registry, registry.platform("H100_SXM"))
    assert (found.kernel_s, found.covered, len(found.ranked)) == (0, 0, 1)
