"""The page of the tuning loop shows the machine that drives it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_page_is_written_from_the_table(repo_root: Path) -> None:
    """Diagram, steps and exits are what the table says now."""
    words = [sys.executable, str(repo_root / "tools" / "machine.py"), "--check"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
