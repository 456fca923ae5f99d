from __future__ import annotations

from kopt_kb.packs.step_ranking.joined import join
from kopt_kb.packs.step_ranking.recorded import read_recorded
from tests.packs.step_ranking.traces import ADD, kernel, launch, op, write


def _names(recorded, joined):
    calls = list(recorded.calls)
    return [[calls[joined.calls[one]].name for one in joined.chain(op)] for op in joined.ops]


def _joined(tmp_path, *events):
    recorded = read_recorded(write(tmp_path / "t.json", *events))
    return recorded, join(recorded)


def test_a_kernel_belongs_to_the_operators_around_its_launch(tmp_path) -> None:
    events = [
        op("aten::linear", 0, 100), op("aten::addmm", 10, 50), launch(20, 1), op("aten::add_", 70, 20), launch(75, 2),
        launch(150, 3), kernel("a", 30, 5, 1), kernel("b", 80, 5, 2), kernel("c", 160, 5, 3),
    ]  # fmt: skip
    assert _names(*_joined(tmp_path, *events)) == [["aten::addmm", "aten::linear"], ["aten::add_", "aten::linear"], []]


def test_threads_do_not_mix(tmp_path) -> None:
    events = [op("aten::mm", 0, 100, tid=1), launch(20, 1, tid=2), kernel("a", 30, 5, 1)]
    assert _names(*_joined(tmp_path, *events)) == [[]]


def test_without_its_call_an_event_is_joined_by_the_external_id(tmp_path) -> None:
    events = [op("aten::mm", 0, 100, external=7), kernel("a", 30, 5, 1, **{"External id": 7})]
    assert _names(*_joined(tmp_path, *events)) == [["aten::mm"]]


def test_of_calls_with_one_number_the_latest_before_the_event_counts(tmp_path) -> None:
    events = [
        op("aten::mm", 0, 20), launch(5, 1), kernel(ADD, 10, 5, 1),
        op("aten::add", 100, 20), launch(105, 1), kernel(ADD, 110, 5, 1), kernel(ADD, 2, 1, 1),
    ]  # fmt: skip
    recorded, joined = _joined(tmp_path, *events)
    assert _names(recorded, joined) == [["aten::mm"], ["aten::add"], []]
    assert joined.repeated == 1
