from __future__ import annotations

import re

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.step_ranking.chosen import choose_step
from kopt_kb.packs.step_ranking.joined import join
from kopt_kb.packs.step_ranking.recorded import read_recorded
from tests.packs.step_ranking.traces import ADD, event, kernel, launch, product, step_range, write


def _chosen(tmp_path, *events, wanted=None):
    recorded = read_recorded(write(tmp_path / "t.json", *events))
    return choose_step(recorded, join(recorded), None if wanted is None else re.compile(wanted))


def test_the_step_of_median_time_is_taken_and_empty_ones_are_not(tmp_path) -> None:
    steps = [step_range(one, 1000 * one, 1000) for one in range(5)]
    works = [one for at, length in ((0, 90), (1, 10), (2, 50)) for one in product(1000 * at + 5, at, length)]
    found = _chosen(tmp_path, *steps, *works)
    assert (found.name, found.found, found.length, found.events) == ("ProfilerStep#2", 3, 1_000_000, (2,))


def test_work_belongs_to_the_step_that_launched_it(tmp_path) -> None:
    late = [launch(10, 1), kernel(ADD, 5000, 9, 1)]
    assert _chosen(tmp_path, step_range(1, 0, 100), *late).events == (0,)


def test_work_launched_before_the_recording_began_is_in_no_step(tmp_path) -> None:
    found = _chosen(tmp_path, step_range(1, 0, 100), kernel(ADD, 5, 4, 99), launch(10, 1), kernel(ADD, 20, 9, 1))
    assert found.events == (1,)


def test_ranges_that_the_program_marked_are_steps(tmp_path) -> None:
    marked = [event("user_annotation", f"decode {at}", 1000 * at, 900) for at in range(3)]
    inner = [event("user_annotation", "nccl:all_reduce", 0, 3000)]
    works = [one for at in range(3) for one in product(1000 * at + 5, at, 10 + at)]
    found = _chosen(tmp_path, *marked, *inner, *works)
    assert (found.name, found.found) == ("decode 1", 3)


def test_the_user_names_the_range(tmp_path) -> None:
    marked = [event("user_annotation", "forward", 0, 90), event("user_annotation", "backward", 100, 90)]
    events = [*marked, *product(5, 1), *product(105, 2)]
    assert _chosen(tmp_path, *events, wanted="back").events == (1,)
    with pytest.raises(BadInput, match="forward, backward"):
        _chosen(tmp_path, *events, wanted="optimizer")


def test_the_order_of_kernels_shows_steps_that_nothing_marks(tmp_path) -> None:
    names = ["once a step", *(f"layer {one % 3}" for one in range(9))] * 4
    found = _chosen(tmp_path, *(kernel(name, 10 * at, 5) for at, name in enumerate(names)))
    assert (found.found, len(found.events)) == (3, 10)
    assert found.how == "the order of kernels repeats itself"


def test_without_any_mark_all_is_one_step(tmp_path) -> None:
    found = _chosen(tmp_path, *product(0, 1), *product(2000, 2))
    assert (found.name, found.found, found.events) == ("the whole trace", 1, (0, 1))


def test_steps_without_work_are_refused(tmp_path) -> None:
    with pytest.raises(BadInput, match="no step has work of a GPU"):
        _chosen(tmp_path, step_range(1, 0, 10), *product(100, 1))
