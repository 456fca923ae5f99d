"""Commands: variables in front, placeholders filled, no shell."""

from __future__ import annotations

import sys

import pytest

from kopt_kb.launch.project.command import ProjectCommand
from kopt_kb.launch.project.file import read_project
from kopt_kb.launch.project.toml_file import ProjectFileError


def command(value: str) -> ProjectCommand:
    """The benchmark command of a small project, written like this."""
    text = (
        "[project]\nop = 'gemm'\ndtype = 'fp16'\nshapes = ['1x2']\nkernel_source = 'a.py'\neditable = ['a.py']\n"
        "protected = ['b.py']\n[csv]\nshape = 'S'\ncheck = 'C'\nforward = { column = 'F', unit = 's' }\n"
        f"[commands]\ntest = 'true'\nbenchmark = {value}\n"
    )
    return read_project(text.encode(), "p.toml").commands["benchmark"]


def test_words_variables_and_limit() -> None:
    """`NAME=value` words in front are variables, as shells read them."""
    found = command("{ run = \"BACKEND=TRITON N=2 {python} bench.py --csv {csv} '--only={shapes}'\", limit_s = 5 }")
    assert found.environment() == {"BACKEND": "TRITON", "N": "2"} and found.limit_s == 5.0
    assert found.argv(csv="/x y", shapes=("1x2", "3x4")) == (
        sys.executable,
        "bench.py",
        "--csv",
        "/x y",
        "--only=1x2,3x4",
    )
    assert found.takes("csv") and found.takes("shapes") and not command('"pytest {csv}"').takes("shapes")
    assert found.shown() == "BACKEND=TRITON N=2 {python} bench.py --csv {csv} --only={shapes}"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("3", "has to be an object, not 3"),
        ('""', "benchmark has to be text that is not blank, not ''"),
        ('"A=1"', "names no program"),
        ('"echo \'x"', "can't be split"),
        ('"bench | tail"', "no shell runs it"),
        ('"bench > {csv}"', "no shell runs it"),
        ('"bench {cvs}"', "has the placeholder {cvs}"),
        ('"bench"', "lacks {csv}"),
        ('{ run = "bench {csv}", limit = 3 }', "benchmark.limit is no key"),
        ('{ run = "bench {csv}", limit_s = 0 }', "has the limit 0"),
        ('{ run = "bench {csv}", limit_s = true }', "limit_s has to be a finite number, not True"),
        ('{ run = "bench {csv}", limit_s = 1e8 }', "has the limit 100000000.0"),
        ('{ run = "bench {csv}", limit_s = 1' + 400 * "0" + " }", "integer of more than 64 bits"),
        ('"A=\\u0000 bench {csv}"', "holds a NUL"),
    ],
)
def test_what_is_no_command_is_refused(value: str, words: str) -> None:
    """With the line of the key."""
    with pytest.raises(ProjectFileError, match=words) as caught:
        command(value)
    assert caught.value.where == "p.toml:14"
