"""Counts in a caged child what a file's caches find in eight training steps."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import Wire, parse, read
from kopt_kb.packs.training_step.trace import verdict_of_run
from kopt_kb.sandbox.caged import Cage, caged
from kopt_kb.sandbox.process import ChildLimits, environment, run

__all__ = ["CountedSteps", "count_steps"]

_WALL_S = 120.0
_ENTRY = "training_step"


@dataclass(frozen=True, slots=True)
class CountedSteps(Wire):
    """What eight steps counted.

    Attributes:
        lookups: Questions of each step.
        hits: How many found something.
        stale: Whether a weight that was changed in place was found as it was.
        stale_after_data: Whether one that was written through `.data` was; `_version` says nothing of that.
        problem: Why there are no counts; empty when there are.
    """

    lookups: tuple[int, ...] = ()
    hits: tuple[int, ...] = ()
    stale: bool = False
    stale_after_data: bool = False
    problem: str = ""

    @property
    def refusal(self) -> str:
        """Why the cache may not be added; empty when it may."""
        return self.problem or verdict_of_run(self.lookups, self.hits, stale=self.stale)


def count_steps(files: Mapping[str, str], path: str, wall_s: float = _WALL_S) -> CountedSteps:
    """Return the counts of a file; what keeps it from being counted is a problem and no error.

    Args:
        files: The candidate's files, path → text, which may import each other.
        path: The file with the cache and the steps.
        wall_s: Seconds that the child may take.
    """
    if f"def {_ENTRY}(" not in files[path]:
        return CountedSteps(
            problem=f"the file offers no {_ENTRY}(activation, weight, grad_out) that eight steps can run"
        )
    with tempfile.TemporaryDirectory(prefix="kb-transfer-") as name:
        folder = Path(name)
        for one, text in files.items():
            (folder / one).parent.mkdir(parents=True, exist_ok=True)
            (folder / one).write_text(text, encoding="utf-8")
        report = folder / "cage.json"
        words = [sys.executable, "-m", "kopt_kb.packs.training_step.transfer_steps", path]
        done = run(
            caged(words, Cage((name,), str(report))), limits=ChildLimits(wall_s), folder=folder,
            env=environment({"HOME": name, "TMPDIR": name}, first=[folder], ours=True),
        )  # fmt: skip
    if done.code or done.passed:
        why = f"took over {wall_s:g} s" if done.passed else done.last_line[:200]
        return CountedSteps(problem=f"the steps did not run: {why}")
    try:
        return read(CountedSteps, parse(done.stdout, where="transfer steps"), where="transfer steps")
    except KoptError as error:
        return CountedSteps(problem=f"the steps gave no counts: {error.what}"[:200])
