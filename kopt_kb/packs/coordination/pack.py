"""What the pack coordination brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.arguments import Arguments
from kopt_kb.doors.command import Command, CommandExample, JsonDocument
from kopt_kb.doors.later import later
from kopt_kb.doors.loop_part import LoopPart
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.proposer_source import ProposerSource

__all__ = ["PACK"]

PACK = Pack(
    name="coordination",
    what="route a task to a specialist, follow a ranked plan, CUDA graphs",
    words=("autopilot", "coordination", "specialist"),
    loop_parts=(
        LoopPart(
            name="plan",
            what="the coordination playbook: the steps of a ranked plan in their order, each tried once",
            policies={"autopilot": later("kopt_kb.packs.coordination.policy:autopilot")},
            proposers=(
                ProposerSource(
                    name="autopilot",
                    what="asks all others for the next step of the plan",
                    plan=later("kopt_kb.packs.coordination.tune_plan:made_plan"),
                    around=later("kopt_kb.packs.coordination.tune_plan:following"),
                ),
            ),
            reports={
                "optimization": later("kopt_kb.packs.coordination.summaries:optimization_report"),
                "summary": later("kopt_kb.packs.coordination.summaries:summary_report"),
            },
        ),
    ),
    arguments=(
        Arguments(("tune run", "tune resume", "tune step"), later("kopt_kb.packs.coordination.tune_plan:add_analysis")),
        Arguments(
            ("init",),
            later("kopt_kb.packs.coordination.init_prompt:add_prompt"),
            given=later("kopt_kb.packs.coordination.init_prompt:said"),
        ),
    ),
    commands=(
        Command(
            "route",
            "who does a piece of work, and what to read for it",
            "kopt_kb.packs.coordination.command",
            documents=(
                JsonDocument("route", "kopt_kb.wiki.route:ReadingList"),
                JsonDocument("route_exports", "kopt_kb.packs.coordination.routing.exports:ModuleExports"),
                JsonDocument("route_kernels", "kopt_kb.packs.coordination.routing.analysis:KernelShares"),
                JsonDocument("route_plan", "kopt_kb.packs.coordination.routing.plan:Plan"),
                JsonDocument("route_remote", "kopt_kb.packs.coordination.routing.remote:RemoteContext"),
                JsonDocument("route_task", "kopt_kb.packs.coordination.routing.task:TaskRoute"),
            ),
            examples=(
                CommandExample("route knowledge --op gemm", "route"),
                CommandExample("route task 'write a softmax kernel'", "route_task"),
                CommandExample("route plan plan.txt", "route_plan"),
                CommandExample("route kernels kernels.json", "route_kernels"),
                CommandExample("route remote --ssh node7", "route_remote"),
                CommandExample("route exports text.py", "route_exports"),
                CommandExample("route knowledge --arch sm_00", "route", golden="route"),
            ),
        ),
        Command(
            "graph",
            "CUDA graphs of a torch callable: hazards, and the script that captures and judges it",
            "kopt_kb.packs.coordination.command_graph",
            documents=(JsonDocument("graph_check", "kopt_kb.packs.coordination.command_graph:CaptureCheck"),),
            examples=(
                CommandExample("graph check text.py --function f", "graph_check"),
                CommandExample("graph check crash.py --function launch", "graph_check"),
                CommandExample("graph write text.py --function f --out graph.py", "written_file"),
            ),
        ),
    ),
)
