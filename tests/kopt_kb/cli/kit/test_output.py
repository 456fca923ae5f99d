"""Tables align, conditions parse."""

from __future__ import annotations

import argparse
import sys

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.commands import every_command
from kopt_kb.cli.kit.output import conditions, in_form, printable, table
from kopt_kb.cli.kit.parser import leaves


def test_columns_align_and_the_last_is_not_padded() -> None:
    """Right alignment where asked."""
    assert table([("a", "1", "x"), ("bbb", "22", "y")], indent=2, right=(1,)) == "  a     1  x\n  bbb  22  y"
    assert table([]) == ""


@pytest.mark.parametrize("word", ["a", "=b", "a=", ""])
def test_conditions_are_pairs(word: str) -> None:
    """Anything else is named."""
    with pytest.raises(BadInput, match="axis=value"):
        conditions([word])


def test_conditions_may_hold_colons() -> None:
    """sparsity=2:4."""
    assert conditions(["sparsity=2:4", "dtype=bf16"]) == {"sparsity": "2:4", "dtype": "bf16"}


def test_what_a_terminal_would_obey_is_shown_as_text() -> None:
    """Escape sequences, line breaks and reversed text in a kernel's name; other alphabets stay."""
    assert printable("k\x1b[2J\r\n\u202ex\x00\x9b") == "k\\x1b[2J\\r\\n\\u202ex\\x00\\x9b"
    assert printable("größe<日本>") == "größe<日本>"
    assert "\x1b" not in table([("a\x1b[31m", "b")])


class TestForms:
    """--format of every command that has no other: its tables alone, whole, as CSV or Markdown."""

    @pytest.mark.parametrize(
        ("form", "wanted"),
        [
            ("csv", 'name,share\n"a, b",1\n\nkey,2\n'),
            ("markdown", "| name | share |\n|---|---|\n| a, b | 1 |\n\n|  |  |\n|---|---|\n| key | 2 |\n"),
        ],
    )
    def test_tables_alone(self, form: str, wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
        """In their order; one without a head has none."""

        def run(_args: argparse.Namespace) -> int:
            sys.stdout.write(table([("name", "share"), ("a, b", "1")]) + table([("key", "2")], is_headed=False))
            return 1

        assert in_form(run, argparse.Namespace(as_form=form, json=False)) == 1
        assert capsys.readouterr().out == wanted
        assert table([("a", "b")]) == "a  b"
        assert in_form(run, argparse.Namespace(as_form="table", json=False)) == 1
        assert capsys.readouterr().out.startswith("name  share")

    def test_no_table(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Nothing on stdout; what was said is on stderr. JSON is as --json, which is no CSV."""
        told: list[bool] = []

        def run(args: argparse.Namespace) -> int:
            told.append(args.json)
            sys.stdout.write("wrote it\n")
            return 0

        assert in_form(run, argparse.Namespace(as_form="csv", json=False)) == 0
        assert capsys.readouterr() == ("", "wrote it\n")
        assert in_form(run, argparse.Namespace(as_form="json", json=False)) == 0 and told == [False, True]
        with pytest.raises(BadInput, match="KB103"):
            in_form(run, argparse.Namespace(as_form="csv", json=True))

    def test_every_command_takes_it(self) -> None:
        """But those whose whole output is something else: a server, a shell's script."""
        without = {
            leaf
            for _, command in every_command()
            for leaf, parser in leaves(command).items()
            if "--format" not in parser._option_string_actions
        }
        assert without == {"completion", "mcp"}


def test_a_table_of_too_many_columns_is_a_block_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """No number or short word is broken, empty cells are left out; tables without a head are folded as before."""
    monkeypatch.setenv("COLUMNS", "24")
    rows = [("product", "shape", "least time"), ("H20", "8192x4096", "33.56 us"), ("MI300X", "64x64", "")]
    assert table(rows) == (
        "product     H20\nshape       8192x4096\nleast time  33.56 us\n\nproduct     MI300X\nshape       64x64"
    )
    assert table(rows, is_headed=False).startswith("product")
    assert "  " in table(rows, is_headed=False).split("\n")[0]
