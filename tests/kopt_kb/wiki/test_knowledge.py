"""Knowledge pages are read strictly: front matter, structure, a source for every claim, links that lead somewhere."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.faults import FAULT_CODES
from kopt_kb.wiki.knowledge import expired, links, page_faults, read_knowledge

GOOD = """---
title: A trap
kind: pitfall
op: [gemm]
backend: [any]
arch: [sm_00, nvidia]
versions: "triton >= 3.4"
---
# A trap

## Trap

A claim.[^doc]

## Symptom

- seen here[^doc]

## Why

Because:

1. of this[^doc]

## What to do

| Do | Then |
|---|---|
| this | that[^doc] |

```
code needs no source
```

## See also

- [the target](../targets/sm_00.md)

[^doc]: title="T"; publisher="P"; url="https://example.org"; revision="undated"; read="2026-11-21"; basis="source"; n="1"; part="any"; toolkit="any"; expires="2027-11-21"
"""


def codes(text: str, path: str = "pitfalls/a.md") -> list[str]:
    """Fault codes of a page in a wiki that has one target."""
    page = read_knowledge(text.encode(), path, ("sm_00",))
    return [fault.code for fault in page_faults(page, ("targets/sm_00.md", path))]


def test_a_good_page_has_no_fault() -> None:
    """Its tags are as written."""
    page = read_knowledge(GOOD.encode(), "pitfalls/a.md", ("sm_00",))
    assert page.faults == []
    assert (page.title, page.kind, page.tags["arch"]) == ("A trap", "pitfall", ("sm_00", "nvidia"))
    assert list(links(page)) == [(37, "targets/sm_00.md")]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("title: A trap\n", "", "WK501"),
        ("kind: pitfall", "kind: advice", "WK501"),
        ("op: [gemm]", "op: gemm", "WK501"),
        ("op: [gemm]", "op: [conv]", "WK501"),
        ("op: [gemm]", "op: [any, gemm]", "WK501"),
        ("backend: [any]", "backend: []", "WK501"),
        ("arch: [sm_00, nvidia]", "arch: [sm_01]", "WK501"),
        ("arch: [sm_00, nvidia]", "arch: [blackwell]", "WK501"),
        ('versions: "triton >= 3.4"', "order: 1", "WK501"),
        ("---\ntitle", "title", "WK501"),
        ("# A trap\n", "# Another\n", "WK502"),
        ("## Why\n", "## Reason\n", "WK502"),
        ("code needs no source\n```", "code needs no source", "WK502"),
        ("A claim.[^doc]", "A claim.", "WK503"),
        ("- seen here[^doc]", "- seen here", "WK503"),
        ("| that[^doc] |", "| that |", "WK503"),
        ("- [the target](../targets/sm_00.md)", "- look elsewhere", "WK503"),
        ("../targets/sm_00.md", "../targets/sm_99.md", "WK504"),
        ("A claim.[^doc]", "A claim.[^dog]", "WK109"),
        ('publisher="P"; ', "", "WK109"),
        ("A claim.[^doc]", "A claim.[^doc]\0", "WK102"),
    ],
)
def test_each_fault_is_named(old: str, new: str, code: str) -> None:
    """One change, one code."""
    assert old in GOOD
    found = codes(GOOD.replace(old, new))
    assert code in found
    assert all(one in FAULT_CODES for one in found)


def test_an_unused_footnote_is_a_fault() -> None:
    """Also when its id stands in code only."""
    extra = (
        GOOD
        + '[^two]: title="T"; publisher="P"; url="u"; revision="r"; read="2026-11-21"; basis="source"; n="1"; part="any"; toolkit="any"; expires="2027-11-21"\n'
    )
    assert codes(extra) == ["WK109"]


def test_bytes_that_are_no_text() -> None:
    """No exception, a fault with its line."""
    page = read_knowledge(b"---\n\xff\n", "ops/a.md", ())
    assert [(fault.code, fault.line) for fault in page.faults] == [("WK102", 2)]


ADVICE = """---
kind: advice
limiter: tail
title: Tail
---
# Tail

**Why.** The last wave is short. [^doc]

## What to do

1. Change the tile
2. Split the work

[^doc]: title="T"; publisher="P"; url="https://example.org"; revision="undated"; read="2026-11-21"; basis="source"; n="1"; part="any"; toolkit="any"; expires="2027-11-21"
"""


def test_advice_pages_are_about_everything_and_their_steps_are_instructions() -> None:
    """The claim above them needs its source, and the limiter is the file's name."""
    page = read_knowledge(ADVICE.encode(), "advice/tail.md", ())
    assert page.faults == []
    assert page.tags == {"op": ("any",), "backend": ("any",), "arch": ("any",)}
    assert codes(ADVICE, "advice/head.md") == ["WK501"]
    assert codes(ADVICE.replace(" [^doc]\n", "\n"), "advice/tail.md") == ["WK503", "WK109"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD.replace("# A trap\n", "# Another\n"), "the title is not the page's only H1"),
        (GOOD.replace("# A trap\n", "# A trap\n\n# A trap\n"), "the title is not the page's only H1"),
        (GOOD.replace("## Symptom\n", "### Symptom\n"), "a pitfall page lacks Symptom"),
        (GOOD.replace("\n## ", "\n### "), "the page has no H2 section"),
    ],
)
def test_the_structure_of_a_page(text: str, words: str) -> None:
    """One title, sections, and those its kind needs."""
    page = read_knowledge(text.encode(), "pitfalls/a.md", ("sm_00",))
    assert words in [fault.message for fault in page_faults(page, {"targets/sm_00.md"}) if fault.code == "WK502"]


def test_a_page_that_is_too_large_is_not_read() -> None:
    """A megabyte of text is no page."""
    page = read_knowledge(b"x" * (1 << 21), "pitfalls/a.md", ("sm_00",))
    assert [fault.code for fault in page_faults(page, set())][:1] == ["WK101"]


def test_links_in_code_and_to_other_sites_lead_nowhere_here() -> None:
    """Only relative paths are pages; anchors are left out of them."""
    text = GOOD.replace("code needs no source", "[x](y.md)").replace(
        "- [the target](../targets/sm_00.md)", "- [a](../targets/sm_00.md#x) [b](https://example.org) [c](#why)"
    )
    assert [path for _, path in links(read_knowledge(text.encode(), "pitfalls/a.md", ("sm_00",)))] == [
        "targets/sm_00.md"
    ]


@pytest.mark.parametrize(
    ("basis", "n", "claim", "expected"),
    [
        ("measured", "1", "It is slower.", ["WK505"]),
        ("report", "1", "It is slower.", ["WK505"]),
        ("report", "1", "It is slower (one report).", []),
        ("measured", "3", "It is slower.", []),
        ("source", "1", "It is slower.", []),
    ],
)
def test_a_claim_from_one_observation_says_so(basis: str, n: str, claim: str, expected: list[str]) -> None:
    """Steps are exempt, and one document of the maker is no observation."""
    text = GOOD.replace("A claim.", claim).replace("- seen here", "- seen here in one run")
    text = text.replace("1. of this", "1. of this, one run").replace(
        'basis="source"; n="1"; part="any"; toolkit="any"',
        f'basis="{basis}"; n="{n}"; part="T10"; toolkit="triton 3.6.0"',
    )
    assert [fault.code for fault in read_knowledge(text.encode(), "pitfalls/a_trap.md", ("sm_00",)).faults] == expected


def test_evidence_expires_by_the_newest_day_of_the_wiki() -> None:
    """A page is held against what was read last anywhere, so that nothing changes while nobody writes."""
    old = read_knowledge(GOOD.encode(), "pitfalls/a_trap.md", ("sm_00",))
    assert list(expired([old])) == []
    new = GOOD.replace('read="2026-11-21"', 'read="2027-11-22"').replace('expires="2027', 'expires="2028')
    later = read_knowledge(new.encode(), "pitfalls/b_trap.md", ("sm_00",))
    assert [(fault.code, fault.path) for fault in expired([old, later])] == [("WK506", "pitfalls/a_trap.md")]
