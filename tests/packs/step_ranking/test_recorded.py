from __future__ import annotations

import pytest

from kopt_kb.base.errors import KoptError
from kopt_kb.packs.step_ranking.recorded import read_recorded
from tests.packs.step_ranking.traces import ADD, BF16, event, kernel, launch, op, product, step_range, write


def test_a_trace_has_calls_events_threads_and_ranges(tmp_path) -> None:
    path = write(tmp_path / "t.json", step_range(3, 0, 100), *product(10, 1), *product(200, 2))
    found = read_recorded(path)
    (call,) = found.calls
    assert (call.name, call.dims, call.types) == ("aten::mm", ((8192, 8192), (8192, 8192)), (BF16, BF16))
    assert [(one.start, one.end, one.correlation) for one in found.events] == [
        (30_000, 1_030_000, 1),
        (220_000, 1_220_000, 2),
    ]
    assert [one.name for one in found.ranges] == ["ProfilerStep#3"]
    assert found.shaped == 2
    (thread,) = found.threads.values()
    assert len(thread.ops) == len(thread.launches) == 2


def test_calls_without_shapes_are_kept_by_name(tmp_path) -> None:
    path = write(tmp_path / "t.json", op("aten::add", 0, 9), launch(1, 1), kernel(ADD, 3, 2, 1))
    found = read_recorded(path)
    assert found.shaped == 0
    assert [one.dims for one in found.calls] == [()]


def test_a_duration_that_is_no_number_leaves_the_kernel_out(tmp_path) -> None:
    path = write(tmp_path / "t.json", *product(0, 1), kernel(ADD, 90, float("nan"), 2))
    found = read_recorded(path)
    assert len(found.events) == 1
    assert "1 GPU event(s) without usable times: left out" in found.log.notes


def test_a_kernel_that_ends_before_it_starts_takes_no_time_off_the_others(tmp_path) -> None:
    path = write(tmp_path / "t.json", *product(0, 1), kernel(ADD, 90, -15, 2), kernel(ADD, 1e300, 1, 3))
    found = read_recorded(path)
    assert [one.end - one.start for one in found.events] == [1_000_000]
    assert {
        "1 GPU event(s) without usable times: left out",
        "1 event(s) end before they start: left out",
    } == set(found.log.notes)


@pytest.mark.parametrize("length", [-5, "20", float("inf")], ids=["negative", "a text", "no end"])
def test_kernels_without_usable_times_are_not_called_missing(tmp_path, length) -> None:
    path = write(tmp_path / "t.json", kernel(ADD, 0, 1, 1) | {"dur": length})
    with pytest.raises(KoptError, match=r"1 GPU event\(s\) have no usable times"):
        read_recorded(path)


def test_objects_and_lists_where_words_belong_say_nothing(tmp_path) -> None:
    args = {"Input Dims": [[{"a": 1}], {}], "Collective name": ["allreduce"], "dtype": {}}
    path = write(tmp_path / "t.json", event("cpu_op", "record_param_comms", 0, 9, **args), *product(20, 1))
    call = next(iter(read_recorded(path).calls))
    assert (call.dims, call.facts[:2]) == (((None,), None), (("allreduce",), None))


def test_a_trace_of_the_host_alone_is_refused(tmp_path) -> None:
    with pytest.raises(KoptError, match="without GPU kernels"):
        read_recorded(write(tmp_path / "t.json", op("aten::add", 0, 9)))
