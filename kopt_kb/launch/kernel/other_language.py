"""Files in a kernel language that a command does not take as they are: its name, what compiles it, how it is given."""

from __future__ import annotations

import ast
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.doors.language import Language, plain_name
from kopt_kb.doors.languages import CORE, languages
from kopt_kb.launch.kernel.declared import has_header

__all__ = ["in_other_language", "language_imported"]


def language_imported(source: bytes) -> tuple[Language, int] | None:
    """Return the language of a pack that a Python file imports, and the line; None for any other file."""
    try:
        body = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    except (SyntaxError, ValueError):
        return None
    own = {one.name for one in CORE}
    others = [one for one in languages() if one.name not in own]
    for node in sorted(body, key=lambda one: one.lineno):
        named = [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
        for language in others:
            if any(f"{name}.".startswith(f"{module}.") for name in named for module in language.modules):
                return language, node.lineno
    return None


def in_other_language(source: bytes, path: Path | str, framework: str = "") -> BadInput | None:
    """Return the refusal of a file in a language of a pack that has no header; None for one that a command may take.

    One whose launches are recorded as they are is refused only where it is said to be in another framework.
    """
    found = language_imported(source) if not has_header(path, source) else None
    if found is None or (found[0].recorder is not None and not framework):
        return None
    language, line = found
    extra = next(iter(language.modules.values()))
    named = language.what if plain_name(language.name) in plain_name(language.what) else language.name
    return BadInput(
        f"is written in {named}", where=f"{path}:{line}",
        fix=f"{_way(language, path)}; pip install 'kopt-kb[{extra}]' brings its compiler", code="KB319",
    )  # fmt: skip


def _way(language: Language, path: Path | str) -> str:
    if language.header:
        head = f'/* kb with language = "{language.header}", function, inputs, outputs and steps */'
        return f"say in its docstring how it is launched, {head} (docs/launch_records.md)"
    if language.recorder is not None:
        return f"give --framework {language.name}"
    return f"kb record --call {path}:FUNCTION --arg NAME=fp16[…] records what it launches"
