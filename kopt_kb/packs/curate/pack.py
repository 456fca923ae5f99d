"""What the pack curate brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.command import AgentTool, Command, CommandExample, JsonDocument
from kopt_kb.doors.export import Export
from kopt_kb.doors.later import later
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.wiki_check import WikiCheck

__all__ = ["PACK"]

_HERE, _PEAKS = "kopt_kb.packs.curate", "kopt_kb.packs.curate.peaks"
_COLUMNS = f"{_PEAKS}.columns"


def _form(name: str, what: str, module: str, *, lacks: bool = False, many: bool = False) -> Export:
    """Return a form of text that is written and read by a module of its own."""
    return Export(
        name=name,
        what=what,
        render=later(f"{module}:render"),
        many=many,
        lacks=later(f"{module}:lacks") if lacks else None,
        recognises=later(f"{module}:recognises"),
        read=later(f"{module}:read"),
    )


PACK = Pack(
    name="curate",
    what="write, check, export and publish a wiki; numbers in texts",
    words=("geak", "tileops"),
    exports=(
        _form("geak", "AMD-AGI/GEAK, roofline/peaks.md", f"{_PEAKS}.geak", lacks=True),
        _form("solar", "NVlabs/SOLAR, configs/arch/*.yaml", f"{_PEAKS}.solar", lacks=True, many=True),
        _form("kernelbench", "ScalingIntelligence/KernelBench, gpu_specs.py", f"{_PEAKS}.kernelbench"),
        _form("tileops", "tile-ai/TileOPs, perf/profiles/*.yaml", f"{_PEAKS}.tileops", lacks=True, many=True),
        _form("agent-flow", "TensorRT-LLM's agent-flow, a named source for its projector", f"{_PEAKS}.agent_flow"),
        Export("csv", "every value as CSV", render=later(f"{_COLUMNS}:render_csv")),
        Export("json", "every value as JSON", render=later(f"{_COLUMNS}:render_json")),
        Export(
            name="sqlite",
            what="every value as an SQLite file",
            store=later(f"{_COLUMNS}:write_sqlite"),
            magic=b"SQLite format 3\0",
            load=later(f"{_COLUMNS}:read_sqlite"),
        ),
        Export(
            name="parquet",
            what="every value as a Parquet file (pyarrow)",
            store=later(f"{_COLUMNS}:write_parquet"),
            magic=b"PAR1",
            load=later(f"{_COLUMNS}:read_parquet"),
        ),
    ),
    commands=(
        Command(
            "wiki changes",
            "what differs between two wikis, row by row",
            f"{_HERE}.wiki_changes",
            documents=(JsonDocument("wiki_changes", "kopt_kb.packs.curate.changes:WikiChanges"),),
            examples=(CommandExample("wiki changes wiki wiki", "wiki_changes"),),
        ),
        Command(
            "wiki diff",
            "compare a foreign table with the wiki",
            f"{_HERE}.wiki_diff",
            documents=(JsonDocument("wiki_diff", "kopt_kb.packs.curate.differences:ForeignDifferences"),),
            examples=(
                CommandExample("wiki diff table.csv", "wiki_diff"),
                CommandExample("wiki diff TABLE", "wiki_diff", code=1, golden="wiki_diff"),
            ),
        ),
        Command(
            "wiki sources",
            "read the sources again",
            f"{_HERE}.wiki_sources",
            documents=(JsonDocument("wiki_sources", "kopt_kb.packs.curate.sources:WikiSources"),),
            examples=(CommandExample("wiki sources wiki", "wiki_sources"),),
        ),
        Command(
            "wiki import-check",
            "read another wiki's pages",
            f"{_HERE}.wiki_import_check",
            documents=(JsonDocument("wiki_import_check", "kopt_kb.packs.curate.lint.importing:ForeignWiki"),),
            examples=(
                CommandExample("wiki import-check folder", "wiki_import_check", code=2),
                CommandExample("wiki import-check wiki/hardware", "wiki_import_check"),
            ),
        ),
        Command(
            "wiki new",
            "write a product's page to be filled",
            f"{_HERE}.wiki_new",
            examples=(CommandExample("wiki new H999 --target sm_00 --into wiki", "written_files"),),
        ),
        Command(
            "wiki site",
            "write HTML to browse",
            "kopt_kb.packs.curate.wiki_site",
            examples=(CommandExample("wiki site --out site", "written_files"),),
        ),
        Command(
            "export",
            "values in the forms that other tools read",
            "kopt_kb.packs.curate.export",
            documents=(JsonDocument("export", "kopt_kb.packs.curate.export:Exported"),),
            examples=(
                CommandExample("export peaks H20 --for csv --output peaks.csv", "export"),
                CommandExample("export peaks MI355X --for geak --output out", "export"),
            ),
        ),
        Command(
            "lint-text",
            "hardware numbers in texts and code that contradict the wiki",
            "kopt_kb.packs.curate.lint_text",
            documents=(JsonDocument("lint_text", "kopt_kb.packs.curate.lint.lint:TextReport"),),
            examples=(
                CommandExample("lint-text report.csv", "lint_text"),
                CommandExample("lint-text notes.md", "lint_text"),
            ),
            tool=AgentTool(
                "Hardware numbers in texts and code that contradict the sourced values, are guessed, or have no "
                "source. Use it before a text is archived.",
                {"": ("files", "level")},
                ("lint_text",),
                frozenset({"files"}),
            ),
        ),
    ),
    wiki_checks=(
        WikiCheck(
            "required", "what every product page answers", product=later("kopt_kb.packs.curate.required:unanswered")
        ),
        WikiCheck(
            "sources", "rows that changed since they were read", wiki=later("kopt_kb.packs.curate.sources:changed_rows")
        ),
        WikiCheck("targets", "targets beside their kin", wiki=later("kopt_kb.packs.curate.kin:odd_targets")),
        WikiCheck("products", "products beside their kin", wiki=later("kopt_kb.packs.curate.kin:odd_products")),
        WikiCheck("nothing", "NONE beside the kin", wiki=later("kopt_kb.packs.curate.nothing:wrongly_none")),
        WikiCheck("repeated", "one cell quoted in two ways", wiki=later("kopt_kb.packs.curate.repeated:other_quotes")),
    ),
    causes=later("kopt_kb.packs.curate.codes:CAUSES"),
)
