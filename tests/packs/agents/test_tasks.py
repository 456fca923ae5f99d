"""Calls that outlive their request: states, messages, the end; over the SDK's own client with the extension."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any, Literal

import mcp
import mcp_types as types
import pytest
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.shared.exceptions import MCPError
from pydantic import ConfigDict

from kopt_kb.packs.agents import call, server
from kopt_kb.packs.agents.call import ToolAnswer
from kopt_kb.packs.agents.roots import Roots
from kopt_kb.packs.agents.tasks import EXTENSION, Tasks, ToolTask

SLOW = (
    "import os, sys, time\n"
    "print('kb: round 1', file=sys.stderr, flush=True)\n"
    "time.sleep(float(open('seconds').read()))\n"
    'print(\'{"error": {}, "data": {}}\')\n'
)
STATES: list[tuple[str, str]] = []


class Handle(types.Result):
    """A task as it comes over the wire."""

    model_config = ConfigDict(extra="allow")
    result_type: Literal["task"] = "task"


class Known(types.Result):
    """Any other answer about a task."""

    model_config = ConfigDict(extra="allow")


async def _about(session: Any, method: str, name: str) -> dict[str, Any]:
    asked = types.Request[types.GetTaskRequestParams, str]
    request: Any = asked(method=method, params=types.GetTaskRequestParams(task_id=name))
    found = await session.send_request(request, Known)
    return found.model_dump(by_alias=True)


class Polling(ClientExtension):
    """What a client does with a task: it asks until there is a result."""

    identifier = EXTENSION

    def claims(self) -> tuple[ResultClaim[Any], ...]:
        """Take the place of the answer."""
        return (ResultClaim(result_type="task", model=Handle, resolve=self._resolved),)

    async def _resolved(self, handle: Handle, context: ClaimContext) -> types.CallToolResult:
        name = handle.model_dump(by_alias=True)["taskId"]
        while True:
            found = await _about(context.session, "tasks/get", name)
            STATES.append((found["status"], found.get("statusMessage", "")))
            if found["status"] == "completed":
                return types.CallToolResult.model_validate(found["result"])
            if found["status"] == "cancelled":
                return types.CallToolResult(content=[], structured_content={"gone": name}, is_error=True)
            await asyncio.sleep(0.05)


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which each call takes as long as a file says; a task after a fifth of a second."""
    (tmp_path / "seconds").write_text("1")
    monkeypatch.setattr(call, "_PROGRAM", (sys.executable, "-c", SLOW))
    monkeypatch.setattr(server, "_PATIENCE_S", 0.2)
    STATES.clear()
    return tmp_path


def _talk(folder: Path, calls: Any, *extensions: ClientExtension) -> None:
    async def run() -> None:
        async with mcp.Client(server.made(Roots.of([str(folder)])), extensions=list(extensions)) as client:
            await calls(client)

    asyncio.run(run())


def test_a_long_call_becomes_a_task(slow: Path) -> None:
    """Working with what the call says, then completed with the result that the request would have had."""

    async def calls(client: Any) -> None:
        found = await client.call_tool("audit", {"path": "."})
        assert found.structured_content == {"error": {}, "data": {}} and found.is_error
        assert EXTENSION in client.server_capabilities.extensions

    _talk(slow, calls, Polling())
    assert STATES[-1][0] == "completed" and {state for state, _ in STATES[:-1]} == {"working"}


def test_a_client_without_the_extension_waits(slow: Path) -> None:
    """It gets the result, and may not ask for tasks."""

    async def calls(client: Any) -> None:
        assert (await client.call_tool("audit", {"path": "."})).structured_content == {"error": {}, "data": {}}
        with pytest.raises(MCPError) as caught:
            await _about(client.session, "tasks/get", "x")
        assert caught.value.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY

    _talk(slow, calls)


def test_cancelling_and_unknown_tasks(slow: Path) -> None:
    """The state follows; another id is an error; a server that ends leaves nothing."""
    (slow / "seconds").write_text("600")
    pids = slow / "pids"

    async def calls(client: Any) -> None:
        handle = await client.session.call_tool("audit", {"path": "."}, allow_claimed=True)
        name = handle.model_dump(by_alias=True)["taskId"]
        assert (await _about(client.session, "tasks/get", name))["status"] == "working"
        await _about(client.session, "tasks/update", name)
        await _about(client.session, "tasks/cancel", name)
        end = time.monotonic() + 60
        while (await _about(client.session, "tasks/get", name))["status"] != "cancelled":
            assert time.monotonic() < end
            await asyncio.sleep(0.02)
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            with pytest.raises(MCPError) as caught:
                await _about(client.session, method, "f" * 32)
            assert caught.value.code == types.INVALID_PARAMS
        await client.session.call_tool("audit", {"path": "."}, allow_claimed=True)
        pids.write_text("\n".join(_children()))
        assert pids.read_text()

    _talk(slow, calls, Polling())
    end = time.monotonic() + 60
    while set(pids.read_text().split()) & set(_children()):
        assert time.monotonic() < end
        time.sleep(0.02)


def _children() -> list[str]:
    """The processes that this test's calls run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"kb: round 1" in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def test_ended_tasks_are_forgotten_in_time() -> None:
    """The newest are kept, those that run always."""

    async def run() -> None:
        tasks = Tasks()

        async def answered() -> ToolAnswer:
            return ToolAnswer({}, 0)

        working = tasks.keep(asyncio.ensure_future(asyncio.sleep(60)))  # type: ignore[arg-type]
        made: list[ToolTask] = []
        for _ in range(80):
            made.append(tasks.keep(asyncio.ensure_future(answered())))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        assert tasks.get(made[0].id) is None and tasks.get(made[-1].id) is made[-1]
        assert tasks.get(working.id) is working and working.document()["status"] == "working"
        await tasks.close()
        assert working.status == "cancelled"

    asyncio.run(run())
