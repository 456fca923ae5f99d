"""What the pack tables brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.command import Command, CommandExample, JsonDocument
from kopt_kb.doors.later import later
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.table_form import TableForm

__all__ = ["PACK"]

_HERE = "kopt_kb.packs.tables"
_SAMPLE = "none --engine vllm --hidden 64 --top-k 1"

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
            settings=later(f"{_HERE}.fused_moe:SETTINGS"),
            launches=later(f"{_HERE}.moe_launch:launches_fused_moe"),
            unread=later(f"{_HERE}.moe_launch:unread_fused_moe"),
            asks=later(f"{_HERE}.fused_moe:asks_fused_moe"),
        ),
        TableForm(
            name="block-gemm",
            what="a table of block-scaled products of vLLM or SGLang (N=…,K=…,device_name=….json)",
            recognises=later(f"{_HERE}.block_gemm:is_block_gemm"),
            read=later(f"{_HERE}.block_gemm:read_block_gemm"),
            write=later(f"{_HERE}.block_gemm:write_block_gemm"),
            serves=later(f"{_HERE}.block_gemm:serves_block_gemm"),
            settings=later(f"{_HERE}.block_gemm:SETTINGS"),
            launches=later(f"{_HERE}.block_gemm:launches_block_gemm"),
            asks=later(f"{_HERE}.block_gemm:asks_block_gemm"),
        ),
        TableForm(
            name="state-update",
            what="a table of vLLM's Mamba state update (headdim=…,dstate=…,device_name=….json)",
            recognises=later(f"{_HERE}.state_update:is_state_update"),
            read=later(f"{_HERE}.state_update:read_state_update"),
            write=later(f"{_HERE}.state_update:write_state_update"),
            serves=later(f"{_HERE}.state_update:serves_state_update"),
            settings=later(f"{_HERE}.state_update:SETTINGS"),
        ),
        TableForm(
            name="aiter-csv",
            what="a tuned table of AITER (gfx,cu_num,….csv)",
            recognises=later(f"{_HERE}.aiter_csv:is_aiter_csv"),
            read=later(f"{_HERE}.aiter_csv:read_aiter_csv"),
            write=later(f"{_HERE}.aiter_csv:write_aiter_csv"),
            serves=later(f"{_HERE}.aiter_csv:serves_aiter_csv"),
        ),
        TableForm(
            name="triton-autotune",
            what="a stored autotune result of Triton (….autotune.json)",
            recognises=later(f"{_HERE}.triton_autotune:is_triton_autotune"),
            read=later(f"{_HERE}.triton_autotune:read_triton_autotune"),
            write=later(f"{_HERE}.triton_autotune:write_triton_autotune"),
            serves=later(f"{_HERE}.triton_autotune:serves_triton_autotune"),
        ),
        TableForm(
            name="tunable-op",
            what="results of PyTorch's TunableOp (Validator,….csv)",
            recognises=later(f"{_HERE}.tunable_op:is_tunable_op"),
            read=later(f"{_HERE}.tunable_op:read_tunable_op"),
            write=later(f"{_HERE}.tunable_op:write_tunable_op"),
            serves=later(f"{_HERE}.tunable_op:serves_tunable_op"),
        ),
    ),
    commands=(
        Command(
            "table",
            "tuned tables of other programs: read, audited, checked and tuned on a GPU, shapes that they miss",
            f"{_HERE}.command",
            documents=(
                JsonDocument("table_read", f"{_HERE}.command_read:TableReading"),
                JsonDocument("table_audit", f"{_HERE}.audit:TableAudit"),
                JsonDocument("table_check", f"{_HERE}.check:TableCheck"),
                JsonDocument("table_tune", f"{_HERE}.tune:TableTune"),
                JsonDocument("table_misses", f"{_HERE}.misses:Misses"),
            ),
            examples=(
                CommandExample("table read E=1,N=2,device_name=NVIDIA_H20.json", "table_read"),
                CommandExample("table audit E=1,N=2,device_name=NVIDIA_H20.json", "table_audit"),
                CommandExample("table misses moe.log", "table_misses", code=1),
                CommandExample(f"table check {_SAMPLE}", "table_check", code=2),
                CommandExample(f"table tune {_SAMPLE}", "table_tune", code=2),
            ),
        ),
    ),
)
