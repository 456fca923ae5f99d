"""What the pack memory_form brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.command import Command, CommandExample, JsonDocument
from kopt_kb.doors.later import later
from kopt_kb.doors.loop_part import LoopPart
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.view import View

__all__ = ["PACK"]

_MEMORY = View(
    name="memory",
    what="memory, reports and logs of each attempt",
    patterns=(
        "baseline_report.md", "memory/v*.json", "rounds/round-*/summary.md", "logs/performance_trend.md",
        "logs/optimize.md",
    ),
    texts=later("kopt_kb.packs.memory_form.views:form_texts"),
    folders=("memory", "rounds"),
    hand_masks=later("kopt_kb.packs.memory_form.attempts:set_masks"),
)  # fmt: skip
_MANIFEST = View(
    name="manifest",
    what="manifest, quick script and kernel snapshots of a campaign that has a name",
    patterns=("manifest.yaml", "quick_test_bench.py"),
    texts=later("kopt_kb.packs.memory_form.manifest:manifest_files"),
    applies=lambda state: state.named is not None,
    raw=later("kopt_kb.packs.memory_form.manifest:named_files"),
)

PACK = Pack(
    name="memory_form",
    what="memory, logs and reports of a campaign as files",
    words=(
        "memory_form",
        "optimize_log",
        "performance_trend",
        "baseline_report",
        "round_summaries",
        "quick_test_bench",
    ),
    loop_parts=(
        LoopPart(name="memory_form", what="what was tried, measured and learnt, as files", views=(_MEMORY, _MANIFEST)),
    ),
    commands=(
        Command(
            "memory",
            "read and extend the memory of a workspace",
            "kopt_kb.packs.memory_form.command",
            documents=(
                JsonDocument("memory_change", "kopt_kb.packs.memory_form.command:MemoryChange"),
                JsonDocument("memory_list", "kopt_kb.packs.memory_form.command:MemoryList"),
                JsonDocument("memory_summary", "kopt_kb.packs.memory_form.command:MemorySummary"),
                JsonDocument(
                    "v_iteration",
                    "kopt_kb.packs.memory_form.memory_model:Iteration",
                    undated="a memory file, printed as it lies on the disk",
                ),
            ),
            examples=(
                CommandExample("memory init ws", "memory_change"),
                CommandExample("memory create ws --category a --claim b --rationale c", "memory_change", code=2),
                CommandExample("memory read ws --version v0", "v_iteration"),
                CommandExample("memory update ws --version 0 --set notes=a", "memory_change", code=1),
                CommandExample("memory mask ws --version 0 --reason a", "memory_change", code=2),
                CommandExample("memory unmask ws --version 0 --reason a", "memory_change"),
                CommandExample("memory summary ws", "memory_summary"),
                CommandExample("memory latest ws", "v_iteration"),
                CommandExample("memory list ws", "memory_list"),
            ),
        ),
    ),
    causes=later("kopt_kb.packs.memory_form.codes:CAUSES"),
)
