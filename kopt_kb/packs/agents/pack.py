"""What the pack agents brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.command import Command, CommandExample
from kopt_kb.doors.later import later
from kopt_kb.doors.pack import Pack

__all__ = ["PACK"]

PACK = Pack(
    name="agents",
    what="the commands as tools for agents (MCP)",
    words=("mcp",),
    commands=(
        Command(
            "mcp",
            "serve the commands as tools to agents (MCP, stdio)",
            "kopt_kb.packs.agents.command",
            examples=(CommandExample("mcp", code=2),),
        ),
    ),
    causes=later("kopt_kb.packs.agents.codes:CAUSES"),
)
