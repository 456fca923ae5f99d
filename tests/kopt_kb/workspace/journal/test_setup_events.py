"""The data of workspace events holds what the journal contract lists."""

from __future__ import annotations

import pytest

from kopt_kb.base.wire import WireError
from kopt_kb.workspace.journal import setup_events
from kopt_kb.workspace.journal.events import checked_data


def test_a_registered_row_keeps_its_exact_value_and_citation(samples):
    """The SI value stays text, so no digit is lost."""
    (row,) = checked_data("specs_registered", samples["specs_registered"]).rows
    assert (row.si, row.citation.line) == ("1500000000000", 23)


@pytest.mark.parametrize(("field", "value"), [("value", "about 4"), ("factor", ""), ("op", "=="), ("basis", " ")])
def test_a_target_without_exact_limit_factor_comparison_and_basis_is_refused(samples, field, value):
    """The place names the target and the field."""
    data = samples["target_set"]
    data["targets"][0][field] = value
    with pytest.raises(WireError) as caught:
        checked_data("target_set", data)
    assert caught.value.where == f"target_set.targets[0].{field}"


@pytest.mark.parametrize("field", ["reason", "by"])
def test_targets_need_a_reason_and_an_author(samples, field):
    """Blank text is not enough."""
    samples["target_set"][field] = " "
    with pytest.raises(WireError, match=field):
        checked_data("target_set", samples["target_set"])


def test_every_class_of_data_says_its_kind():
    """Kinds are the class names in lower case with underscores."""
    for name in setup_events.__all__:
        kind = getattr(getattr(setup_events, name), "kind", None)
        assert not isinstance(kind, str) or kind.replace("_", "") == name.lower()


def test_a_workspace_without_a_kernel_has_null(samples):
    """The blob of a kernel, or null; never a word or nothing at all."""
    data = samples["workspace_created"]
    assert checked_data("workspace_created", {**data, "kernel": None}).kernel is None
    for wrong in ("", "none"):
        with pytest.raises(WireError, match="kernel"):
            checked_data("workspace_created", {**data, "kernel": wrong})
    with pytest.raises(WireError, match="kernel"):
        checked_data("workspace_created", {name: value for name, value in data.items() if name != "kernel"})
