"""What packs add to the loop fits the loop."""

from __future__ import annotations

from kopt_kb.doors.loop_words import loop_parts, loop_word
from kopt_kb.tuning.policy import GATES, gates_of, policies
from kopt_kb.workspace.journal.pack_events import pack_of


def test_gates_stand_behind_gates_of_the_core() -> None:
    """And their names, as those of stop reasons, are words that journals keep."""
    for pack, part in loop_parts():
        assert {gate.after for gate in part.gates} <= set(GATES)
        for one in (*part.gates, *part.stop_reasons):
            assert pack_of(f"{pack}.{one.name}") == pack
            assert one.what


def test_policies_name_what_there_is() -> None:
    """Each once, by its name, and all that it names of packs is there."""
    named = [name for _, part in loop_parts() for name in part.policies]
    assert len(named) == len(set(named)) == len(policies()) - 1
    for name, policy in policies().items():
        assert policy.name == name
        assert len(gates_of(policy)) >= len(GATES)
        assert all(loop_word(reason, "stop_reasons") for reason in policy.stop_reasons if pack_of(reason))
