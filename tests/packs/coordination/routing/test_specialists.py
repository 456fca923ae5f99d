"""The table of specialists is whole."""

from __future__ import annotations

from typing import get_args

from kopt_kb.packs.coordination.routing.specialists import CATEGORIES, SPECIALISTS, TaskCategory


def test_every_category_has_somebody() -> None:
    """All names of the table exist, and everybody is asked by some category."""
    assert set(CATEGORIES) == set(get_args(TaskCategory))
    assert {name for names in CATEGORIES.values() for name in names} == set(SPECIALISTS)


def test_who_is_not_there_has_no_command() -> None:
    """And whoever is there has one."""
    assert all(bool(one.command) == (one.availability != "not_available") for one in SPECIALISTS.values())
