"""Calls that outlive their request, as tasks: a handle at once, the answer by polling (io.modelcontextprotocol/tasks).

The SDK has no runtime for this extension; what it asks of a server that never needs input is little: a state, a
message, and the result at the end. Tasks end with the server, as all that it started does.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kopt_kb.packs.agents.call import ToolAnswer

__all__ = ["EXTENSION", "Tasks", "ToolTask"]

EXTENSION = "io.modelcontextprotocol/tasks"

_POLL_MS = 1000
_KEPT = 64
"""Ended tasks that are remembered; older ones are forgotten."""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(slots=True)
class ToolTask:
    """A call that goes on.

    Attributes:
        running: It.
        id: Nobody can guess it.
        created: When it became a task.
        updated: When its message last changed.
        message: What it said last; empty: nothing yet.
    """

    running: asyncio.Task[ToolAnswer]
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    created: str = field(default_factory=_now)
    updated: str = field(default_factory=_now)
    message: str = ""

    def say(self, line: str) -> None:
        """Keep what the call says of its progress."""
        self.message, self.updated = line, _now()

    @property
    def status(self) -> str:
        """One of working, completed, cancelled."""
        if not self.running.done():
            return "working"
        return "cancelled" if self.running.cancelled() else "completed"

    def document(self) -> dict[str, object]:
        """Return what clients are told, without the result."""
        told: dict[str, object] = {"statusMessage": self.message} if self.message else {}
        times = {"createdAt": self.created, "lastUpdatedAt": self.updated}
        return {"taskId": self.id, "status": self.status, **told, **times, "ttlMs": None, "pollIntervalMs": _POLL_MS}


class Tasks:
    """The tasks of a server."""

    def __init__(self) -> None:
        self._held: dict[str, ToolTask] = {}

    def keep(self, running: asyncio.Task[ToolAnswer]) -> ToolTask:
        """Return a call as a task, which goes on when its request is answered."""
        ended = [one.id for one in self._held.values() if one.running.done()]
        for old in ended[: max(0, len(ended) - _KEPT + 1)]:
            del self._held[old]
        task = ToolTask(running)
        self._held[task.id] = task
        return task

    def get(self, name: str) -> ToolTask | None:
        """Return a task, None where there is none of that id."""
        return self._held.get(name)

    async def close(self) -> None:
        """End all that still runs."""
        running = [task.running for task in self._held.values() if not task.running.done()]
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)
