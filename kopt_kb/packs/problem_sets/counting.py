"""The work of any problem, counted by running its reference in a child with torch and without a device."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.doors.causes import known_code
from kopt_kb.launch.problems.question import Described, OneShape, ReferenceRequest
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.sandbox.process import ChildLimits, environment, run

if TYPE_CHECKING:
    from kopt_kb.launch.problems.capsule import Capsule

__all__ = ["counted"]

_WALL_S, _MEMORY_BYTES = 300.0, 24 << 30
_SAID_BYTES = 16 << 20


def counted(capsule: Capsule, compute: str = "storage") -> tuple[OneShape, ...]:
    """Return what a child sees of each shape; with `tf32` products of fp32 operands are those of tf32.

    Raises:
        BadInput: The problem's own code fails, or does what can't be counted.
        MissingTool: torch, or a package that the problem imports, is not installed.
    """
    with owned_folder("kb-problem-") as folder:
        path = folder / "reference.py"
        path.write_bytes(capsule.text)
        asked = ReferenceRequest(str(path), capsule.shapes, capsule.dtype, compute)
        command = [sys.executable, "-P", "-m", "kopt_kb.packs.problem_sets.describe"]
        limits = ChildLimits(wall_s=_WALL_S, resident_bytes=_MEMORY_BYTES, printed_bytes=_SAID_BYTES)
        own = environment({"CUDA_VISIBLE_DEVICES": ""}, ours=True)
        done = run(command, env=own, folder=folder, limits=limits, feed=canonical(asked.to_json()))
    if done.passed is not None or done.code:
        _refuse_ended(capsule, done.passed or "", done.last_line)
    try:
        found = read(Described, parse(done.stdout.splitlines()[-1], where="the problem"), where="the problem")
    except (KoptError, IndexError) as error:
        raise BadInput("its own code answers in place of what runs it", where=capsule.file, code="KB116") from error
    if found.what:
        kind = MissingTool if found.cause == "KB120" else BadInput
        raise kind(found.what, where=capsule.file, fix=found.fix, code=known_code(found.cause))
    return found.shapes


def _refuse_ended(capsule: Capsule, passed: str, said: str) -> None:
    if "No module named 'torch'" in said:
        raise MissingTool("torch is not installed", where=capsule.file, fix="install kopt-kb[gpu]", code="KB120")
    reason = {"hang": f"takes longer than {_WALL_S:g} s", "oom": "takes too much memory", "limit": "prints too much"}
    raise BadInput(
        f"its reference {reason.get(passed, f'ends the process that runs it: {said[:200]}')}",
        where=capsule.file,
        fix="state a smaller problem",
        code="KB086",
    )
