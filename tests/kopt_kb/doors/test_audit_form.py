"""The door for logs of others."""

from __future__ import annotations

from kopt_kb.doors.audit_form import AuditForm, AuditOption
from kopt_kb.doors.table import behind


def test_an_option_without_a_value_is_a_switch() -> None:
    """It says so by having no name for one."""
    assert AuditOption("all", "everything").metavar == ""


def test_options_are_named_as_a_command_line_takes_them() -> None:
    """Without dashes before them, and in small letters."""
    forms: list[AuditForm] = [form for _, form in behind("audit_forms")]
    assert all(option.name == option.name.strip("-").lower() for form in forms for option in form.options)
