"""What the strange pack brings through the doors: something of every kind that a campaign or a command can meet."""

from __future__ import annotations

from kopt_kb.doors.command import Command, JsonDocument
from kopt_kb.doors.export import Export
from kopt_kb.doors.language import Language
from kopt_kb.doors.later import later
from kopt_kb.doors.loop_part import GainCheck, LoopPart, PackGate, StopRule
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.view import ViewSection

__all__ = ["PACK"]

_GAINS = GainCheck(
    unpublished=later("kopt_strange.loop:unpublished"),
    tip=later("kopt_strange.loop:tip"),
    kept_tips=later("kopt_strange.loop:kept_tips"),
)
_LOOP = LoopPart(
    "dreams",
    "campaigns that sleep",
    policies={"dreams": later("kopt_strange.loop:dreams")},
    gates=(
        PackGate("rested", "whether the candidate slept", "build", later("kopt_strange.loop:rested"), gains=_GAINS),
    ),
    sections=(
        ViewSection("report", later("kopt_strange.loop:report_lines")),
        ViewSection("log", later("kopt_strange.loop:log_lines")),
    ),
    stop_reasons=(StopRule("tired", "three rounds are enough", later("kopt_strange.loop:tired")),),
)

PACK = Pack(
    name="strange",
    what="a test's pack",
    words=("strange",),
    events={"dreamt": later("kopt_strange.events:Dreamt")},
    causes=later("kopt_strange.codes:CAUSES"),
    loop_parts=(_LOOP,),
    languages=(
        Language(
            name="Sums",
            what="sums of tensors",
            vendors=("NVIDIA",),
            mark="kopt_strange.language.kernel",
            modules={"kopt_strange": "strange"},
            header="sums",
            function_code=later("kopt_strange.language:function_code"),
            dialect="sums",
            count=later("kopt_strange.language:count"),
        ),
    ),
    exports=(
        Export(
            name="sheep",
            what="whoever counts bytes to fall asleep",
            render=later("kopt_strange.export:render"),
            recognises=later("kopt_strange.export:recognises"),
            read=later("kopt_strange.export:read"),
        ),
    ),
    commands=(
        Command(
            "dream",
            "let a workspace dream",
            "kopt_strange.command",
            documents=(JsonDocument("strange_dreams", "kopt_strange.command:Dreams"),),
        ),
    ),
)
