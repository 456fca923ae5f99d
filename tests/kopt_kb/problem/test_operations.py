"""The list of operations: every dimension has its words."""

from __future__ import annotations

from kopt_kb.problem.operations import operations
from kopt_kb.problem.ops import OPS, definition


def test_all_operations_are_there_with_words() -> None:
    """In the order of the list, a word for each letter of the form, formulas that use the letters."""
    found = operations()
    assert tuple(one.op for one in found) == OPS
    for one in found:
        assert "x".join(size.name for size in one.dimensions) == one.form
        assert all(size.meaning for size in one.dimensions) and one.summary and one.bytes
        assert {option.name for option in one.options} == {option.name for option in definition(one.op).options}


def test_attention_says_what_its_letters_are() -> None:
    """The page that nobody had: BxHxSxD."""
    (attention,) = (one for one in operations() if one.op == "attention")
    assert [(size.name, size.meaning.split(" ")[0]) for size in attention.dimensions] == [
        ("B", "batches"), ("H", "heads"), ("S", "queries"), ("D", "width"),
    ]  # fmt: skip
    assert {option.name: option.values for option in attention.options}["causal"] == "true or false"


def test_aliases_are_listed() -> None:
    """As `--op` takes them."""
    assert {one.op: one.aliases for one in operations()}["gemm"] == ("matmul",)
