"""The server: the tools of this package under the official SDK, on stdin and stdout. Nothing else imports the SDK."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.base.installed import version_of
from kopt_kb.cli.kit.documents import ErrorDocument
from kopt_kb.cli.main import missing_package
from kopt_kb.packs.agents.call import Say, ToolAnswer, ask
from kopt_kb.packs.agents.documents import output_schema
from kopt_kb.packs.agents.roots import Roots
from kopt_kb.packs.agents.tasks import EXTENSION, Tasks, ToolTask
from kopt_kb.packs.agents.tools import TOOLS, ServedTool
from kopt_kb.packs.agents.words import input_schema, words_of
from kopt_kb.wiki.version import data_at

__all__ = ["made", "serve"]

_INSTRUCTIONS = (
    "Take every hardware number from lookup and write its citation beside it; what comes back as unknown stays "
    "UNKNOWN. Answers are what `kb COMMAND --json` prints. A refusal has a code, what is wrong, where, and the fix; "
    "_meta.exit_code is 1 where a check found something. Paths are relative to {root}."
)
_PATIENCE_S = 10.0
"""A call that takes longer becomes a task, where the client knows tasks."""

_Context = ServerRequestContext[Any]


class _Calls:
    """The handlers of a server.

    Args:
        roots: Where paths of calls have to lie.
        wikis: Folders for `--wiki`.
    """

    def __init__(self, roots: Roots, wikis: tuple[str, ...]) -> None:
        self._roots = roots
        self._wikis = wikis
        self._listed: list[types.Tool] = []
        self.tasks = Tasks()

    async def list_tools(self, _context: _Context, _params: object) -> types.ListToolsResult:
        if not self._listed:
            for tool in TOOLS.values():
                with contextlib.suppress(ModuleNotFoundError):  # its extra is not installed: calls of it say which
                    self._listed.append(_described(tool))
        return types.ListToolsResult(tools=self._listed)

    async def call_tool(self, context: _Context, params: types.CallToolRequestParams) -> Any:
        kept: list[ToolTask] = []

        async def say(seconds: float, line: str) -> None:
            if kept:
                kept[0].say(line)
            else:
                await context.session.report_progress(seconds, None, line)

        running = asyncio.ensure_future(self._answer(params.name, params.arguments or {}, say))
        try:
            await asyncio.wait({running}, timeout=_PATIENCE_S if _knows_tasks(context) else None)
        except asyncio.CancelledError:
            self.tasks.keep(running)  # it ends by itself, with its child
            running.cancel()
            raise
        if running.done():
            return _result(running.result())
        kept.append(self.tasks.keep(running))
        return {"resultType": "task", **kept[0].document()}

    async def _answer(self, name: str, given: Mapping[str, object], say: Say) -> ToolAnswer:
        try:
            tool = TOOLS.get(name)
            if tool is None:
                raise BadInput(f"no tool {name!r}", where="kb mcp", fix=f"it has {', '.join(TOOLS)}", code="KB106")
            with tempfile.TemporaryDirectory(prefix="kb-mcp-") as scratch:
                words = words_of(tool, given, self._roots, self._wikis, Path(scratch))
                return await ask(words, self._roots.folders[0], say)
        except ModuleNotFoundError as error:
            return self._refusal(missing_package(error))
        except KoptError as error:
            return self._refusal(error)

    def _refusal(self, error: KoptError) -> ToolAnswer:
        said = {**ErrorDocument.of(error).to_json(), "data": data_at(self._wikis).to_json()}
        return ToolAnswer(said, int(error.exit_code))

    async def get_task(self, context: _Context, params: types.GetTaskRequestParams) -> dict[str, object]:
        task = self._task(context, params.task_id)
        result = {"result": _dumped(_result(task.running.result()))} if task.status == "completed" else {}
        return {"resultType": "complete", **task.document(), **result}

    async def update_task(self, context: _Context, params: types.GetTaskRequestParams) -> dict[str, object]:
        self._task(context, params.task_id)  # nothing here ever asks for input
        return {"resultType": "complete"}

    async def cancel_task(self, context: _Context, params: types.CancelTaskRequestParams) -> dict[str, object]:
        self._task(context, params.task_id).running.cancel()
        return {"resultType": "complete"}

    def _task(self, context: _Context, name: str) -> ToolTask:
        if not _knows_tasks(context):
            needs: dict[str, object] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "Missing required client capability", needs)
        task = self.tasks.get(name)
        if task is None:
            raise MCPError(types.INVALID_PARAMS, f"no task {name[:80]!r}: it was never made, or is forgotten")
        return task


def made(roots: Roots, wikis: tuple[str, ...] = ()) -> Server[Any]:
    """Return the server for some roots."""
    calls = _Calls(roots, wikis)

    @contextlib.asynccontextmanager
    async def life(_server: Server[Any]) -> AsyncIterator[dict[str, object]]:
        try:
            yield {}
        finally:
            await calls.tasks.close()

    server = Server(
        "kopt-kb",
        version=version_of("kopt-kb", "unknown"),
        instructions=_INSTRUCTIONS.format(root=roots.folders[0]),
        lifespan=life,
        on_list_tools=calls.list_tools,
        on_call_tool=calls.call_tool,
    )
    server.extensions[EXTENSION] = {}
    server.add_request_handler("tasks/get", types.GetTaskRequestParams, calls.get_task)
    server.add_request_handler("tasks/update", types.GetTaskRequestParams, calls.update_task)
    server.add_request_handler("tasks/cancel", types.CancelTaskRequestParams, calls.cancel_task)
    return server


async def serve(roots: Roots, wikis: tuple[str, ...] = ()) -> None:
    """Serve until stdin ends."""
    server = made(roots, wikis)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _knows_tasks(context: _Context) -> bool:
    """Return whether the client said with this request that it takes tasks."""
    able = context.session.client_capabilities
    return able is not None and EXTENSION in (able.extensions or {})


def _described(tool: ServedTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.text,
        input_schema=input_schema(tool),
        output_schema=output_schema(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.writes, destructive_hint=False, open_world_hint=False
        ),
    )


def _result(answer: ToolAnswer) -> types.CallToolResult:
    text = json.dumps(answer.document, ensure_ascii=False, separators=(",", ":"))
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=answer.document,
        is_error=answer.is_refused,
        _meta={"exit_code": answer.code},
    )


def _dumped(result: types.CallToolResult) -> object:
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)
