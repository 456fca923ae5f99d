"""A machine as it can be asked, and what was found on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kopt_kb.base.wire import Wire
from kopt_kb.sandbox.isolation import Isolation

__all__ = ["Health", "HealthFinding", "HealthState", "Host", "PackHealth"]

HealthState = Literal["ok", "note", "wrong", "unknown", "absent"]
"""Right; works with less; must be mended for what it names; could not be asked; not here and not needed here."""


@dataclass(frozen=True, slots=True)
class HealthFinding(Wire):
    """One thing that was looked at.

    Attributes:
        group: What it belongs to.
        name: The thing.
        state: How it is.
        found: What was seen, or why nothing could be.
        fix: What to do; empty where nothing is to be done.
    """

    group: str
    name: str
    state: HealthState
    found: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class PackHealth(Wire):
    """A pack that is installed or declared.

    Attributes:
        name: Its name.
        state: Whether it is there, left out of this distribution, or can't be used.
        what: What it is, or why it can't be used; of one that is left out nothing is known.
    """

    name: str
    state: Literal["installed", "absent", "fault"]
    what: str


@dataclass(frozen=True, slots=True)
class Health(Wire):
    """All findings, in order, and the packs."""

    findings: tuple[HealthFinding, ...]
    packs: tuple[PackHealth, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether nothing is wrong."""
        return all(one.state != "wrong" for one in self.findings) and all(one.state != "fault" for one in self.packs)


@dataclass(frozen=True, slots=True)
class Host:
    """A machine as it can be asked.

    Attributes:
        root: Its file tree.
        which: Program → path, None where there is none.
        ask: Command → exit code and what it printed; raises `OSError`.
        package: Python package → version, None where it is not installed.
        ranges: Python package → versions that kb supports, such as `>=3.6,<3.10`.
        isolate: What an untrusted child is held by; raises `OSError`.
        user: Effective user id.
        environ: Its environment.
        home: Home folder of the user.
    """

    root: Path
    which: Callable[[str], str | None]
    ask: Callable[[tuple[str, ...]], tuple[int, str]]
    package: Callable[[str], str | None]
    ranges: Mapping[str, str]
    isolate: Callable[[], Isolation]
    user: int
    environ: Mapping[str, str]
    home: Path

    def text(self, path: str) -> str | None:
        """Return a small file below the root, None where it can't be read."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace")[:65536].strip()
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        """Whether a path below the root exists."""
        return (self.root / path).exists()
