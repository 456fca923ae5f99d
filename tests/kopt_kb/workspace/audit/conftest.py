"""A copy of a recorded campaign that a test may write anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kopt_kb.workspace.audit.forging import copy_of


@pytest.fixture
def rms_norm(tmp_path: Path) -> Path:
    """A campaign that lies at 82 % of its roof."""
    return copy_of("h100_sxm/rms_norm", tmp_path / "w")
