"""The tools of the plugin: one JSON request on stdin, one JSON answer on stdout, for `{python} tool.py lookup|lint`.

A refused request is an answer with `error`; only a broken installation ends the process with another code.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.packs.curate.lint.lint import LEVELS, Linter
from kopt_kb.wiki.group import group
from kopt_kb.wiki.lookup import lookup
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.version import data_version

MOST_FINDINGS = 100
MOST_BYTES = 200_000
"""The caller takes 256 KiB."""
MOST_TOLD = 2000
"""Characters of each part of an error."""


def conditions(words: list[str]) -> dict[str, str]:
    """Return axis=value words as a mapping."""
    for word in words:
        if "=" not in word:
            raise BadInput(f"{word!r} is not axis=value", fix="for example dtype=bf16", code="KB104")
    return dict(word.split("=", 1) for word in words)


def lookup_tool(registry: Registry, request: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a product, or of the products of a target."""
    metric, axes = request.get("metric"), conditions(request.get("conditions", []))
    view = group(registry, request["platform"], metric, **axes)
    found = view if view is not None else lookup(registry.platform(request["platform"]), metric, **axes)
    body = {"result": found.to_json()}
    if len(json.dumps(body)) > MOST_BYTES:
        raise BadInput("the answer is too long", where=request["platform"], fix="name a metric", code="KB114")
    return body


def lint_tool(registry: Registry, request: dict[str, Any]) -> dict[str, Any]:
    """Return the findings on texts, the worst first."""
    linter, claims, found = Linter(registry), 0, []
    for one in request["texts"]:
        findings, count = linter.findings(one["path"], one["text"])
        claims += count
        found += [each for each in findings if LEVELS[each.level] <= LEVELS[request.get("level", "warning")]]
    found.sort(key=lambda one: LEVELS[one.level])
    shown = [one.to_json() for one in found[:MOST_FINDINGS]]
    errors = sum(one.level == "error" for one in found)
    return {"claims": claims, "errors": errors, "findings": shown, "left_out": len(found) - len(shown)}


TOOLS = {"lookup": lookup_tool, "lint": lint_tool}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_conditions(value: object) -> bool:
    return isinstance(value, list) and all(_is_text(word) for word in value)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict) and _is_text(one.get("path")) and isinstance(one.get("text"), str) for one in value
    )


NEEDS: dict[str, tuple[tuple[str, Callable[[object], bool], str], ...]] = {
    "lookup": (("platform", _is_text, "a product, target or architecture, as a text"),),
    "lint": (("texts", _are_texts, "a list of objects with path and text"),),
}
MAY: dict[str, tuple[tuple[str, Callable[[object], bool], str], ...]] = {
    "lookup": (
        ("metric", _is_text, "the name of a metric"),
        ("conditions", _is_conditions, "a list of axis=value texts"),
    ),
    "lint": (("level", lambda value: isinstance(value, str) and value in LEVELS, f"one of {', '.join(LEVELS)}"),),
}


def asked(tool: str, source: TextIO) -> dict[str, Any]:
    """Return the request of a tool.

    Raises:
        BadInput: It is no JSON object, lacks a field or has one of another kind.
    """
    try:
        request = json.load(source)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"no JSON: {error}", where="stdin", fix="write one JSON object", code="KB104") from None
    if not isinstance(request, dict):
        raise BadInput("no JSON object", where="stdin", fix="write one JSON object", code="KB104")
    for name, right, kind in (*NEEDS[tool], *(one for one in MAY[tool] if request.get(one[0]) is not None)):
        if not right(request.get(name)):
            raise BadInput(f"{name} is missing or of another kind", where="stdin", fix=f"it is {kind}", code="KB104")
    return {name: value for name, value in request.items() if value is not None}


def main() -> None:
    """Answer one request."""
    if sys.argv[1:2] == [] or sys.argv[1] not in TOOLS:
        sys.exit(f"tool.py: name one tool: {', '.join(TOOLS)}")
    registry = Registry.open()
    answer: dict[str, Any] = {"data": data_version(registry.wikis).to_json()}
    try:
        answer |= TOOLS[sys.argv[1]](registry, asked(sys.argv[1], sys.stdin))
    except KoptError as error:
        told = {"message": error.what, "where": error.where, "fix": error.fix}
        answer["error"] = {"code": error.error_code, **{name: text[:MOST_TOLD] for name, text in told.items()}}
    try:
        json.dump(
            answer, sys.stdout
        )  # in ASCII: a name that is no Unicode text, half a surrogate pair, has to go through
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads: no trace of it at the end
        sys.exit(1)


if __name__ == "__main__":
    main()
