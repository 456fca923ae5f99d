"""Changes at exact places."""

from __future__ import annotations

import ast

from kopt_kb.packs.tileir.edits import Edits

TEXT = "é = f(1)\nif é:\n    b = g(é)\n"


def test_places_are_those_of_ast() -> None:
    """Columns of `ast` count bytes."""
    edits = Edits(TEXT)
    call = ast.parse(TEXT).body[0].value  # type: ignore[attr-defined]
    edits.replace(edits.begin(call), edits.end(call), "h(2)")
    edits.replace(edits.end(call), edits.end(call), "  # new")
    assert edits.done() == TEXT.replace("f(1)", "h(2)  # new")
    assert edits.done(0, 1) == "é"


def test_lines_and_indents() -> None:
    edits = Edits(TEXT)
    inner = ast.parse(TEXT).body[1].body[0]  # type: ignore[attr-defined]
    assert edits.indent(inner) == "    "
    assert edits.line_start(inner) == TEXT.index("    b")
    assert Edits("a; b\n").line_start(ast.parse("a; b\n").body[1]) is None


def test_lines_end_where_python_says() -> None:
    """A form feed or a separator inside a string ends no line."""
    text = "a = '\x1c\u2028'\r\nb = f(1)\n"
    edits = Edits(text)
    call = ast.parse(text).body[1].value  # type: ignore[attr-defined]
    edits.replace(edits.begin(call), edits.end(call), "2")
    assert edits.done() == "a = '\x1c\u2028'\r\nb = 2\n"
