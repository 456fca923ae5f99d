"""What the arguments of `kb tune` ask for."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.tune.campaign import add_campaign, asked_policy, proposers_of
from kopt_kb.doors.proposer_source import ProposerContext


def asked(*words: str) -> argparse.Namespace:
    """The arguments of these words."""
    parser = argparse.ArgumentParser()
    add_campaign(parser)
    return parser.parse_args(words)


def proposers(*words: str) -> list[str]:
    """Who is asked for a Triton kernel."""
    state: Any = SimpleNamespace(task=SimpleNamespace(framework="Triton"))
    return [one.name for one in proposers_of(ProposerContext(state, "gpu-wiki", asked(*words)))]


def test_own_proposers_come_after_outside_ones() -> None:
    """Without words the package's own; a plan stands alone."""
    own = proposers()
    assert own == ["package", "variants", "knobs", "own_space"]
    both = proposers("--proposer", "first me", "--proposer", "then you")
    assert both[2:] == own
    assert "first" in both[0] and "then" in both[1]
    assert proposers("--no-package") == own[1:]
    assert len(proposers("--plan", str(Path("plan.json")), "--proposer", "x")) == 1


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
