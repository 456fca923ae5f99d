"""Options are read from Python and from command-line text alike, and nothing else is accepted."""

from __future__ import annotations

import pytest

from kopt_kb.problem.ops import definition
from kopt_kb.problem.ops.definition import Option, OptionError


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        (Option("n", "int", 1, ""), "3", 3),
        (Option("n", "int", 1, ""), 3, 3),
        (Option("n", "int", 1, "", minimum=-2), "-2", -2),
        (Option("b", "bool", False, ""), "TRUE", True),
        (Option("b", "bool", True, ""), "0", False),
        (Option("c", "choice", "a", "", choices=("a", "b")), "b", "b"),
        (Option("d", "dtype", "storage", ""), "float16", "fp16"),
        (Option("d", "dtype", "storage", ""), "storage", "storage"),
        (Option("g", "ints", (), "", minimum=0), "3,0,4", (3, 0, 4)),
        (Option("g", "ints", (), "", minimum=0), [3, 0], (3, 0)),
    ],
)
def test_a_value_is_read_in_its_type(option, value, expected):
    """Text and Python values give the same."""
    assert option.read(value) == expected


@pytest.mark.parametrize(
    ("option", "value"),
    [
        (Option("n", "int", 1, ""), "0"),
        (Option("n", "int", 1, ""), "--1"),
        (Option("n", "int", 1, ""), "1.5"),
        (Option("n", "int", 1, ""), True),
        (Option("n", "int", 1, ""), "9" * 5000),
        (Option("n", "int", 1, ""), "²"),
        (Option("b", "bool", False, ""), "maybe"),
        (Option("b", "bool", False, ""), 2),
        (Option("c", "choice", "a", "", choices=("a", "b")), "c"),
        (Option("g", "ints", (), ""), "3,,4"),
        (Option("g", "ints", (), ""), 3),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_what_would(option, value):
    """Never a traceback for bad text."""
    with pytest.raises(OptionError, match="give "):
        option.read(value)


def test_defaults_fill_in_what_is_not_given():
    """In declared order."""
    values = definition("gemm").read_options({"compute": "tf32"})
    assert values.items[0] == ("batch", 1)
    assert values.text("compute") == "tf32"
    assert values.integer("batch") == 1


def test_an_option_of_another_kind_is_refused_by_its_reader():
    """A word is not a number."""
    values = definition("gemm").read_options({})
    with pytest.raises(OptionError):
        values.integer("compute")
    with pytest.raises(OptionError):
        values.integers("batch")
