"""What the pack foreign_logs brings."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.packs.foreign_logs.pack import PACK


def test_one_form_that_takes_any_path(tmp_path: Path) -> None:
    """What claims nothing is refused when it is read."""
    (form,) = PACK.audit_forms
    assert form.recognises(tmp_path)
    assert not form.recognises(tmp_path / "gone")
    assert {"unproven", "above-roof"} <= form.codes().keys()
    assert [option.name for option in form.options if not option.metavar] == ["rules"]
