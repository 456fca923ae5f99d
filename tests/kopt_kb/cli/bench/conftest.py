"""Fixtures that these tests share with others."""

from __future__ import annotations

from tests.kopt_kb.cli.kit.conftest import invented  # noqa: F401
