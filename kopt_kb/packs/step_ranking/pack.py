"""What the pack step_ranking brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.command import Command, CommandExample, JsonDocument
from kopt_kb.doors.pack import Pack

__all__ = ["PACK"]

PACK = Pack(
    name="step_ranking",
    what="the step of a model in a trace, ranked by time that could be won",
    words=("profilerstep",),
    commands=(
        Command(
            "profile step",
            "rank the operators of a model's step by time that could be won",
            "kopt_kb.packs.step_ranking.command",
            documents=(JsonDocument("profile_step", "kopt_kb.packs.step_ranking.report:StepReport"),),
            examples=(CommandExample("profile step trace.json", "profile_step"),),
        ),
    ),
)
