"""What the arguments of `kb tune` ask for."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from kopt_kb.cli.tune_campaign import add_campaign, asked_policy, proposers_of
from kopt_kb.errors import BadInput


def asked(*words: str) -> argparse.Namespace:
    """The arguments of these words."""
    parser = argparse.ArgumentParser()
    add_campaign(parser)
    return parser.parse_args(words)


def test_own_proposers_come_after_outside_ones() -> None:
    """Without words the package's own; a plan stands alone."""
    own = [proposer.name for proposer in proposers_of(asked())]
    assert len(own) == 3
    both = [proposer.name for proposer in proposers_of(asked("--proposer", "first me", "--proposer", "then you"))]
    assert both[2:] == own
    assert "first" in both[0] and "then" in both[1]
    assert len(proposers_of(asked("--plan", str(Path("plan.json")), "--proposer", "x"))) == 1


@pytest.mark.parametrize(
    ("words", "scope"), [((), ""), (("--every-shape",), "every_shape"), (("--aggregate",), "aggregate")]
)
def test_a_policy_is_changed_where_a_flag_says_so(words: tuple[str, ...], scope: str) -> None:
    """Scope, rounds and stop reasons; without a flag they are the policy's own."""
    plain = asked_policy(asked(), None)
    policy = asked_policy(asked("--max-rounds", "3", "--no-stop", "plateau", *words), None)
    assert policy.stop_scope == (scope or plain.stop_scope)
    assert (policy.max_rounds, plain.max_rounds) == (3, None)
    assert set(plain.stop_reasons) - set(policy.stop_reasons) == {"plateau"}


def test_a_policy_that_can_not_be_is_refused() -> None:
    """No rounds at all."""
    with pytest.raises(BadInput):
        asked_policy(asked("--max-rounds", "0"), None)
