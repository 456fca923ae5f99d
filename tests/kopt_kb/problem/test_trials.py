"""Declared inputs are plain data: found by name, counted by runs."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.ops import FAMILIES, OPS, definition
from kopt_kb.problem.trials import GENERIC, RANDOM, Edit, Trial, trial_named


def test_names_lead_to_trials() -> None:
    """An unknown name lists those there are."""
    assert trial_named(GENERIC, "random") is RANDOM
    with pytest.raises(BadInput, match="equal elements") as caught:
        trial_named(GENERIC, "nonsense")
    assert caught.value.error_code == "KB102"


def test_a_relation_takes_two_runs() -> None:
    """Others take one."""
    assert Trial("a", "b").parts == 1
    assert Trial("a", "b", then=(Edit("scale", value=2.0),)).parts == 2


@pytest.mark.parametrize("op", [one for one in OPS if one != "grouped_gemm"])
def test_every_packaged_operation_declares_its_own(op: str) -> None:
    """At least five besides what is drawn where there is a kernel, else two; one of them with a relation."""
    trials = definition(op).trials
    has_kernel = all(op not in names for names in FAMILIES.values())
    assert trials is not GENERIC
    assert len(trials) >= (6 if has_kernel else 3)
    assert any(one.parts == 2 for one in trials)
