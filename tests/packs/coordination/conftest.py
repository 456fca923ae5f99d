"""Fixtures that these tests share with others."""

from __future__ import annotations

from tests.kopt_kb.tuning.conftest import naive, workspace  # noqa: F401
