"""From a call's arguments to the command's words, and what a call may give as a JSON Schema: both by its parser."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.commands import all_commands
from kopt_kb.cli.kit.named_kernel import kernel_file
from kopt_kb.cli.kit.parser import Parser, command_parser
from kopt_kb.packs.agents.roots import Roots
from kopt_kb.packs.agents.tools import ServedTool

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue

    from kopt_kb.base.error_codes import Code

__all__ = ["input_schema", "words_of"]

_ACTION = "action"
_PACKAGED = "op:"
_MOST_BYTES = 100_000
"""Linux takes 128 KiB as one word of a command line."""


@cache
def _parsers(command: str) -> dict[str, Parser]:
    """Return action → parser of a command; the action is empty where it has none."""
    parser, _ = command_parser(all_commands()[command])
    below = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    return dict(below[0].choices) if below else {"": parser}


def _arguments(tool: ServedTool, action: str) -> dict[str, argparse.Action]:
    """Return name → argument of the parser, for those that a call may give."""
    named = (word.partition("=") for word in tool.takes[action])
    known = {one.dest: one for one in _parsers(tool.command)[action]._actions}
    return {name: known[dest or name] for name, _, dest in named}


def _is_list(action: argparse.Action) -> bool:
    return action.nargs in {"*", "+"} or isinstance(action, argparse._AppendAction)


def _is_required(action: argparse.Action) -> bool:
    return action.required if action.option_strings else action.nargs in {None, "+"}


def _kind(action: argparse.Action) -> str:
    if action.nargs == 0:
        return "boolean"
    return {int: "integer", float: "number"}.get(action.type, "string")  # type: ignore[call-overload, no-any-return]


def _property(tool: ServedTool, name: str, action: argparse.Action, single: bool) -> JsonSchemaValue:
    value: JsonSchemaValue = {"type": _kind(action)}
    if action.choices is not None:
        value["enum"] = list(action.choices)
    if _is_list(action) and not single:
        value = {"type": "array", "items": value, **({"minItems": 1} if _is_required(action) else {})}
    if name in tool.inline:
        value["type"] = ["object", "string"]
    text = argparse.HelpFormatter("kb")._expand_help(action) if action.help else (action.metavar or name)
    return {**value, "description": str(text)}


def _is_single(name: str, action: argparse.Action) -> bool:
    """Return whether a call gives one of what the command takes many of: `file` of `words`."""
    return name != action.dest and not name.endswith("s") and _is_list(action)


def input_schema(tool: ServedTool) -> JsonSchemaValue:
    """Return the JSON Schema of a tool's arguments, texts and choices from the command's own parser."""
    properties: JsonSchemaValue = {}
    required: list[str] = []
    every = {action: _arguments(tool, action) for action in tool.takes}
    if "" not in every:
        properties[_ACTION] = {"type": "string", "enum": list(every), "description": "what to do"}
        required.append(_ACTION)
    for action, arguments in every.items():
        for name, one in arguments.items():
            made = _property(tool, name, one, _is_single(name, one))
            if action and any(name not in others for others in every.values()):
                made["description"] += f" ({', '.join(key for key, others in every.items() if name in others)})"
            properties.setdefault(name, made)
            if name not in required and all(name in o and _is_required(o[name]) for o in every.values()):
                required.append(name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def words_of(
    tool: ServedTool, given: Mapping[str, object], roots: Roots, wikis: tuple[str, ...], scratch: Path
) -> list[str]:
    """Return the words of the command line that a call means.

    Args:
        tool: The tool.
        given: Its arguments.
        roots: Where its paths have to lie.
        wikis: Folders for `--wiki`, where the command takes it.
        scratch: Where documents that stand in the call are written.

    Raises:
        BadInput: An argument that the tool does not take, of another kind, or a path out of the roots.
    """
    rest = dict(given)
    action = rest.pop(_ACTION, None) if "" not in tool.takes else ""
    if not isinstance(action, str) or action not in tool.takes:
        raise _refused(tool, f"action {action!r}", f"give one of {', '.join(tool.takes)}", "KB106")
    arguments = _arguments(tool, action)
    strange = [name for name in rest if name not in arguments]
    if strange:
        of = f" of the action {action}" if action else ""
        raise _refused(tool, f"{strange[0]!r} is no argument{of}", f"it takes {', '.join(arguments)}", "KB010")
    lacking = [name for name, one in arguments.items() if _is_required(one) and rest.get(name) in (None, [])]
    if lacking:
        raise _refused(tool, f"missing {', '.join(lacking)}", "give it", "KB102")
    words = [tool.command, *([action] if action else [])]
    places: list[str] = []
    for name, one in arguments.items():
        if rest.get(name) is None:
            continue
        texts = [_text(tool, name, one, value, roots, scratch) for value in _values(tool, name, one, rest[name])]
        if one.nargs == 0:
            words += one.option_strings[:1] if rest[name] else []
        elif one.option_strings:
            words += [f"{one.option_strings[0]}={text}" for text in texts]
        else:
            places += [_plain(tool, name, text) for text in texts]
    known = {one.dest for one in _parsers(tool.command)[action]._actions}
    words += [f"--wiki={folder}" for folder in wikis if "wiki" in known]
    return [*words, *tool.always.get(action, ()), "--json", *places]


def _values(tool: ServedTool, name: str, action: argparse.Action, value: object) -> list[object]:
    if _is_list(action) and not _is_single(name, action):
        if not isinstance(value, list):
            raise _refused(tool, f"{name} is no list", "give a list", "KB104")
        return value
    return [value]


def _text(tool: ServedTool, name: str, action: argparse.Action, value: object, roots: Roots, scratch: Path) -> str:
    """Return one value as a word: of its kind, and inside the roots where it is a path."""
    if name in tool.inline and isinstance(value, dict):
        file = scratch / f"{name}.json"
        file.write_text(json.dumps(value), encoding="utf-8")
        return str(file)
    kinds: dict[str, tuple[type, ...]] = {
        "boolean": (bool,), "integer": (int,), "number": (int, float), "string": (str,),
    }  # fmt: skip
    kind = _kind(action)
    if not isinstance(value, kinds[kind]) or (isinstance(value, bool) and kind != "boolean"):
        raise _refused(tool, f"{name} is no {kind}", f"give a {kind}", "KB104")
    text = _holdable(tool, name, str(value))
    packaged = text.startswith(_PACKAGED) and action.type is kernel_file
    if name not in tool.paths or packaged:
        return text
    return roots.problem(text, name) if name == "problem" else roots.inside(text, name)


def _holdable(tool: ServedTool, name: str, text: str) -> str:
    """Return a text; raises `BadInput` where no command line can hold it."""
    if "\0" in text:
        raise _refused(tool, f"{name} holds a NUL byte", "leave it out", "KB118")
    if any("\ud800" <= one <= "\udfff" for one in text):
        raise _refused(tool, f"{name} is not UTF-8", "write it in UTF-8", "KB108")
    if len(text.encode()) > _MOST_BYTES:
        raise _refused(tool, f"{name} is longer than {_MOST_BYTES} bytes", "put it into a file", "KB118")
    return text


def _plain(tool: ServedTool, name: str, text: str) -> str:
    """Return a word that stands by its place; raises `BadInput` for one that would be read as an option."""
    if text.startswith("-"):
        raise _refused(tool, f"{name} {text!r} begins with -", "give a name or a path", "KB104")
    return text


def _refused(tool: ServedTool, what: str, fix: str, code: Code) -> BadInput:
    return BadInput(what, where=f"tool {tool.name}", fix=fix, code=code)
