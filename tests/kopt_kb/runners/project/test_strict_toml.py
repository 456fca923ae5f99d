"""Every refusal names file, line and key."""

from __future__ import annotations

import pytest

from kopt_kb.runners.project.strict_toml import ProjectFileError, read_tables

TEXT = b'# a comment\n[one]\nword = "x"\nlist = ["a", "b"]\nnumber = 2\n\n[two]\nword = ""\n'


def test_tables_are_read_and_absent_ones_are_empty() -> None:
    """Known tables only."""
    found = read_tables(TEXT, "p.toml", ("one", "two", "three"))
    assert found["one"].text("word") == "x" and found["one"].texts("list") == ("a", "b")
    assert found["one"].positive("number", 1.0) == 2.0 and found["one"].positive("other", 1.5) == 1.5
    assert dict(found["three"].values) == {}


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
        (b"#" * (1 << 20) + b"\n", "p.toml", "is larger than"),
    ],
)
def test_what_is_no_project_file_is_refused(data: bytes, where: str, words: str) -> None:
    """With the line where there is one."""
    with pytest.raises(ProjectFileError, match=words) as caught:
        read_tables(data, "p.toml", ("one",))
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("call", "line", "words"),
    [
        (lambda t: t["one"].only(("word",)), 4, "list is no key"),
        (lambda t: t["one"].text("absent"), 2, "absent is missing"),
        (lambda t: t["two"].text("word"), 8, "is '', not a text"),
        (lambda t: t["one"].text("number"), 5, "is 2, not a text"),
        (lambda t: t["one"].texts("word"), 3, "not a list of texts"),
        (lambda t: t["one"].positive("word", 1.0), 3, "not a number above zero"),
        (lambda t: t["one"].choice("word", ("y", "z"), "y"), 3, "is 'x'; one of y, z"),
        (lambda t: t["one"].table("word"), 3, "not a table"),
    ],
)
def test_wrong_keys_are_refused_with_their_line(call, line: int, words: str) -> None:
    """The line of the key, of the table when the key is absent."""
    tables = read_tables(TEXT, "p.toml", ("one", "two"))
    with pytest.raises(ProjectFileError, match=words) as caught:
        call(tables)
    assert caught.value.where == f"p.toml:{line}"


def test_a_word_twice_is_refused() -> None:
    """A list names each thing once."""
    with pytest.raises(ProjectFileError, match="names 'a' twice"):
        read_tables(b'[one]\nlist = ["a", "a"]\n', "p.toml", ("one",))["one"].texts("list")
