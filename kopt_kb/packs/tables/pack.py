"""What the pack tables brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.command import Command, CommandExample, JsonDocument
from kopt_kb.doors.later import later
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.table_form import TableForm

__all__ = ["PACK"]

_HERE = "kopt_kb.packs.tables"

PACK = Pack(
    name="tables",
    what="tuned tables of other programs",
    words=("fused_moe", "fused-moe"),
    table_forms=(
        TableForm(
            name="fused-moe",
            what="a fused-MoE table of vLLM or SGLang (E=…,N=…,device_name=….json)",
            recognises=later(f"{_HERE}.fused_moe:is_fused_moe"),
            read=later(f"{_HERE}.fused_moe:read_fused_moe"),
            write=later(f"{_HERE}.fused_moe:write_fused_moe"),
            serves=later(f"{_HERE}.fused_moe:serves_fused_moe"),
        ),
    ),
    commands=(
        Command(
            "table",
            "tuned tables of other programs: what each row says",
            f"{_HERE}.command",
            documents=(JsonDocument("table_read", f"{_HERE}.command:TableReading"),),
            examples=(CommandExample("table read E=1,N=2,device_name=NVIDIA_H20.json", "table_read"),),
        ),
    ),
)
