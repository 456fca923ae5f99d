"""Names of a language."""

from __future__ import annotations

from kopt_kb.doors.language import Language, plain_name


def test_case_spaces_and_dashes_do_not_matter() -> None:
    assert {plain_name(name) for name in ("My DSL", "my-dsl", "MYDSL")} == {"mydsl"}
    assert Language("My DSL", "", spellings=("mine",)).names == {"mydsl", "mine"}
