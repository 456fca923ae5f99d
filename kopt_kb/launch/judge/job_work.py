"""One job of the executor of recorded launches: what it made, and on what its answer rests."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.launch.candidate.answers import AnswerBasis
from kopt_kb.launch.candidate.job import Job
from kopt_kb.launch.judge.shelf import bytes_of
from kopt_kb.launch.record.source import CodeBound, CodeSource
from kopt_kb.sandbox.isolation import Isolation

__all__ = ["JobWork"]

_KEPT_BYTES = 8 << 20
"""Largest record, with its code objects, that a journal keeps."""


@dataclass(slots=True)
class JobWork:
    """One job: what it made, and where its seconds went."""

    job: Job
    ends_at: float
    seconds: dict[str, float] = field(default_factory=dict)
    records: dict[str, str] = field(default_factory=dict)
    kept: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    unkept: dict[str, str] = field(default_factory=dict)
    isolation: Isolation | None = None
    printed: list[str] = field(default_factory=list)
    bound: dict[str, CodeSource] = field(default_factory=dict)
    codes: dict[str, CodeBound] = field(default_factory=dict)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the seconds of a block."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.spent(name, time.monotonic() - begin)

    def spent(self, what: str, seconds: float) -> None:
        """Count seconds of something."""
        self.seconds[what] = self.seconds.get(what, 0.0) + seconds

    def basis(self) -> AnswerBasis:
        """Return on what the answer rests."""
        spent = {name: round(value, 3) for name, value in self.seconds.items()}
        return AnswerBasis("replayed", "", self.records, spent, self.isolation, self.unkept, self.bound)

    def rests_on(self, name: str, folder: Path) -> None:
        """Note a record that the answer rests on; one that is not too large goes with the answer."""
        data = bytes_of(folder)
        self.records[name] = digest = hashlib.sha256(data[0]).hexdigest()
        size = sum(map(len, data))
        if size <= _KEPT_BYTES:
            self.kept[digest] = data
        else:
            self.unkept[name] = f"{size} bytes with its code objects, at most {_KEPT_BYTES} are kept"
