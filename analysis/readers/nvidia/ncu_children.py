"""Short-lived children that load an `.ncu-rep`: shares of its results, side by side, within time and memory.

`ncu_report` never gives memory back and takes several times the bytes of the results it was asked for, so that a large
report is read by several children, each of which touches its own share only.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.nvidia import ncu_child
from kopt_kb.analysis.readers.nvidia.ncu_frames import blocks
from kopt_kb.analysis.readers.nvidia.ncu_packed import is_packed, loadable, whole_frames
from kopt_kb.base.errors import MissingTool
from kopt_kb.sandbox.process import ChildLimits, environment, run

__all__ = ["Part", "child_lines", "result_parts"]

_PART_BYTES = 64_000_000
_TIMEOUT_S = 60.0
_TIMEOUT_S_PER_BYTE = 1e-6
_CHILD_BYTES = 2 << 30
_CHILD_BYTES_PER_BYTE = 16
_UNPACKED = 16  # a packed report is a tenth of its size or less
_ALL = 1 << 31
_MISSING_EXIT = 3
_AGAIN = "copy or record the report again"


@dataclass(frozen=True, slots=True)
class Part:
    """A share of a report's results.

    Attributes:
        start: Index of the first result.
        stop: Index after the last.
        announced: Whether the frames of the report tell these numbers.
    """

    start: int
    stop: int
    announced: bool = True


def result_parts(path: Path) -> list[Part]:
    """Return shares of about equal bytes; raises `ReportError` for a truncated or foreign file."""
    if is_packed(path):
        whole_frames(path)
        return [Part(0, _ALL, announced=False)]
    found = blocks(path)
    if found is None:
        return [Part(0, _ALL, announced=False)]
    parts: list[Part] = []
    share_bytes = min(_PART_BYTES, max(_PART_BYTES // 2, path.stat().st_size // len(os.sched_getaffinity(0))))
    start = stop = held_bytes = 0
    for one in found:
        stop += one.results
        held_bytes += one.end - one.start
        if held_bytes >= share_bytes and stop > start:
            parts.append(Part(start, stop))
            start, held_bytes = stop, 0
    if stop > start or not parts:
        parts.append(Part(start, stop))
    return parts


def child_lines(path: Path, parts: Sequence[Part], program: str = ncu_child.__file__) -> Iterator[list[str]]:
    """Yield the output lines of one child a part, in order; as many run at once as there are processors.

    Raises:
        ReportError: A child ends by itself without a result, by a signal, or by the time limit.
        MissingTool: The package ncu-report is not installed.
    """
    workers = min(len(parts), len(os.sched_getaffinity(0)))
    with loadable(path) as named, ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(_run, path, named, part, program) for part in parts]
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


def _run(path: Path, named: Path, part: Part, program: str) -> list[str]:
    size_bytes = path.stat().st_size
    if named != path or is_packed(path):
        size_bytes *= _UNPACKED
    limit_bytes = _CHILD_BYTES + _CHILD_BYTES_PER_BYTE * size_bytes
    limit_s = _TIMEOUT_S + _TIMEOUT_S_PER_BYTE * size_bytes
    command = [sys.executable, "-P", program, str(named), str(part.start), str(part.stop)]
    limits = ChildLimits(limit_s, address_bytes=limit_bytes, printed_bytes=0)
    done = run(command, env=environment(first=_home_of_the_library()), limits=limits)
    if done.passed:
        raise ReportError(f"not read within {limit_s:.0f} s", where=path, fix=_AGAIN, code="KB206")
    if done.code == _MISSING_EXIT:
        raise MissingTool(
            "reading .ncu-rep needs the package ncu-report",
            where=str(path),
            fix="pip install ncu-report, or export with ncu --import FILE --page raw --csv",
            code="KB120",
        )
    if done.code != 0:
        raise ReportError("damaged: ncu_report ended without a result", where=path, fix=_AGAIN)
    return done.stdout.decode("utf-8", "replace").splitlines()


def _home_of_the_library() -> tuple[Path, ...]:
    """Return the folder in which the child finds this process's ncu_report; none: it looks for itself."""
    spec = importlib.util.find_spec("ncu_report")
    if spec is None or spec.origin is None:
        return ()
    folder = Path(spec.origin).parent
    return (folder.parent if spec.submodule_search_locations else folder,)
