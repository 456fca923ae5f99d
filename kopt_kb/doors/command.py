"""The door `Command`: a word of the command line, what it prints as JSON, and words that it works with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["AgentTool", "Command", "CommandExample", "JsonDocument"]


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A document in JSON; `docs/schema` holds its schema, which follows from its class.

    Attributes:
        id: Name of the schema, unique.
        place: `module:Class` of the class that it is written from.
        undated: Why it says no version and date of the wiki's data; empty: it says them.
        is_stored: Whether it is written into files too, which do not say them.
        is_read: Whether others write it and kb reads it: members with a default may be missing.
        command: Command of the core that prints it, where a pack brings the document and not the command.
    """

    id: str
    place: str
    undated: str = ""
    is_stored: bool = False
    is_read: bool = False
    command: str = ""


@dataclass(frozen=True, slots=True)
class CommandExample:
    """Words that a command works with; files are those of the folder that `tests/contract/sample.py` makes.

    The contract tests put something hostile in the place of each word of a command's first example, let its output
    fail, and hold the document that `--json` prints against its schema.

    Attributes:
        words: A command line without `kb`, written as in a shell.
        document: Schema id of what `--json` prints; empty: nothing.
        code: Exit code without a GPU. From 2 on the document printed may be that of an error.
        golden: Name of the file that freezes the document, on the invented wiki ROOT, with a TABLE of values, a kernel
            DEMO and logs LOG of others; empty: the document is held by its schema alone.
        needs: What it loads or starts before it looks at anything else: torch (or triton), or a GPU, without which its
            document is not seen.
    """

    words: str
    document: str = ""
    code: int = 0
    golden: str = ""
    needs: Literal["", "torch", "gpu"] = ""


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A command as a tool for agents; its arguments and their texts are those of the command's parser.

    Attributes:
        text: What it answers, for whoever chooses a tool.
        takes: Action of the command → its arguments that a call may give, each `dest` or `name=dest`; the action is
            empty where the command has none.
        documents: Schema id of each document that may come back.
        paths: Arguments that name files or folders.
        inline: Arguments whose document may stand in the call itself instead of a path.
        always: Action → words that are added.
        writes: Whether it may change files.
    """

    text: str
    takes: Mapping[str, tuple[str, ...]]
    documents: tuple[str, ...]
    paths: frozenset[str] = frozenset()
    inline: frozenset[str] = frozenset()
    always: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One command of `kb`.

    Attributes:
        name: The word behind `kb`; two words for a command that a pack puts below one of the core's.
        what: What it does, in one line of `kb --help`.
        module: Dotted name of the module, whose `add_arguments(parser)` and `run(args) -> int` are called; its
            docstring is the text of `--help`.
        documents: Documents that are its own.
        examples: One for each of its sub-commands, or more.
        tool: How agents call it; None: they don't. May be given as `later`.
        resume_hint: What `kb` says after Ctrl-C; empty: nothing.
    """

    name: str
    what: str
    module: str
    documents: tuple[JsonDocument, ...] = ()
    examples: tuple[CommandExample, ...] = ()
    tool: AgentTool | None = None
    resume_hint: str = ""
