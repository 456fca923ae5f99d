"""Fixtures that these tests share with others."""

from __future__ import annotations

from tests.kopt_kb.tuning.conftest import make_workspace  # noqa: F401
from tests.kopt_kb.workspace.conftest import clock, demo, registry, story, task, workspace  # noqa: F401
