"""The door `ProblemSource`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from kopt_kb.launch.problems.capsule import Capsule
    from kopt_kb.launch.problems.question import OneShape

__all__ = ["ProblemSource"]


@dataclass(frozen=True, slots=True)
class ProblemSource:
    """A form in which others write a problem down.

    What it reads becomes a `Capsule`, whose reference file imports the core's adapters alone: a workspace that holds it
    is judged where the pack is not installed.

    Attributes:
        name: Stable name; a workspace keeps it beside its problem.
        what: The same in a reader's words with an article, such as `a problem.toml`, for messages.
        suffix: Of its files; a named file that nobody recognises is read by the first source of its suffix, whose error
            says what the file lacks.
        recognises: Whether a file is such a problem; raises `BadInput` at most.
        read: Returns the problem of a file, for a storage type and shapes that were asked for (empty: the file's own).
        files: Names of the file that stands for a folder.
        count: Returns what each shape of any problem comes to, by running its reference without a device, its products
            of fp32 operands in `storage` or in `tf32`; None: the source brings no counter. The first that is installed
            counts for all sources.
    """

    name: str
    what: str
    suffix: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path, str, tuple[str, ...]], Capsule]
    files: tuple[str, ...] = ()
    count: Callable[[Capsule, str], tuple[OneShape, ...]] | None = None
