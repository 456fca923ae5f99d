"""The reference pages are what the code says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.version_info[:2] > (3, 12), reason="argparse prints help in another form since Python 3.13")
def test_reference_pages_are_up_to_date(repo_root: Path) -> None:
    """Commands, codes and metrics."""
    done = subprocess.run(
        [sys.executable, "tools/reference.py", "--check"], cwd=repo_root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-600:]
