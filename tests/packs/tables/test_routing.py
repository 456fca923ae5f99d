"""How tokens fall on experts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.routing import BALANCED, Routing, read_routing


@pytest.mark.parametrize(
    ("routing", "tokens", "top_k", "experts", "expected"),
    [
        (BALANCED, 8, 2, 4, (4, 4, 4, 4)),
        (BALANCED, 3, 2, 4, (2, 2, 1, 1)),
        (BALANCED, 1, 2, 4, (1, 1, 0, 0)),
        (Routing("skew:1", 1.0), 12, 1, 2, (8, 4)),
        (Routing("skew:8", 8.0), 4, 2, 4, (4, 4, 0, 0)),
        (Routing("log", counted=(0, 30, 10, 0)), 4, 1, 4, (0, 3, 1, 0)),
        (Routing("log", counted=(0, 0, 0, 9)), 4, 2, 4, (2, 1, 1, 4)),
    ],
    ids=["even", "a rest", "few tokens", "a skew", "no token twice", "a log", "a log of one expert"],
)
def test_rows_of_experts(routing: Routing, tokens: int, top_k: int, experts: int, expected: tuple[int, ...]) -> None:
    """They add up, and no expert has more rows than there are tokens: what it can't take falls on the others."""
    found = routing.rows(tokens, top_k, experts)
    assert found == expected
    assert sum(found) == tokens * top_k and max(found) <= tokens


def test_a_routing_is_read(tmp_path: Path) -> None:
    """By name, or as counts of a log: a list, or one a line."""
    (tmp_path / "a.json").write_text("[3, 1]")
    (tmp_path / "a.txt").write_text("3\n1\n")
    assert read_routing("balanced") is BALANCED
    assert read_routing("skew:0.5") == Routing("skew:0.5", 0.5)
    for name in ("a.json", "a.txt"):
        assert read_routing(str(tmp_path / name)).counted == (3, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [("[1, -1]", "expert 1"), ("[1.5]", "expert 0"), ("[true]", "expert 0"), ("3\nmany", "expert 1"), ("0 0", "no token"),
     ("5", ""), ("[" * 100_000, "nested deeper"), (f"[1, {10**400}]", "expert 1")],
    ids=["negative", "a float", "a truth value", "a word", "nothing", "one number", "nested", "beyond any log"],
)  # fmt: skip
def test_a_log_that_counts_nothing(tmp_path: Path, text: str, says: str) -> None:
    """Refused with the expert that is meant."""
    (tmp_path / "log").write_text(text)
    if not says:
        assert read_routing(str(tmp_path / "log")).counted == (5,)
        return
    with pytest.raises(BadInput, match=says):
        read_routing(str(tmp_path / "log"))


def test_what_is_no_routing() -> None:
    """No file, a skew beyond all, more experts than there are, a log of another layer."""
    with pytest.raises(BadInput, match="no routing and no file"):
        read_routing("skewed")
    with pytest.raises(BadInput, match="no skew"):
        read_routing("skew:99")
    with pytest.raises(BadInput, match="8 of 4 experts"):
        BALANCED.rows(1, 8, 4)
    with pytest.raises(BadInput, match="counts 2 experts"):
        Routing("log", counted=(1, 1)).rows(1, 1, 4)
