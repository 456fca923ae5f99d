"""What the pack tileir brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.command import Command, CommandExample, JsonDocument
from kopt_kb.doors.pack import Pack

__all__ = ["PACK"]

PACK = Pack(
    name="tileir",
    what="prepare Triton kernels for the TileIR backend",
    words=("tileir",),
    commands=(
        Command(
            "tileir",
            "prepare Triton kernels for the TileIR backend",
            "kopt_kb.packs.tileir.command",
            documents=(
                JsonDocument("tileir_apply", "kopt_kb.packs.tileir.rewrite:Rewritten"),
                JsonDocument("tileir_bench", "kopt_kb.packs.tileir.report:Timings"),
                JsonDocument("tileir_run", "kopt_kb.packs.tileir.report:Report"),
                JsonDocument("tileir_check", "kopt_kb.packs.tileir.environment:TileirEnvironment"),
                JsonDocument("tileir_classify", "kopt_kb.packs.tileir.files:Classified"),
            ),
            examples=(
                CommandExample("tileir check", "tileir_check", code=3),
                CommandExample("tileir classify nothing.py", "tileir_classify", code=2),
                CommandExample("tileir classify rows.py", "tileir_classify"),
                CommandExample("tileir apply nothing.py --output made.py", "tileir_apply", code=2),
                CommandExample("tileir apply rows.py", "tileir_apply"),
                CommandExample("tileir run nothing.py --output made.py", "tileir_run", code=2),
                CommandExample("tileir run rows.py", "tileir_run", needs="torch"),
                CommandExample("tileir bench nothing.py --prepared nothing.py", "tileir_bench", code=2),
                CommandExample("tileir bench rows.py --prepared rows.py", "tileir_bench", code=3, needs="torch"),
            ),
        ),
    ),
)
