"""Fixtures that these tests share with others."""

from __future__ import annotations

from tests.kopt_kb.conftest import makers  # noqa: F401
from tests.kopt_kb.launch.judge.conftest import invented, launcher  # noqa: F401
