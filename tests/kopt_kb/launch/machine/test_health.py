"""A machine is asked below its root; what can't be read is None."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.launch.machine.health import Health, HealthFinding, Host
from kopt_kb.sandbox.isolation import Isolation


def test_files_are_looked_for_below_the_root(tmp_path: Path) -> None:
    """A folder and a missing file have no text."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "a").write_text(" text \n")
    host = Host(tmp_path, lambda _: None, lambda _: (0, ""), lambda _: None, {}, Isolation, 0, {}, tmp_path)
    assert (host.text("proc/a"), host.text("proc"), host.text("proc/b")) == ("text", None, None)
    assert host.exists("proc/a") and not host.exists("proc/b")


def test_only_what_is_wrong_is_wrong() -> None:
    """Notes and unknown lines are no fault."""
    notes = tuple(HealthFinding("g", "n", state, "f") for state in ("ok", "note", "unknown", "absent"))
    assert Health(notes).is_right
    assert not Health((*notes, HealthFinding("g", "n", "wrong", "f"))).is_right
