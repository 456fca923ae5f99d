"""Results of a suite's problems, a file each: named by what they are of, written whole, folded into one table."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_json
from kopt_kb.base.wire import Wire, read
from kopt_kb.packs.problem_sets.suite_rows import SuiteRow

__all__ = ["SuiteStore", "job_key", "write_whole"]

_POLL_S = 0.2


def job_key(*parts: bytes | str) -> str:
    """Return the name of a result: a hash over product, problem, candidate and options, whatever their lengths."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(b"%d:" % len(data) + data)
    return found.hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class _Result(Wire):
    """The rows of one problem, of which product they are, and the problem's key."""

    WIRE: ClassVar = ("platform", "key", "rows")
    platform: str
    key: str
    rows: tuple[SuiteRow, ...]


@dataclass(frozen=True, slots=True)
class SuiteStore:
    """The folder `results` of a suite, which several suites may share, one after the other or at once."""

    folder: Path

    @contextmanager
    def claim(self, key: str, wait_s: float = 0.0) -> Iterator[bool]:
        """Hold a problem while it is worked on; yield whether it is held, another process's end awaited so long.

        The lock goes with the process that holds it, however that ends.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        ends = time.monotonic() + wait_s
        with (self.folder / f"{key}.lock").open("ab") as file:
            held = _lock(file.fileno())
            while not held and time.monotonic() < ends:
                time.sleep(_POLL_S)
                held = _lock(file.fileno())
            yield held

    def write(self, platform: str, key: str, rows: Sequence[SuiteRow]) -> None:
        """Keep the rows of a problem; the file is there whole or not at all."""
        write_whole(self.folder / f"{key}.json", json.dumps(_Result(platform, key, tuple(rows)).to_json(), indent=1))

    def fold(self, platform: str, current: Sequence[str]) -> tuple[SuiteRow, ...]:
        """Return all rows of a product: of each problem the current result, else the newest.

        Raises:
            BadInput: A file of the folder is no result.
        """
        files = sorted(self.folder.glob("*.json"), key=lambda file: (file.stem in current, file.stat().st_mtime_ns))
        rows: dict[tuple[str, str], tuple[SuiteRow, ...]] = {}
        for result in map(_result, files):
            if result.platform == platform and result.rows:
                rows[result.rows[0].file, result.rows[0].problem] = result.rows
        return tuple(row for _, of_problem in sorted(rows.items()) for row in of_problem)


def write_whole(path: Path, text: str) -> None:
    """Replace a file by a text, so that no reader sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(text + "\n", encoding="utf-8")
    partial.replace(path)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _result(file: Path) -> _Result:
    try:
        return read(_Result, read_json(file), where=str(file))
    except BadInput as error:
        fix = "remove it; its problem is then taken again from its workspace"
        raise BadInput(f"is no result of a suite: {error.what}", where=str(file), fix=fix, code="KB116") from error
