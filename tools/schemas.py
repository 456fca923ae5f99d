"""Write docs/schema from the types: one JSON Schema a document that is printed or stored; `--check` only compares."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import importlib
import json
import operator
import sys
from dataclasses import MISSING
from pathlib import Path
from typing import Any

from kopt_kb.wire import schema

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "schema"

DOCUMENTS: dict[str, str] = {
    "audit": "workspace.audit.audit:AuditReport",
    "audit_foreign": "workspace.foreign.audit:ForeignReport",
    "bench_ceilings": "kernels.ceilings:CeilingsRun",
    "bench_plan": "tuning.bench:BenchPlan",
    "bench_record": "runners.replay.contest:ContestResult",
    "bench_record_confirmation": "runners.replay.confirm:Confirmation",
    "bench_workspace": "workspace.targets.bench:BenchReport",
    "bundle_statement": "workspace.bundle:Statement",
    "compare": "wiki.compare:SideBySide",
    "compile": "static.static_profile:CompiledKernels",
    "compile_configurations": "static.own_configs:OwnConfigs",
    "upgrade": "static.upgrade:Upgrade",
    "count": "static.counting:CountedKernels",
    "doctor": "runners.health:Health",
    "error": "cli.documents:ErrorDocument",
    "explain": "cli.documents:Codes",
    "export": "cli.export:Exported",
    "graph_check": "cli.graph:CaptureCheck",
    "init": "cli.init:Created",
    "isa": "analysis.isa.scan:JudgedScans",
    "launch_record": "kernels.record.model:LaunchRecord",
    "lint_text": "wiki.lint.lint:TextReport",
    "list": "cli.documents:Products",
    "lookup": "wiki.lookup:Lookup",
    "lookup_group": "wiki.group:ProductGroup",
    "memory_change": "cli.memory:MemoryChange",
    "memory_list": "cli.memory:MemoryList",
    "memory_summary": "cli.memory:MemorySummary",
    "occupancy": "analysis.occupancy.occupancy:PlatformOccupancy",
    "occupancy_record": "analysis.occupancy.occupancy:PlatformOccupancies",
    "problem": "problem.problem:Problem",
    "profile_diff": "cli.profile_diff:ProfileDiff",
    "profile_explain": "cli.profile_explain:ExplainedRule",
    "profile_gap": "analysis.gap.document:Gaps",
    "profile_read": "cli.profile_read:JudgedReports",
    "profile_roofline": "cli.profile_roofline:ReportRoofline",
    "profile_run_plan": "cli.profile_run:PlannedRun",
    "proposer_state": "tuning.proposals:ProposerState",
    "proposer_answer": "tuning.proposals:ProposerAnswer",
    "proposer_asks": "tuning.proposals:EvidenceAsked",
    "record": "cli.record:RecordedLaunch",
    "recorded_roofline": "analysis.roofline.recorded:RecordedRoofline",
    "render": "workspace.views.render:RenderReport",
    "roofline": "analysis.roofline.reach:RooflineInTime",
    "roofline_kernels": "static.kernel_roofline:KernelRooflines",
    "rooflines": "analysis.roofline.reach:RooflinesInTime",
    "route": "wiki.route:ReadingList",
    "route_exports": "routing.exports:ModuleExports",
    "route_kernels": "routing.analysis:KernelShares",
    "route_plan": "routing.plan:Plan",
    "route_remote": "routing.remote:RemoteContext",
    "route_task": "routing.task:TaskRoute",
    "cutile_recipes": "cli.cutile_recipes:RecipesOf",
    "cutile_causes": "static.cutile.logs:ExplainedLog",
    "cutile_check": "static.cutile.check:TileCheck",
    "cutile_ir": "static.cutile.dump:DumpedTiles",
    "cutile_read": "static.cutile.logs:BenchTimes",
    "tileir_apply": "static.tileir.rewrite:Rewritten",
    "tileir_bench": "static.tileir.report:Timings",
    "tileir_run": "static.tileir.report:Report",
    "tileir_check": "runners.tileir.environment:TileirEnvironment",
    "tileir_classify": "static.tileir.files:Classified",
    "search": "wiki.search:SearchResult",
    "stored_times": "inline.shares:StoredTimes",
    "suite": "tuning.suite:Suite",
    "tune_patch": "cli.tune_project:Patch",
    "tune_plan": "cli.tune_text:CampaignParameters",
    "tune_project_plan": "cli.tune_project:ProjectParameters",
    "tune_report": "tuning.report:CampaignReport",
    "v_iteration": "workspace.views.memory_model:Iteration",
    "verify_kernel": "cli.verify_kernel:KernelVerdict",
    "verify_record": "runners.records:Replayed",
    "verify_source": "tuning.lint:LintedFile",
    "verify_transfer": "cli.verify_transfer:TransferVerdict",
    "wiki_changes": "wiki.changes:WikiChanges",
    "wiki_check": "wiki.check:WikiReport",
    "wiki_conflicts": "wiki.conflicts:Conflicts",
    "wiki_diff": "wiki.differences:ForeignDifferences",
    "wiki_import_check": "wiki.lint.importing:ForeignWiki",
    "wiki_sources": "wiki.sources:WikiSources",
    "workspace_note": "cli.workspace:NoteTaken",
    "workspace_plan": "cli.workspace:PlanFile",
    "workspace_set": "workspace.retarget:Retargeting",
    "written_file": "cli.documents:WrittenFile",
    "written_files": "cli.documents:WrittenFiles",
    "written_page": "cli.documents:WrittenPage",
}
"""Document → module and class that write it."""

UNDATED: dict[str, str] = {
    "bundle_statement": "an in-toto statement, printed as the bundle holds it",
    "launch_record": "a file of a record's folder",
    "problem": "a member of other documents and of the journal",
    "proposer_answer": "others write it",
    "proposer_asks": "others write it",
    "proposer_state": "the question that a proposer is asked; its roofs carry their citations",
    "recorded_roofline": "a member of journal events",
    "stored_times": "the file of times that tests are held against",
    "v_iteration": "a memory file, printed as it lies on the disk",
}
"""Documents that no command prints as its own, and why: all others say the version and date of the wiki's data."""

STORED = {"bench_ceilings", "suite"}
"""Documents that are also written into files, where they hold no data of the wiki."""


READ = {"proposer_answer", "proposer_asks"}
"""Documents that others write and this program reads: members with a default may be missing."""


def document_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a document."""
    module, _, kind = DOCUMENTS[name].partition(":")
    written = getattr(importlib.import_module(f"kopt_kb.{module}"), kind)
    body = schema(written)
    if name in READ:
        given = [field for field in dataclasses.fields(written) if MISSING is field.default is field.default_factory]
        body["required"] = [field.name for field in given]
    return body if name in UNDATED else _dated(body, required=name not in STORED)


def _dated(body: dict[str, Any], *, required: bool) -> dict[str, Any]:
    """Return a document's schema with the version and date of the wiki's data, in every form that it can have."""
    from kopt_kb.wiki.version import DataVersion

    one = schema(DataVersion)
    body.setdefault("$defs", {})["DataVersion"] = {key: value for key, value in one.items() if key != "$schema"}
    for form in _forms(body, body["$defs"]):
        form["properties"]["data"] = {"$ref": "#/$defs/DataVersion"}
        if required:
            form["required"] = [*dict.fromkeys([*form.get("required", []), "data"])]
    return body


def _forms(body: dict[str, Any], definitions: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects that a document can be."""
    if "$ref" in body:
        body = definitions[body["$ref"].rpartition("/")[2]]
    return [body] if "properties" in body else [one for part in body["anyOf"] for one in _forms(part, definitions)]


def journal_schema() -> dict[str, Any]:
    """Return the JSON Schema of a journal line: one form for each kind of event, in one envelope.

    A member that has a default may be missing: journals are append-only, and older programs did not write it.
    """
    from kopt_kb.workspace.journal.events import kinds

    body = schema(functools.reduce(operator.or_, kinds().values()))
    for definition in body["$defs"].values():
        members = definition["properties"]
        definition["required"] = [name for name in definition["required"] if "default" not in members[name]]
    envelope = {"v": {"type": "integer", "minimum": 1}, "seq": {"type": "integer", "minimum": 1}}
    texts = {"t": {"type": "string", "format": "date-time"}, "zh": {"type": "string"}}
    lines = [
        {
            "type": "object",
            "properties": {**envelope, **texts, "kind": {"const": kind}, "data": data},
            "required": ["v", "seq", "t", "kind", "data", "zh"],
            "additionalProperties": False,
        }
        for kind, data in zip(kinds(), body["anyOf"], strict=True)
    ]
    return {"$schema": body["$schema"], "title": "Line of journal.jsonl", "oneOf": lines, "$defs": body["$defs"]}


def wiki_page_schema() -> dict[str, Any]:
    """Return the JSON Schema of a product page: its front matter, and its rows with the cells of a table line."""
    from kopt_kb.quantity.units import UNITS
    from kopt_kb.wiki.cells import GRADES
    from kopt_kb.wiki.row import COLUMNS
    from kopt_kb.wiki.vocabulary import AXES, METRICS

    text = {"type": "string", "minLength": 1}
    names = {"type": "array", "items": text}
    own = ("platform", "vendor", "sku", "arch", "target")
    front = {**dict.fromkeys(own, text), **dict.fromkeys(("aliases", "family", "not", "pci"), names)}
    axes = {name: {"enum": list(words)} if words else text for name, words in AXES.items()}
    cells: dict[str, Any] = {name: {"type": "string"} for name in COLUMNS}
    cells["Metric"] = {"enum": list(METRICS)}
    cells["Unit"] = {"enum": list(UNITS)}
    cells["Grade"] = {"enum": [*GRADES, "-"]}
    cells["Value"] = {"type": "string", "pattern": "^([0-9]+([.][0-9]+)?|UNKNOWN|NONE|[A-Za-z0-9][A-Za-z0-9.:_+-]*)$"}
    cells["Conditions"] = {"type": "object", "properties": axes, "additionalProperties": False}
    row = {"type": "object", "properties": cells, "required": list(COLUMNS), "additionalProperties": False}
    members = {
        "front": {"type": "object", "properties": front, "required": list(own), "additionalProperties": False},
        "rows": {"type": "array", "items": row},
    }
    body = {"title": "Product page of the wiki, its table lines taken apart", "type": "object", "properties": members}
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, **body, "required": ["front", "rows"], "additionalProperties": False}


def pages() -> dict[str, str]:
    """Return file name → text of every schema, members in a stable order."""
    bodies = {**{name: document_schema(name) for name in DOCUMENTS}, "journal": journal_schema()}
    bodies["wiki_page"] = wiki_page_schema()
    texts = {name: json.dumps(body, indent=1, sort_keys=True) for name, body in bodies.items()}
    return {f"{name}.schema.json": f"{text}\n" for name, text in texts.items()}


def main() -> int:
    """Write the files, or say which are not up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is out of date")
    args = parser.parse_args()
    have = {path.name: path.read_text() for path in FOLDER.glob("*.json")}
    stale = {name: text for name, text in pages().items() if have.get(name) != text}
    for name, text in stale.items():
        if args.check:
            print(f"docs/schema/{name} is out of date: run python tools/schemas.py")
        else:
            (FOLDER / name).write_text(text)
    return 1 if stale and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
