"""What held a child is written and read back as it is, and reading it loads nothing that holds children."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kopt_kb.base.wire import WireError, canonical, parse, read
from kopt_kb.sandbox.isolation import WHOLE, Isolation


def test_it_is_read_as_it_was_written() -> None:
    """What held, and why something did not; a word that is no member is refused."""
    known = Isolation(("pid namespace",), {"net namespace": "not permitted"})
    assert read(Isolation, parse(canonical(known))) == known
    assert read(Isolation, {}) == Isolation()
    with pytest.raises(WireError, match="no member"):
        read(Isolation, {"kept": []})


def test_a_record_needs_no_system_calls() -> None:
    """Answers of candidates name it in every command that reads them."""
    code = "import sys, kopt_kb.launch.candidate.answers; print('kopt_kb.sandbox.cage' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_what_a_cage_lacks() -> None:
    """Each thing that a whole cage has, with why it could not be had."""
    assert Isolation(WHOLE).lacks() == ""
    some = Isolation(WHOLE[2:], {WHOLE[0]: "not permitted", "cgroup limits": "none"})
    assert some.lacks() == f"{WHOLE[0]}: not permitted; {WHOLE[1]}: not had"
