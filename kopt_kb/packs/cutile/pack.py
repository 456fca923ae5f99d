"""What the pack cutile brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.command import Command, CommandExample, JsonDocument
from kopt_kb.doors.language import Language
from kopt_kb.doors.later import later
from kopt_kb.doors.loop_part import LoopPart
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.proposer_source import ProposerSource
from kopt_kb.doors.view import View

__all__ = ["PACK"]

_ITERATIONS = View(
    name="iterations",
    what="one line an iteration, as the cuTile loop keeps it",
    patterns=("sandbox/perf_results.md",),
    texts=later("kopt_kb.packs.cutile.iterations:perf_results"),
    applies=lambda state: state.campaign is not None and state.campaign.policy.get("name") == "cutile",
)

PACK = Pack(
    name="cutile",
    what="kernels in cuTile",
    words=("cutile", "tileiras"),
    loop_parts=(
        LoopPart(name="cutile", what="the results of a cuTile campaign", views=(_ITERATIONS,)),
        LoopPart(
            name="recipes",
            what="the recipes of the cuTile performance loop, one a round",
            policies={"cutile": later("kopt_kb.packs.cutile.policy:cutile")},
            proposers=(
                ProposerSource(
                    name="recipes",
                    what="the recipes that apply to a cuTile kernel",
                    made=later("kopt_kb.packs.cutile.proposer:recipes_of"),
                    place="before_searches",
                ),
            ),
        ),
    ),
    languages=(
        Language(
            name="cuTile",
            what="NVIDIA's tile language in Python",
            vendors=("NVIDIA",),
            backends=("CUTILE",),
            mark="cuda.tile.kernel",
            kernels="cutile",
            package="cuda-tile",
            modules={"cuda.tile": "cutile"},
            recognises=later("kopt_kb.packs.cutile.compile:is_tile_file"),
            compile=later("kopt_kb.packs.cutile.compile.build:build_tiles"),
            recorder=later("kopt_kb.packs.cutile.compile.launches:TileLaunches"),
            dialect="tile",
            count=later("kopt_kb.packs.cutile.check.counting:count_tiles"),
        ),
    ),
    extras={"cutile": "compile and record cuTile kernels without a GPU"},
    doctor=later("kopt_kb.packs.cutile.health:lines"),
    commands=(
        Command(
            "cutile",
            "check and tune cuTile kernels, read their benchmarks, explain their failures",
            "kopt_kb.packs.cutile.command",
            documents=(
                JsonDocument("cutile_recipes", "kopt_kb.packs.cutile.command_recipes:RecipesOf"),
                JsonDocument("cutile_causes", "kopt_kb.packs.cutile.check.logs:ExplainedLog"),
                JsonDocument("cutile_check", "kopt_kb.packs.cutile.check.check:TileCheck"),
                JsonDocument("cutile_ir", "kopt_kb.packs.cutile.check.dump:DumpedTiles"),
                JsonDocument("cutile_read", "kopt_kb.packs.cutile.check.logs:BenchTimes"),
            ),
            examples=(
                CommandExample("cutile check nothing.py", "cutile_check", code=2),
                CommandExample("cutile check bad_tiles.py", "cutile_check", code=1),
                CommandExample("cutile ir nothing.py --shape 2x2 --target sm_90", "cutile_ir", code=2),
                CommandExample("cutile read nothing.log", "cutile_read", code=2),
                CommandExample("cutile read bench.log", "cutile_read"),
                CommandExample("cutile causes nothing.log", "cutile_causes", code=2),
                CommandExample("cutile causes", "cutile_causes"),
                CommandExample("cutile recipes nothing.py --output made.py", "cutile_recipes", code=2),
                CommandExample("cutile recipes tiles.py", "cutile_recipes"),
            ),
        ),
    ),
)
