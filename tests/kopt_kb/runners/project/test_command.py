"""Commands: variables in front, placeholders filled, no shell."""

from __future__ import annotations

import sys

import pytest

from kopt_kb.runners.project.command import Command, command_of
from kopt_kb.runners.project.strict_toml import ProjectFileError, read_tables


def command(value: str, *needed: str) -> Command:
    """The command of a TOML value."""
    table = read_tables(f"[commands]\ntest = {value}\n".encode(), "p.toml", ("commands",))["commands"]
    return command_of(table, "test", needed)


def test_words_variables_and_limit() -> None:
    """`NAME=value` words in front are variables, as shells read them."""
    found = command(
        "{ run = \"BACKEND=TRITON N=2 {python} bench.py --csv {csv} '--only={shapes}'\", limit_s = 5 }", "csv"
    )
    assert found.environment() == {"BACKEND": "TRITON", "N": "2"} and found.limit_s == 5.0
    assert found.argv(csv="/x y", shapes=("1x2", "3x4")) == (
        sys.executable,
        "bench.py",
        "--csv",
        "/x y",
        "--only=1x2,3x4",
    )
    assert found.takes("csv") and found.takes("shapes") and not command('"pytest"').takes("csv")
    assert found.shown() == "BACKEND=TRITON N=2 {python} bench.py --csv {csv} --only={shapes}"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("3", "not a command line"),
        ('""', "not a command line"),
        ('"A=1"', "names no program"),
        ('"echo \'x"', "can't be split"),
        ('"bench | tail"', "no shell runs it"),
        ('"bench > {csv}"', "no shell runs it"),
        ('"bench {cvs}"', "has the placeholder {cvs}"),
        ('"bench"', "lacks {csv}"),
        ('{ run = "bench {csv}", limit = 3 }', "has the key 'limit'"),
        ('{ run = "bench {csv}", limit_s = 0 }', "has the limit 0"),
        ('{ run = "bench {csv}", limit_s = true }', "has the limit True"),
        ('{ run = "bench {csv}", limit_s = 1e8 }', "has the limit 100000000.0"),
        ('{ run = "bench {csv}", limit_s = 1' + 400 * "0" + " }", "integer of more than 64 bits"),
        ('"A=\\u0000 bench {csv}"', "holds a NUL"),
    ],
)
def test_what_is_no_command_is_refused(value: str, words: str) -> None:
    """With the line of the key."""
    with pytest.raises(ProjectFileError, match=words) as caught:
        command(value, "csv")
    assert caught.value.where == "p.toml:2"
