"""What stands behind a claim is complete, is not outdated, and is admitted where it is a single observation."""

from __future__ import annotations

import datetime

import pytest

from kopt_kb.wiki.basis import FIELDS, ClaimBasis, from_one, outdated, read_evidence, says_one

GOOD = dict(zip(FIELDS, ("measured", "2", "H200_SXM", "triton 3.6.0", "2027-11-21"), strict=True))
DAY = datetime.date(2027, 11, 21)


def evidence(basis: str, n: int) -> ClaimBasis:
    """Of any part and toolkit."""
    return ClaimBasis(basis, n, "any", "any", DAY)


def test_fields_are_read() -> None:
    """Number and day as such."""
    assert read_evidence(GOOD) == ClaimBasis("measured", 2, "H200_SXM", "triton 3.6.0", DAY)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"basis": "rumour"}, "none of source, measured, report"),
        ({"n": "0"}, "no number of observations"),
        ({"n": "-1"}, "no number of observations"),
        ({"n": "few"}, "no number of observations"),
        ({"expires": "next year"}, "not a date"),
        ({"part": ""}, "none empty"),
        ({"part": "any"}, "a measurement has a part"),
        ({"toolkit": "any"}, "a measurement has a part"),
    ],
)
def test_wrong_fields_are_named(changed: dict[str, str], message: str) -> None:
    """Each with what is wrong."""
    assert message in str(read_evidence({**GOOD, **changed}))


def test_what_others_say_may_be_about_any_part() -> None:
    """A document, or a report of users."""
    for basis in ("source", "report"):
        assert isinstance(read_evidence({**GOOD, "basis": basis, "part": "any", "toolkit": "any"}), ClaimBasis)


def test_missing_surplus_and_unordered_fields() -> None:
    """All five, in order, no more."""
    for wrong in ({}, {**GOOD, "more": "x"}, dict(reversed(GOOD.items())), {**GOOD, "n": ""}):
        assert isinstance(read_evidence(wrong), str)


@pytest.mark.parametrize(
    ("behind", "once"),
    [
        ([], False),
        ([("measured", 1)], True),
        ([("report", 1)], True),
        ([("measured", 2)], False),
        ([("report", 1), ("report", 1)], False),
        ([("report", 1), ("source", 1)], False),
        ([("source", 1)], False),
    ],
)
def test_a_single_observation(behind: list[tuple[str, int]], once: bool) -> None:
    """One recording or one report with nothing beside it; one document of the maker is enough."""
    assert from_one(evidence(basis, n) for basis, n in behind) is once


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It was slower in one run.", True),
        ("Seen once.", True),
        ("It fails (one\nreport).", True),
        ("A single measurement says so.", True),
        ("It was slower.", False),
        ("Two runs were slower.", False),
        ("One of the runs was slower.", False),
        ("someone reports it", False),
    ],
)
def test_a_claim_admits_it(text: str, said: bool) -> None:
    """In words of the claim, also over a line's end."""
    assert says_one(text) is said


def test_the_last_day_is_inside() -> None:
    """Evidence holds on its last day and not on the next."""
    behind = {"a": evidence("source", 1)}
    assert list(outdated(behind, DAY)) == []
    assert list(outdated(behind, DAY + datetime.timedelta(days=1))) == ["a"]
