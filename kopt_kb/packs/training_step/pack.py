"""What the pack training_step brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.command import Command, CommandExample, JsonDocument
from kopt_kb.doors.later import later
from kopt_kb.doors.loop_part import GainCheck, LoopPart, PackGate
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.view import ViewSection

__all__ = ["PACK"]

_SECTIONS = (
    ViewSection(
        slot="report",
        lines=later("kopt_kb.packs.training_step.views:transfer_check"),
        applies=later("kopt_kb.packs.training_step.asked:is_asked"),
    ),
    ViewSection(
        slot="log",
        lines=later("kopt_kb.packs.training_step.views:applicability"),
        applies=later("kopt_kb.packs.training_step.asked:has_ended"),
    ),
)
_GAINS = GainCheck(
    unpublished=later("kopt_kb.packs.training_step.rounds:unchecked"),
    tip=later("kopt_kb.packs.training_step.tips:tip_of_gain"),
    kept_tips=later("kopt_kb.packs.training_step.tips:without_overfits"),
)
_GATE = PackGate(
    name="transfer",
    what="a change is refused whose gain no training step keeps (Rule 11)",
    after="lint",
    untimed=("training_step",),
    judge=later("kopt_kb.packs.training_step.gate:transfer_gate"),
    judges_caches=True,
    gains=_GAINS,
)

PACK = Pack(
    name="training_step",
    what="gains that reach a training step",
    words=("primus", "training_step"),
    loop_parts=(
        LoopPart(
            "primus",
            "campaigns whose gains have to reach a training step",
            policies={"primus": later("kopt_kb.packs.training_step.policy:primus")},
            gates=(_GATE,),
            sections=_SECTIONS,
        ),
    ),
    commands=(
        Command(
            "verify transfer",
            "does a cache's gain reach a training step (Rule 11)",
            "kopt_kb.packs.training_step.command",
            documents=(JsonDocument("verify_transfer", "kopt_kb.packs.training_step.command:TransferVerdict"),),
            examples=(
                CommandExample("verify transfer text.py", "verify_transfer"),
                CommandExample("verify transfer good.py", "verify_transfer"),
            ),
        ),
    ),
)
