"""The server: the tools of this package under the official SDK, on stdin and stdout. Nothing else imports the SDK."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from kopt_kb.cli.documents import ErrorDocument
from kopt_kb.cli.mcp.call import Answer, Say, ask
from kopt_kb.cli.mcp.documents import output_schema
from kopt_kb.cli.mcp.roots import Roots
from kopt_kb.cli.mcp.tools import TOOLS, Tool
from kopt_kb.cli.mcp.words import input_schema, words_of
from kopt_kb.errors import BadInput, KoptError
from kopt_kb.wiki.version import data_at

__all__ = ["made", "serve"]

_INSTRUCTIONS = (
    "Take every hardware number from lookup and write its citation beside it; what comes back as unknown stays "
    "UNKNOWN. Answers are what `kb COMMAND --json` prints. A refusal has a code, what is wrong, where, and the fix; "
    "_meta.exit_code is 1 where a check found something. Paths are relative to {root}."
)


def made(roots: Roots, wikis: tuple[str, ...] = ()) -> Server[Any]:
    """Return the server for some roots."""
    listed: list[types.Tool] = []

    async def list_tools(_context: ServerRequestContext[Any], _params: object) -> types.ListToolsResult:
        if not listed:
            listed.extend(map(_described, TOOLS.values()))
        return types.ListToolsResult(tools=listed)

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        async def say(seconds: float, line: str) -> None:
            await context.session.report_progress(seconds, None, line)

        try:
            return _result(await _called(params.name, params.arguments or {}, roots, wikis, say))
        except KoptError as error:
            said = {**ErrorDocument.of(error).to_json(), "data": data_at(wikis).to_json()}
            return _result(Answer(said, int(error.exit_code)))

    return Server(
        "kopt-kb",
        version=_version(),
        instructions=_INSTRUCTIONS.format(root=roots.folders[0]),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def serve(roots: Roots, wikis: tuple[str, ...] = ()) -> None:
    """Serve until stdin ends."""
    server = made(roots, wikis)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def _called(name: str, given: Mapping[str, object], roots: Roots, wikis: tuple[str, ...], say: Say) -> Answer:
    tool = TOOLS.get(name)
    if tool is None:
        raise BadInput(f"no tool {name!r}", where="kb mcp", fix=f"it has {', '.join(TOOLS)}", code="KB106")
    with tempfile.TemporaryDirectory(prefix="kb-mcp-") as scratch:
        words = words_of(tool, given, roots, wikis, Path(scratch))
        return await ask(words, roots.folders[0], say)


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.text,
        input_schema=input_schema(tool),
        output_schema=output_schema(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.writes, destructive_hint=False, open_world_hint=False
        ),
    )


def _result(answer: Answer) -> types.CallToolResult:
    text = json.dumps(answer.document, ensure_ascii=False, separators=(",", ":"))
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=answer.document,
        is_error=answer.is_refused,
        _meta={"exit_code": answer.code},
    )


def _version() -> str:
    try:
        return version("kopt-kb")
    except PackageNotFoundError:
        return "unknown"
