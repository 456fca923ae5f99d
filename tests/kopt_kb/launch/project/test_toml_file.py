"""Every refusal names file, line and key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest

from kopt_kb.base.wire import Text, Wire
from kopt_kb.launch.project.toml_file import ProjectFileError, read_source

TEXT = b'# a comment\n[one]\nword = "x"\nlist = ["a", "b"]\nnumber = 2\n\n[two]\nword = ""\n'


@dataclass(frozen=True, slots=True)
class One(Wire):
    """A table with every kind of key."""

    word: Text
    list: tuple[Text, ...] = ()
    number: float = 1.0
    choice: Literal["y", "z"] = "y"


def test_tables_are_read_and_absent_ones_are_empty() -> None:
    """Known tables only; what a table does not say has its default."""
    found = read_source(TEXT, "p.toml", ("one", "two", "three"))
    assert found.read("one", One) == One("x", ("a", "b"), 2.0, "y")
    assert dict(found.tables["three"]) == {}


@pytest.mark.parametrize(
    ("data", "where", "words"),
    [
        (b"\xff", "p.toml", "is not UTF-8"),
        (b"[one]\nx = \n", "p.toml:2", "is not TOML"),
        (b"[one]\n[four]\n", "p.toml:2", "'four' is no table"),
        (b"x = 1\n", "p.toml:1", "'x' is no table"),
        (b"[one]\n\nx = " + b"9" * 5000, "p.toml:3", "a number that can't be read"),
        (b"[one]\nx = " + b"9" * 400, "p.toml:2", "x holds an integer of more than 64 bits"),
        (b"[one]\nx = [{ y = 0x" + b"f" * 5000 + b" }]", "p.toml:2", "x holds an integer of more than 64 bits"),
        (b"[one]\n\nx = " + b"[" * 5000 + b"]" * 5000, "p.toml:3", "nested too deeply"),
        (b"[one]\nx = " + b"[\n" * 5000 + b"]\n" * 5000, "p.toml:102", "nested too deeply"),
        (b"[one]\nx." + b".".join([b"y"] * 5000) + b" = 1\n", "p.toml:2", "x is nested too deeply"),
        (b'[one]\nz = ""\nx = ["a", "\\u0000"]\n', "p.toml:3", "x holds a NUL"),
        (b'[one]\nx = { "\\u0000" = 1 }\n', "p.toml:2", "x holds a NUL"),
        (b'[one]\n\nlist = ["a", "b", "a"]\n', "p.toml:3", "list names 'a' twice"),
        (b"#" * (1 << 20) + b"\n", "p.toml", "is larger than"),
    ],
)
def test_what_is_no_project_file_is_refused(data: bytes, where: str, words: str) -> None:
    """With the line where there is one."""
    with pytest.raises(ProjectFileError, match=words) as caught:
        read_source(data, "p.toml", ("one",))
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("table", "more", "line", "words"),
    [
        ("one", "absent = 1", 3, "[one] absent is no key of this table; known keys: word, list, number, choice"),
        ("two", "", 8, "[two] word has to be text that is not blank, not ''"),
        ("three", "", 1, "[three] word is missing"),
        ("one", "choice = 'x'", 3, "[one] choice has to be one of y, z, not 'x'"),
        ("one", "number = true", 3, "[one] number has to be a finite number, not True"),
        ("one", "number = inf", 3, "[one] number has to be a finite number, not inf"),
        ("one", "list = 'a'", 3, "[one] list has to be a list, not 'a'"),
        ("one", "list = ['a', '']", 3, "[one] list[1] has to be text that is not blank, not ''"),
    ],
)
def test_wrong_keys_are_refused_with_their_line(table: str, more: str, line: int, words: str) -> None:
    """The line of the key, of the table when the key is absent."""
    key = more.partition(" ")[0]
    lines = [one for one in TEXT.decode().split("\n") if not key or not one.startswith(key)]
    text = "\n".join([*lines[:2], *([more] if more else []), *lines[2:]])
    with pytest.raises(ProjectFileError) as caught:
        read_source(text.encode(), "p.toml", ("one", "two", "three")).read(table, One)
    assert caught.value.where == f"p.toml:{line}"
    assert words in str(caught.value)
