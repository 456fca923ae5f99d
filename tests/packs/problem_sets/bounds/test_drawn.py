"""How much of an input is drawn freely."""

from __future__ import annotations

from fractions import Fraction

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.packs.problem_sets.bounds.drawn import drawn_shares  # noqa: E402

pytestmark = pytest.mark.torch


def _symmetric():
    one = torch.rand(4, 4)
    return one + one.T


@pytest.mark.parametrize(
    ("make", "share"),
    [
        (lambda: torch.rand(4, 4), 1),
        (lambda: torch.rand(4, 4) * 2 - 1, 1),
        (lambda: torch.rand(4, 4) * torch.rand(()), 1),
        (lambda: torch.randint(0, 2, (4, 4)).float() * 2 - 1, 1),
        (lambda: torch.rand(4, 4).T, 1),
        (lambda: torch.rand(4, 4) + torch.rand(4, 4), 1),
        (lambda: torch.tril(torch.rand(4, 4)), Fraction(10, 16)),
        (lambda: torch.triu(torch.rand(4, 4), 1), Fraction(6, 16)),
        (lambda: torch.rand(4, 4).softmax(-1), Fraction(3, 4)),
        (_symmetric, Fraction(5, 8)),
        (lambda: torch.ones(4, 4), 0),
        (lambda: torch.arange(4.0), 0),
        (lambda: torch.rand(4, 4) * 0, 0),
        (lambda: torch.rand(4, 4) * torch.eye(4), 0),
        (lambda: torch.rand(4, 4) @ torch.rand(4, 4), 0),
        (lambda: torch.rand(4, 1).expand(4, 4), 0),
    ],
)
def test_what_follows_from_other_elements_is_not_free(make, share):
    (made,), shares = drawn_shares(lambda: [make()])
    assert shares[id(made)].share == share


def test_of_two_inputs_of_one_draw_the_first_counts():
    def make():
        one = torch.rand(4)
        return [one, one * 2, 3]

    made, shares = drawn_shares(make)
    assert [shares[id(one)].share for one in made[:2]] == [1, 0]
