"""Faults print as file:line, and travel together."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

from kopt_kb.wiki.faults import FAULT_CODES, Fault, WikiFaults
from kopt_kb.wiki.physics import RULES


def test_one_line_with_place_fix_and_code() -> None:
    """What an editor can jump to."""
    assert str(Fault("WK201", "a.md", 7, "wrong", "mend it")) == "a.md:7: wrong; mend it [WK201]"


def test_all_faults_travel_and_survive_pickling() -> None:
    """The first is the message, the number of others follows."""
    error = WikiFaults((Fault("WK201", "a.md", 7, "wrong"), Fault("WK202", "a.md", 9, "too")))
    assert "a.md:L7" in str(error)
    assert "1 more" in str(error)
    assert pickle.loads(pickle.dumps(error)).faults == error.faults


def test_every_code_in_use_is_listed() -> None:
    """Codes of the sources are codes of the table, and back."""
    package = Path(__file__).parents[3] / "kopt_kb"
    folders = (package / "wiki", package / "packs" / "curate")
    used = {
        code for room in folders for file in room.rglob("*.py") for code in re.findall(r'"(WK\d{3})"', file.read_text())
    }
    assert used == {code for code in FAULT_CODES if code != "PHY"}
    assert all(name.startswith("PHY") for name in RULES)
