"""Tests of tuning spaces: places, neighbours, coordinates."""

from __future__ import annotations

from kopt_kb.launch.search.space import Space

KNOBS = {"block": [32, 64, 128], "stages": [1, 2], "order": ["row", "column"], "fixed": [7]}


def test_a_space_holds_what_its_constraint_allows() -> None:
    space = Space.of(KNOBS, lambda config: config["block"] != 128 or config["stages"] == 1)
    assert len(space) == 10
    assert {config["stages"] for config in map(space.config, range(10)) if config["block"] == 128} == {1}


def test_a_configuration_and_its_place_are_found_from_each_other() -> None:
    space = Space.of(KNOBS)
    assert [space.find(space.config(at)) for at in range(len(space))] == list(range(12))
    assert space.find({"block": 33, "stages": 1, "order": "row", "fixed": 7}) is None
    assert space.find({"block": 32}) is None


def test_neighbours_differ_in_one_knob_and_are_allowed() -> None:
    space = Space.of(KNOBS, lambda config: config["block"] != 128 or config["stages"] == 1)
    at = space.find({"block": 64, "stages": 2, "order": "row", "fixed": 7})
    assert at is not None
    assert [space.config(near) for near in space.neighbours(at)] == [
        {"block": 32, "stages": 2, "order": "row", "fixed": 7},
        {"block": 64, "stages": 1, "order": "row", "fixed": 7},
        {"block": 64, "stages": 2, "order": "column", "fixed": 7},
    ]


def test_coordinates_rank_numbers_and_part_words() -> None:
    space = Space.of({"block": [128, 32, 64], "order": ["row", "column"], "fixed": [7]})
    at = space.find({"block": 128, "order": "column", "fixed": 7})
    assert space.features.shape == (6, 3)
    assert space.features[at].tolist() == [1.0, 0.0, 1.0]
    assert Space.of({"fixed": [7]}).features.shape == (1, 1)
    assert Space.of({"empty": []}).features.shape == (0, 1)


def test_a_space_too_large_to_hold_is_sampled_from_its_seed() -> None:
    knobs = {f"knob{number}": list(range(10)) for number in range(6)}
    space = Space.of(knobs, lambda config: config["knob0"] == 3, seed=1)
    assert 5_000 < len(space) < 7_500
    assert len({tuple(row) for row in space.places.tolist()}) == len(space)
    assert space.places.tolist() == Space.of(knobs, lambda config: config["knob0"] == 3, seed=1).places.tolist()
