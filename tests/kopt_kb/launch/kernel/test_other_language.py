"""Claims about files in kernel languages of packs, told by what they import."""

from __future__ import annotations

import pytest

from kopt_kb.launch.kernel.other_language import in_other_language, language_imported


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("import cutlass.cute as cute", ("CuTe DSL", 'language = "cute"', "kopt-kb[cute]")),
        ("from tilelang import language", ("TileLang", 'language = "tilelang"', "kopt-kb[tilelang]")),
        ("import flydsl.expr", ("FlyDSL", 'language = "flydsl"', "kopt-kb[flydsl]")),
        ("import helion", ("Helion", "kb record --call a.py:FUNCTION", "kopt-kb[helion]")),
    ],
    ids=["cute", "tilelang", "flydsl", "helion"],
)
def test_a_language_that_needs_a_header_is_named(line: str, words: tuple[str, ...]) -> None:
    """With its extra, its header, and the line that imports it."""
    error = in_other_language(f"import torch\n{line}\n".encode(), "a.py")
    assert error is not None
    assert error.where == "a.py:2"
    assert all(one in f"{error.what} {error.fix}" for one in words)


def test_a_language_whose_launches_are_recorded_is_refused_as_another_one_alone() -> None:
    """cuTile is given as it is, by its own name."""
    source = b"import cuda.tile as ct\n"
    assert in_other_language(source, "a.py") is None
    error = in_other_language(source, "a.py", "Triton")
    assert error is not None
    assert "--framework cuTile" in error.fix


@pytest.mark.parametrize(
    "source",
    [b"import triton\n", b"def f(:", b'"""\n/* kb\nop = "x"\n*/\n"""\nimport cutlass\n', b"import cutlasses\n"],
    ids=["core", "no python", "header", "another name"],
)
def test_other_files_are_nobodys(source: bytes) -> None:
    """The core's own languages, what is no Python, and what has its header."""
    assert in_other_language(source, "a.py") is None
    assert language_imported(b"import cutlasses\n") is None
