"""The schemas are what the types write, and real documents fit them."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

from kopt_kb.problem.problem import recorded_problem
from tests.contract.sample import golden_files

Fitting = Callable[[str], jsonschema.Draft202012Validator]
GOLDEN = {path.stem: path for path in golden_files()}


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """tools/schemas.py."""
    path = Path(__file__).parents[2] / "tools" / "schemas.py"
    spec = importlib.util.spec_from_file_location("schemas", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def fitting(tool: ModuleType) -> Fitting:
    """What checks documents by the schema of this name, itself checked once."""

    @cache
    def validator(name: str) -> jsonschema.Draft202012Validator:
        schema = tool.document_schema(name)
        jsonschema.Draft202012Validator.check_schema(schema)
        return jsonschema.Draft202012Validator(schema)

    return validator


def _name(document: Any, golden: str, known: Collection[str]) -> str:
    if "error" in document:
        return "error"
    return next(name for name in (golden, golden.partition("_")[0]) if name in known)


def test_the_files_are_up_to_date(tool: ModuleType) -> None:
    """docs/schema holds what the types give, nothing more."""
    files = {path.name: path.read_text() for path in tool.FOLDER.glob("*.json")}
    assert files == tool.pages()


@pytest.mark.parametrize("golden", sorted(GOLDEN))
def test_every_golden_document_fits_its_schema(tool: ModuleType, fitting: Fitting, golden: str) -> None:
    """What the commands print is what the schema says; one member more or less is refused."""
    document = json.loads(GOLDEN[golden].read_text())
    validator = fitting(_name(document, golden, tool.DOCUMENTS))
    validator.validate(document)
    assert not validator.is_valid({**document, "surplus": 1})
    for lacking in validator.schema["required"]:
        assert not validator.is_valid({name: value for name, value in document.items() if name != lacking})


def test_recorded_rooflines_and_problems_fit_their_schemas(fitting: Fitting, repo_root: Path) -> None:
    """Those of all campaigns on a real machine; problems as they are written today."""
    rooflines, problems = fitting("recorded_roofline"), fitting("problem")
    seen = set()
    for journal in sorted((repo_root / "benchmarks" / "campaigns").glob("*/*/journal.jsonl")):
        for line in journal.read_text().splitlines():
            event = json.loads(line)
            if event["kind"] == "target_set":
                for document in event["data"]["work"]["rooflines"]:
                    rooflines.validate(document)
            elif event["kind"] == "workspace_created":
                problem = {k: v for k, v in event["data"]["problem"].items() if k != "task"}
                problems.validate(recorded_problem(problem).to_json())
            seen.add(event["kind"])
    assert {"target_set", "workspace_created"} <= seen


def test_the_recorded_ceilings_fit_their_schema(fitting: Fitting, repo_root: Path) -> None:
    """The run that the wiki's measured page cites."""
    document = json.loads((repo_root / "benchmarks" / "results" / "ceilings_h200_sxm.json").read_text())
    fitting("bench_ceilings").validate(document)


def test_every_line_of_recorded_journals_fits_the_schema(tool: ModuleType, repo_root: Path) -> None:
    """Five campaigns, by older programs too; a line of another kind, or with a member more, fits none.

    A form of the schema is of one kind: the first line of a kind is held against all forms, the others against its own.
    """
    schema = tool.journal_schema()
    validator = jsonschema.Draft202012Validator(schema)
    consts = [form["properties"]["kind"].get("const") for form in schema["oneOf"]]
    assert len(set(consts)) == len(consts)
    own = {
        const: jsonschema.Draft202012Validator({"$defs": schema["$defs"], **form})
        for const, form in zip(consts, schema["oneOf"], strict=True)
    }
    kinds = set()
    for journal in sorted((repo_root / "benchmarks" / "campaigns").glob("*/*/journal.jsonl")):
        for text in journal.read_text().splitlines():
            line = json.loads(text)
            fits = own.get(line["kind"], validator) if line["kind"] in kinds else validator
            kinds.add(line["kind"])
            assert fits.is_valid(line), f"{journal.parent.name} line {line['seq']} ({line['kind']})"
    assert len(kinds) > 10
    assert not validator.is_valid({**line, "kind": "dreamt"})
    surplus = {**line, "data": {**line["data"], "surplus": 1}}
    assert not validator.is_valid(surplus) and not own[line["kind"]].is_valid(surplus)


@pytest.mark.parametrize("campaign", ["gemm", "softmax_2"])
def test_reports_of_recorded_campaigns_fit_their_schemas(fitting: Fitting, repo_root: Path, campaign: str) -> None:
    """What `kb tune report`, `kb bench utilization` and a dry run print; one member more is refused."""
    from kopt_kb.tuning.bench import BenchOptions, bench_plan, utilization
    from kopt_kb.tuning.policy import policy_named
    from kopt_kb.tuning.report import report_of
    from kopt_kb.wiki.registry import Registry
    from kopt_kb.workspace.workspace import Workspace

    workspace = Workspace.open(repo_root / "benchmarks" / "campaigns" / "h200_sxm" / campaign)
    documents = {
        "tune_report": report_of(workspace.state(), policy_named("gpu-wiki")).to_json(),
        "bench_workspace": utilization(workspace, Registry.open()).to_json(),
        "bench_plan": bench_plan(workspace, BenchOptions(record=False)).to_json(),
    }
    data = {"version": "0123456789ab", "date": "2026-11-21"}
    for name, document in documents.items():
        validator = fitting(name)
        assert not validator.is_valid(document)
        document["data"] = data
        validator.validate(document)
        assert not validator.is_valid({**document, "surplus": 1})


def test_documents_of_memory_commands_fit_their_schemas(fitting: Fitting, repo_root: Path, capsys: Any) -> None:
    """What `kb memory list` and `summary` print of a recorded campaign."""
    from kopt_kb.cli.main import main

    folder = str(repo_root / "benchmarks" / "campaigns" / "h200_sxm" / "softmax_2")
    for action in ("list", "summary"):
        assert main(["memory", action, folder, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        fitting(f"memory_{action}").validate(document)


def test_every_product_page_fits_the_schema_of_pages(tool: ModuleType) -> None:
    """Front matter and cells of all shipped products; a word out of the vocabulary does not."""
    from kopt_kb.wiki.places import default_root
    from kopt_kb.wiki.wiki import Wiki

    validator = jsonschema.Draft202012Validator(tool.wiki_page_schema())
    wiki = Wiki(default_root())
    for path in wiki.pages("hardware"):
        page = wiki.page(path)
        assert page is not None
        rows = [
            {
                "Metric": row.metric,
                "Value": row.value,
                "Unit": row.unit,
                "Conditions": dict(row.axes),
                "Grade": row.grade,
                "Source": "",
                "Note": "",
            }
            for row in page.rows
        ]
        body = {"front": dict(page.front), "rows": rows}
        assert not [error.message for error in validator.iter_errors(body)], path
        assert not validator.is_valid({**body, "rows": [{**rows[0], "Grade": "rumour"}]})
