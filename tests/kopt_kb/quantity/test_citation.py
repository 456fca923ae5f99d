"""Citations print and parse without loss, and nothing else is one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.quantity.citation import Citation, CitationError, Location

KEYS = st.sampled_from(
    ["memory_bandwidth", "peak_compute[dtype=bf16;engine=matrix;sparsity=2:4]", "cache_line[level=l2]"]
)
PATHS = st.from_regex(r"[a-z]{1,8}(/[a-z0-9_]{1,8}){0,3}\.md", fullmatch=True)


@given(
    KEYS,
    st.decimals(0, 10**6, places=2).map(str),
    st.sampled_from(["TB/s", "count", "-"]),
    PATHS,
    st.integers(1, 10**6),
)
def test_round_trip(key: str, value: str, symbol: str, path: str, line: int) -> None:
    """What is printed parses to the same citation."""
    one = Citation(key, value, symbol, Location(path, line))
    assert Citation.parse(str(one)) == one


@pytest.mark.parametrize("tail", [":L23", ":23"])
def test_lines_with_and_without_the_letter(tail: str) -> None:
    """`:23` and `:L23` are the same line."""
    assert Citation.parse(f"memory_bandwidth: 4.0 TB/s <- <gpu-wiki>/a/b.md{tail}").location == Location("a/b.md", 23)


def test_section_and_bullet() -> None:
    """A section is kept as text, a list bullet is ignored."""
    one = Citation.parse("- memory_bandwidth: 4.0 TB/s <- <gpu-wiki>/a.md:Memory")
    assert one.location == Location("a.md", None, "Memory")


@pytest.mark.parametrize(
    "text",
    [
        "memory_bandwidth: 4.0 TB/s",
        "memory_bandwidth: <- <gpu-wiki>/a.md:L1",
        "memory_bandwidth 4.0 TB/s <- <gpu-wiki>/a.md:L1",
        "memory_bandwidth: 4.0 TB/s <- /etc/passwd:L1",
        "memory_bandwidth: 4.0 TB/s <- <gpu-wiki>/../secret.md:L1",
        "memory_bandwidth: 4.0 TB/s <- <gpu-wiki>/a.md:L0",
        "H20 HBM3 bandwidth: 4.0 TB/s <- <gpu-wiki>/docs/hardware/h20_spec.md:L23",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    """Missing parts, paths outside of the wiki and free-text metrics are no citations."""
    with pytest.raises(CitationError):
        Citation.parse(text)


def test_places_print_as_they_are_cited() -> None:
    """A line, a section, or the page alone."""
    assert [str(Location("a.md", *rest)) for rest in ((7,), (None, "Memory"), ())] == ["a.md:L7", "a.md:Memory", "a.md"]
