"""The words of a basis."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.roofline.basis import attainable_words, basis_name, basis_words, roof_words


@pytest.mark.parametrize("say", [attainable_words, basis_name, basis_words, roof_words])
def test_a_vendor_s_measurement_is_never_called_documented(say) -> None:  # type: ignore[no-untyped-def]
    """In each form; other bases keep their word."""
    assert "vendor's own measurement" in say("vendor_measured") and "documented" not in say("vendor_measured")
    assert "measured" in say("measured") and "documented" in say("documented")
