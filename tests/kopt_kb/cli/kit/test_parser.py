"""The parser of `kb`: whole words, and errors that say what was meant."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.core_commands import CORE_COMMANDS
from kopt_kb.cli.kit.parser import Parser, command_parser, leaves


def test_leaves_are_sub_commands_or_the_command() -> None:
    """Each with its parser."""
    assert list(leaves(CORE_COMMANDS["list"])) == ["list"]
    found = leaves(CORE_COMMANDS["profile"])
    assert {"profile read", "profile diff"} <= set(found)
    assert all(parser.prog == f"kb {leaf}" for leaf, parser in found.items())


def test_the_text_of_help_is_that_of_the_module() -> None:
    """And what runs it is its function."""
    from kopt_kb.cli.values import lookup

    parser, run = command_parser(CORE_COMMANDS["lookup"])
    assert (parser.description, run) == (lookup.__doc__, lookup.run)


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["--shap", "1"], "--shape"),
        (["--plat", "H20"], "PLATFORM is a word"),
        (["H20", "--count"], "--count=VALUE"),
        (["H20", "--other"], "shows the usage"),
    ],
)
def test_what_was_meant_is_said(words: list[str], fix: str) -> None:
    """Never an abbreviation, never the end of the process."""
    parser = Parser(prog="kb some")
    parser.add_argument("platform", metavar="PLATFORM")
    parser.add_argument("--shape")
    parser.add_argument("--count")
    with pytest.raises(BadInput) as error:
        parser.parse_args(["H20", *words] if words[0].startswith("--") else words)
    assert error.value.error_code == "KB010"
    assert fix in error.value.fix
