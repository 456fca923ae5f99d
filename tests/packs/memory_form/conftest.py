"""Campaigns that are played into a journal, as the tests of workspaces have them."""

from __future__ import annotations

from tests.kopt_kb.conftest import only_packs  # noqa: F401
from tests.kopt_kb.workspace.conftest import clock, demo, played, registry, samples, story, task, workspace  # noqa: F401

__all__ = ["clock", "demo", "played", "registry", "story", "task", "workspace"]
