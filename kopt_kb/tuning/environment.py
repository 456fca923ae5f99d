"""The machine that an executor measures on: its record, and the hash of the code that measures."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import kopt_kb.launch
from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.answers import Environment
from kopt_kb.launch.candidate.job import Executor, Job
from kopt_kb.tuning.jobs import refuse_missing
from kopt_kb.workspace.journal.setup_events import EnvironmentRecorded

__all__ = ["ProductOf", "harness_digest", "read_machine"]

ProductOf = Callable[[str], str]
"""Device name → platform id of the product, empty for a name that no page has."""


def read_machine(
    executor: Executor, job: Job, product_of: ProductOf | None = None, *, of_project: bool = False
) -> EnvironmentRecorded:
    """Return device, driver, clocks and versions as an executor's child finds them.

    Args:
        executor: Runs the child.
        job: What it runs, of the kind `environment`.
        product_of: Looks the device's name up; None: nobody looks, and the machine is no known product.
        of_project: Whether a project's own benchmark measures.

    Raises:
        MissingTool: No torch, triton or GPU there.
        BadInput: The child gave no answer.
    """
    outcome = executor.run(job, lambda *_: None)
    answer = outcome.result
    refuse_missing(answer)
    if outcome.outcome != "ok" or not isinstance(answer, Environment):
        last = outcome.printed.strip().splitlines()[-1:] or [""]
        printed = f": {last[0][:200]}" if last[0] else ""
        raise BadInput(f"the environment run ended with {outcome.outcome}{printed}", where=executor.name, code="KB423")
    product = "" if product_of is None else product_of(answer.device)
    harness = harness_digest(of_project=of_project)
    return EnvironmentRecorded(
        answer.device, answer.uuid, answer.driver, answer.clocks, answer.versions, harness, product
    )


def harness_digest(*, of_project: bool = False) -> str:
    """Return the hash of the code that measures; of a project, of the code that runs and reads its benchmark."""
    launch = Path(next(iter(kopt_kb.launch.__path__)))
    names = ("timing.py", "verification.py", "output_file.py")
    rooms = (launch / "candidate", launch / "judge", launch / "record")
    files = (*(launch / "kernel" / name for name in names), *(file for room in rooms for file in room.glob("*.py")))
    if of_project:
        files = tuple(sorted((launch / "project").glob("*.py")))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in sorted(files))).hexdigest()
