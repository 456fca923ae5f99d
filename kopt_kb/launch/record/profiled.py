"""Replays a stored record once while a profiler watches: `python -m kopt_kb.launch.record.profiled JOB`.

JOB is a file with a job as `judge.py` takes it on stdin. A profiler prints among what its program prints, so the
verdict is a file beside the outputs. No candidate is imported, neither torch nor triton: the bytes that were timed are
launched, and nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from kopt_kb.base.errors import KoptError, MissingTool
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.record.driver import Driver
from kopt_kb.launch.record.judge import ReplayJob, ReplayVerdict, driver_for, load_record, replayed

__all__ = ["VERDICT", "main"]

VERDICT = "verdict.json"
"""Name of the verdict in the outputs folder."""


def main(words: Sequence[str], driver: Callable[[str], Driver] = driver_for) -> None:
    """Replay the job of the named file, and write what the replay found."""
    path = Path(words[0])
    job = read(ReplayJob, parse(path.read_bytes(), where=str(path)), where=str(path))
    try:
        verdict = replayed(job, driver(load_record(Path(job.record)).target))
    except MissingTool as error:
        verdict = ReplayVerdict(missing=error.what)
    except KoptError as error:
        verdict = ReplayVerdict(error=f"{error.what} [{error.error_code}]")
    (Path(job.outputs) / VERDICT).write_bytes(canonical(verdict.to_json()))


if __name__ == "__main__":
    main(sys.argv[1:])
