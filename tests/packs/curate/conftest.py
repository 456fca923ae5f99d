"""Fixtures that these tests share with others."""

from __future__ import annotations

from tests.kopt_kb.wiki.conftest import sheet_of  # noqa: F401
