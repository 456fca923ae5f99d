"""The machine that this process is on, as the doctor asks it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.installed import version_of
from kopt_kb.launch.machine.health import Host
from kopt_kb.sandbox.owned import owned_folder

if TYPE_CHECKING:
    from kopt_kb.sandbox.isolation import Isolation

__all__ = ["supported", "this_machine"]

_ASK_S = 20.0


def this_machine() -> Host:
    """Return the machine that this process is on."""
    return Host(
        Path("/"), shutil.which, _ask, lambda name: version_of(name) or None, supported(), _isolate, os.geteuid(),
        os.environ, Path("~").expanduser(),
    )  # fmt: skip


def _ask(command: tuple[str, ...]) -> tuple[int, str]:
    from kopt_kb.sandbox.process import ChildLimits, environment, run

    done = run(command, env=environment(), limits=ChildLimits(_ASK_S, printed_bytes=1 << 20))
    if done.passed:
        return 124, f"no answer within {_ASK_S:.0f} s"
    return done.code, (done.stdout + done.stderr).decode(errors="replace")


def supported() -> Mapping[str, str]:
    """Return package → the versions that kb's own extras ask for, the narrowest text of each."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires("kopt-kb") or []
    except PackageNotFoundError:
        return {}
    found: dict[str, str] = {}
    for line in lines:
        parts = re.match(r"([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?\s*([^;]*)(?:;(.*))?", line)
        if parts is not None and "test" not in (parts[3] or ""):
            found[parts[1]] = parts[2].strip().strip("()")
    return found


def _isolate() -> Isolation:
    from kopt_kb.sandbox.caged import Cage, caged, held_by
    from kopt_kb.sandbox.process import ChildLimits, environment, run

    with owned_folder("kb-doctor-") as folder:
        report = folder / "held.json"
        run(caged(["true"], Cage((str(folder),), str(report))), env=environment(), limits=ChildLimits(_ASK_S))
        return held_by(report)
