"""The list of operations is closed, and each definition is complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.problem.ops import ALIASES, FAMILIES, OPS, UnknownOp, definition, op_id


@pytest.mark.parametrize("name", OPS)
def test_a_definition_carries_its_texts_and_its_id(name):
    """What is computed, what counts, which bytes."""
    found = definition(name)
    assert found.id == name
    assert all(found.definitions().values())
    assert found.form


def test_every_module_is_listed_and_every_listed_one_exists(repo_root):
    """One file an operation, or a family of them."""
    files = {path.stem for path in Path(repo_root, "kopt_kb/problem/ops").glob("*.py")}
    kin = {one for names in FAMILIES.values() for one in names}
    assert files - {"__init__", "definition"} == set(OPS) - kin | set(FAMILIES)


@pytest.mark.parametrize(("alias", "name"), [*ALIASES.items(), ("RMS-Norm", "rms_norm"), (" gemm ", "gemm")])
def test_aliases_case_and_hyphens_are_accepted(alias, name):
    """One id everywhere after this point."""
    assert op_id(alias) == name


@pytest.mark.parametrize(("wrong", "near"), [("sofmax", "softmax"), ("atention", "attention"), ("gem", "gemm")])
def test_a_misspelt_name_gets_a_suggestion(wrong, near):
    """Not a default."""
    with pytest.raises(UnknownOp, match=f"did you mean.*{near}"):
        op_id(wrong)


def test_a_name_near_to_nothing_gets_the_list():
    """All ten."""
    with pytest.raises(UnknownOp, match=", ".join(OPS)):
        op_id("zzz")
