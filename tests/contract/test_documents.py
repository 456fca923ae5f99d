"""What commands print with --json is what docs/schema says: each document, by a command that prints it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from tests.contract.test_json import COMMANDS as FROZEN

DATA = Path(__file__).parents[1] / "data"
Fits = Callable[[str, object], bool]
Capture = pytest.CaptureFixture[str]
MEMORY, LIBRARY = str(DATA / "zoo" / "memory.csv"), str(DATA / "zoo" / "library.csv")
OP = ["--op", "rms_norm", "--dtype", "bf16", "--platform", "H200_SXM"]
ROOT = DATA.parents[1]
SCHEMAS = ROOT / "docs" / "schema"
CAMPAIGN = str(ROOT / "benchmarks" / "campaigns" / "h200_sxm" / "gemm")
CEILINGS = str(ROOT / "benchmarks" / "results" / "ceilings_h200_sxm.json")
KERNEL_OF_8192 = [str(ROOT / "kernels" / "rms_norm.py"), "--shape", "8192x4096", "--dtype", "bf16"]
CHECK = ["--shape", "4x8", "--dtype", "fp32", "--device", "cpu", "--seeds", "1", "--inputs", "random"]
SPACE = ["tune", "run", "WORKSPACE", "--simulate", "--samples", "3", "--evaluations", "2"]

COMMANDS: dict[str, tuple[str, int, list[str]]] = {
    "bundle": ("bundle_statement", 0, ["tune", "bundle", "WORKSPACE", "--output", "TMP/norm.kbb"]),
    "cutile_causes": ("cutile_causes", 0, ["cutile", "causes"]),
    "cutile_check": ("cutile_check", 1, ["cutile", "check", str(DATA / "bad_tiles.py")]),
    "cutile_read": ("cutile_read", 0, ["cutile", "read", "TMP/bench.log"]),
    "explain": ("explain", 0, ["explain", "KB063"]),
    "export": ("export", 0, ["export", "peaks", "MI355X", "--for", "geak", "--output", "TMP/out"]),
    "graph_check": ("graph_check", 0, ["graph", "check", "TMP/crash.py", "--function", "launch"]),
    "graph_write": ("written_file", 0, ["graph", "write", "TMP/good.py", "--function", "launch", "--out", "TMP/g.py"]),
    "isa": ("isa", 1, ["isa", "TMP/k.sass"]),
    "lookup_group": ("lookup_group", 0, ["lookup", "gfx942"]),
    "lint_text": ("lint_text", 0, ["lint-text", "TMP/notes.md"]),
    "bench_plan": ("bench_plan", 0, ["bench", "kernel", CAMPAIGN, "--dry-run"]),
    "bench_utilization": ("bench_workspace", 0, ["bench", "utilization", CAMPAIGN]),
    "memory_list": ("memory_list", 0, ["memory", "list", CAMPAIGN]),
    "memory_summary": ("memory_summary", 0, ["memory", "summary", CAMPAIGN]),
    "memory_latest": ("v_iteration", 0, ["memory", "latest", CAMPAIGN]),
    "memory_change": ("memory_change", 0, ["memory", "init", "WORKSPACE"]),
    "occupancy": ("occupancy", 0, ["occupancy", "--platform", "H200_SXM", "--threads", "256", "--registers", "32"]),
    "profile_diff": ("profile_diff", 0, ["profile", "diff", MEMORY, MEMORY, "--threshold", "1"]),
    "profile_explain": ("profile_explain", 0, ["profile", "explain", "BN-DIVERGENCE"]),
    "profile_gap": ("profile_gap", 0, ["profile", "gap", MEMORY]),
    "profile_read": ("profile_read", 0, ["profile", "read", MEMORY, "--top", "2"]),
    "profile_read_trace": ("profile_read", 0, ["profile", "read", str(DATA / "traces" / "torch_h100.json.gz")]),
    "profile_roofline": ("profile_roofline", 0, ["profile", "roofline", LIBRARY, "--platform", "H200_SXM"]),
    "profile_run": ("profile_run_plan", 0, ["profile", "run", "--dry-run", "--tool", "rocprofv3", "PROGRAM"]),
    "render": ("render", 0, ["render", "WORKSPACE"]),
    "rooflines": ("rooflines", 0, ["roofline", *OP, "--shape", "8192x4096", "--shape", "4096x4096"]),
    "route_exports": ("route_exports", 0, ["route", "exports", "TMP/good.py"]),
    "route_kernels": ("route_kernels", 0, ["route", "kernels", "TMP/kernels.json"]),
    "route_plan": ("route_plan", 0, ["route", "plan", "TMP/plan.txt"]),
    "route_remote": ("route_remote", 0, ["route", "remote", "--job", "4711"]),
    "route_task": ("route_task", 0, ["route", "task", "write a softmax kernel"]),
    "cutile_recipes": ("cutile_recipes", 0, ["cutile", "recipes", str(ROOT / "kernels/cutile/rms_norm.py")]),
    "tileir_apply": ("tileir_apply", 0, ["tileir", "apply", "TMP/rows.py"]),
    "tileir_check": ("tileir_check", 3, ["tileir", "check"]),
    "tileir_classify": ("tileir_classify", 0, ["tileir", "classify", "TMP/rows.py"]),
    "tune_dry_run": ("tune_plan", 0, [*SPACE, "--dry-run", "--core-shape", "1024x512"]),
    "tune_dry_run_judged": ("tune_plan", 0, ["tune", "run", "WORKSPACE", "--dry-run", "--judge", "child"]),
    "tune_project": ("tune_project_plan", 0, ["tune", "run", "PROJECT", "--dry-run"]),
    "tune_patch": ("tune_patch", 0, ["tune", "patch", CAMPAIGN]),
    "tune_status": ("tune_report", 0, ["tune", "status", "WORKSPACE"]),
    "verify_source": ("verify_source", 1, ["verify", "source", "TMP/crash.py"]),
    "verify_transfer": ("verify_transfer", 0, ["verify", "transfer", "TMP/good.py"]),
    "wiki_changes": ("wiki_changes", 0, ["wiki", "changes", str(ROOT / "gpuwiki"), str(ROOT / "gpuwiki")]),
    "wiki_import_check": ("wiki_import_check", 0, ["wiki", "import-check", str(ROOT / "gpuwiki" / "hardware")]),
    "occupancy_record": ("occupancy_record", 0, ["occupancy", "--platform", "H200_SXM", "--record", "TMP/compiled.json"]),
    "wiki_new": ("written_files", 0, ["wiki", "new", "H20_X", "--target", "sm_90", "--into", "TMP/wiki"]),
    "bench_page": ("written_page", 0, ["bench", "page", CEILINGS, "--platform", "H200_SXM", "--wiki", "TMP/wiki", "--read", "2026-01-01"]),
    "wiki_copy": ("written_file", 0, ["wiki", "copy", "TMP/other"]),
    "wiki_site": ("written_files", 0, ["wiki", "site", "--out", "TMP/site"]),
    "wiki_sources": ("wiki_sources", 0, ["wiki", "sources"]),
    "workspace_note": ("workspace_note", 0, ["workspace", "note", "WORKSPACE", "--topic", "search", "--text", "tried"]),
    "workspace_plan": ("workspace_plan", 0, ["workspace", "plan", "WORKSPACE"]),
    "workspace_set": ("workspace_set", 0, ["workspace", "set", "WORKSPACE", "--target-factor", "0.8", "--reason", "r", "--by", "b"]),
}  # fmt: skip
"""Name → document, exit code, words. WORKSPACE and PROJECT stand for workspaces, TMP for a folder with files."""

EXPENSIVE: dict[str, tuple[str, int, list[str]]] = {
    "record": ("record", 0, ["record", str(ROOT / "kernels/rms_norm.py"), "--shape", "64x128", "--dtype", "bf16", "--platform", "H200_SXM", "--out", "TMP/record"]),
    "compile": ("compile", 0, ["compile", *KERNEL_OF_8192, "--target", "sm_90"]),
    "count": ("count", 0, ["count", *KERNEL_OF_8192]),
    "upgrade": ("upgrade", 0, ["upgrade", *KERNEL_OF_8192, "--to", sys.executable, "--target", "sm_90"]),
    "roofline_kernels": ("roofline_kernels", 0, ["roofline", *KERNEL_OF_8192, "--platform", "H200_SXM"]),
    "tileir_bench": ("tileir_bench", 3, ["tileir", "bench", "TMP/rows.py", "--prepared", "TMP/rows.py"]),
    "tileir_run": ("tileir_run", 0, ["tileir", "run", "TMP/rows.py"]),
    "verify_kernel": ("verify_kernel", 0, ["verify", "kernel", "TMP/good.py", *CHECK]),
    "verify_kernel_that_dies": ("verify_kernel", 1, ["verify", "kernel", "TMP/crash.py", *CHECK]),
}  # fmt: skip
"""Commands that start children with torch or triton."""

REGISTERS = {"registers": 124, "accumulation_registers": None, "scalar_registers": None, "tensor_memory_columns": 0}
FILES = {
    "rows.py": (ROOT / "kernels/naive/softmax.py").read_text(),
    "k.sass": '\t.headerflags\t@"EF_CUDA_SM90"\n\t.section\t.text.copy,"ax",@progbits\n'
    "        /*0000*/                   LDG.E R2, desc[UR4][R2.64] ;\n"
    "        /*0010*/                   EXIT ;\n",
    "notes.md": "The kernel is fast.\n",
    "bench.log": "Cutile: {'forward': {'mean': 3.79, 'nrep': 13}} ms\n",
    "plan.txt": "Recommendations:\n1. [High] Enable FlashAttention\n",
    "kernels.json": json.dumps({"kernels": [{"name": "k", "time_share": 0.5}]}),
    "compiled.json": json.dumps({"kernels": [{"name": "k", "num_warps": 8, "shared_bytes": 98304, **REGISTERS}]}),
}
KERNEL = """
import os
import torch
OP = "softmax"
def launch(x, *, config=None, out=None):
    out = torch.empty_like(x) if out is None else out
    return out.copy_(torch.softmax(x, -1))
"""


ELSEWHERE = {
    "bench_ceilings": "tests/tools/test_schemas.py",
    "bench_record": "tests/kopt_kb/cli/test_bench_record.py",
    "bench_record_confirmation": "tests/kopt_kb/cli/test_bench_record.py",
    "compile_configurations": "tests/kopt_kb/runners/replay/test_own_configs.py",
    "cutile_ir": "tests/kopt_kb/static/cutile/test_dump.py",
    "doctor": "tests/kopt_kb/cli/test_doctor.py",
    "launch_record": "tests/kopt_kb/cli/test_record.py",
    "problem": "tests/tools/test_schemas.py",
    "proposer_answer": "tests/kopt_kb/tuning/test_outside.py",
    "proposer_asks": "tests/kopt_kb/tuning/test_outside.py",
    "proposer_state": "tests/examples/test_softmax_agent.py",
    "recorded_roofline": "tests/tools/test_schemas.py",
    "stored_times": "tests/kopt_kb/inline/test_shares.py",
    "suite": "tests/kopt_kb/cli/test_suite.py",
    "verify_record": "tests/kopt_kb/runners/test_records.py",
}
"""Document → the test that holds it: it is made on a GPU or a fake of one, stored, or read and not printed."""

AS_THEY_ARE = {
    "bundle_statement", "launch_record", "problem", "proposer_answer", "proposer_asks", "proposer_state",
    "recorded_roofline", "stored_times", "v_iteration",
}  # fmt: skip
"""Documents without a member `data`: files printed as they lie on the disk, parts of others, and what proposers are told."""

STORED = {"bench_ceilings", "suite"}
"""Printed with `data`, stored without."""

ALIKE = {
    "bench bandwidth": "bench_ceilings", "bench ceilings": "bench_ceilings", "bench record": "bench_record",
    "cutile ir": "cutile_ir", "doctor": "doctor", "memory create": "memory_change", "memory mask": "memory_change",
    "memory read": "v_iteration", "memory unmask": "memory_change", "memory update": "memory_change", "suite": "suite",
    "tune dismiss": "tune_report", "tune report": "tune_report", "tune resume": "tune_report", "tune step": "tune_report",
    "tune stop": "tune_report", "verify record": "verify_record", "wiki index": "written_file",
}  # fmt: skip
"""Command that is not run here → document that it prints."""

OTHER_FORMS = {
    "lint_text.py": "SARIF, which names the data in the properties of its driver",
    "memory.py": "memory files as they lie on the disk, and single fields of them",
    "output.py": "where all others are printed",
    "sarif.py": "SARIF, with the data in the properties of its driver",
    "tune_bundle.py": "the statement that the bundle holds",
}
"""Module of a command that prints JSON past `print_json` and `print_values`, and what it prints so."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workspace of a kernel, one of a project, and small files."""
    folder = tmp_path_factory.mktemp("made")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "good.py").write_text(KERNEL)
    (folder / "crash.py").write_text(KERNEL.replace("    out =", "    os._exit(3)\n    out =", 1))
    shutil.copytree(DATA / "project", folder / "project")
    common = ["--platform", "H200_SXM", "--parent", str(folder)]
    demo = ["--framework", "Triton", "--kernel-demo", str(ROOT / "kernels/naive/rms_norm.py"), "--dtype", "bf16"]
    assert main(["init", "norm", *common, *demo, "--shape", "1024x512"]) == 0
    project = ["--project", str(folder / "project/project.toml"), "--framework", "Python"]
    assert main(["init", "demo", *common, *project, "--shape", "512x512x512"]) == 0
    assert main(["wiki", "copy", str(folder / "wiki")]) == 0
    return folder


def _holds(command: tuple[str, int, list[str]], folder: Path, fits: Fits, capsys: Capture) -> None:
    """Run a command on a copy of the folder; its document fits its schema, with one member more it doesn't."""
    places = {"WORKSPACE": str(folder / "kernel_opt_norm"), "PROJECT": str(folder / "kernel_opt_demo")}
    document, expected, words = command
    capsys.readouterr()
    assert main([places.get(word, word.replace("TMP", str(folder))) for word in [*words, "--json"]]) == expected
    body = json.loads(capsys.readouterr().out)
    assert fits(document, body)
    assert not fits(document, {**body, "surplus": 1})
    if document in AS_THEY_ARE:
        return
    assert re.fullmatch("[0-9a-f]{12}", body["data"]["version"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", body["data"]["date"])
    assert not fits(document, {name: value for name, value in body.items() if name != "data"}) or document in STORED


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of the folder that a command may write into."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_document_is_what_its_schema_says(name: str, folder: Path, fits: Fits, capsys: Capture) -> None:
    """Printed by the command itself."""
    _holds(COMMANDS[name], folder, fits, capsys)


@pytest.mark.torch
@pytest.mark.parametrize("name", EXPENSIVE)
def test_so_are_those_of_commands_with_children(name: str, folder: Path, fits: Fits, capsys: Capture) -> None:
    """A record, a verified kernel, and one that dies."""
    _holds(EXPENSIVE[name], folder, fits, capsys)


def test_every_document_is_held_against_what_prints_it() -> None:
    """Here, by its golden document, or by the test that is named with the reason."""
    here = {document for document, _, _ in (COMMANDS | EXPENSIVE).values()}
    golden = {path.stem for path in (Path(__file__).parent / "golden").glob("*.json")}
    golden |= {name.partition("_")[0] for name in golden} | {"error"}
    stored = {"journal", "wiki_page"}
    assert {path.name.partition(".")[0] for path in SCHEMAS.glob("*.json")} - here - golden - stored == set(ELSEWHERE)
    for document, place in ELSEWHERE.items():
        assert document in (ROOT / place).read_text(), place


def test_every_command_with_json_has_a_document() -> None:
    """It is run above, frozen as a golden document, or named with the document that it prints."""
    sections = re.split(r"\n## kb ", (ROOT / "docs" / "reference" / "commands.md").read_text())[1:]
    takes_json = {each.partition("\n")[0] for each in sections if "--json" in each}
    tables = [words for _, _, words in (COMMANDS | EXPENSIVE).values()] + [words for _, words in FROZEN.values()]
    run = {" ".join(words[:count]) for words in tables for count in (1, 2)}
    assert takes_json - run == set(ALIKE)
    assert all((SCHEMAS / f"{document}.schema.json").is_file() for document in ALIKE.values())


def test_every_document_says_which_data_it_is_from() -> None:
    """Version and date of the wiki are required members of all schemas but the named ones.

    That of `verify kernel` has two forms; the commands above print both.
    """
    lacking = set()
    for path in SCHEMAS.glob("*.json"):
        body = json.loads(path.read_text())
        if "data" not in body.get("required", ()) and path.name != "verify_kernel.schema.json":
            lacking.add(path.name.partition(".")[0])
    assert lacking == AS_THEY_ARE | STORED | {"journal", "wiki_page"}


def test_no_command_prints_json_past_the_data() -> None:
    """Whoever adds a command prints through the two functions that say the data, or is named with a reason."""
    past = {
        path.name
        for path in (ROOT / "kopt_kb" / "cli").glob("*.py")
        if re.search(r"print_plain\(|(?:print|write)\(.*json\.dumps|json\.dump\(", path.read_text())
    }
    assert past == set(OTHER_FORMS)


def test_errors_say_the_data_they_are_about(made: Path, tmp_path: Path, capsys: Capture) -> None:
    """Of the wiki that is named, also behind `=`; empty where the error is that there is none."""
    wiki = made / "wiki"
    said = []
    for words in (["--wiki", str(wiki)], [f"--wiki={wiki}"], [], ["--wiki", str(tmp_path)], ["--wiki"]):
        assert main(["lookup", "NOTHING", "--json", *words]) == 2
        said.append(json.loads(capsys.readouterr().out)["data"])
    assert said[0] == said[1] == said[2] == said[4] != said[3] == {"version": "", "date": ""}


def test_the_data_are_those_of_the_wiki_that_was_read(made: Path, tmp_path: Path, capsys: Capture) -> None:
    """A row that changes changes the version, in an audit, a report and a lookup alike; equal bytes do not."""
    wiki = Path(shutil.copytree(made / "wiki", tmp_path / "wiki"))
    workspace = str(made / "kernel_opt_norm")

    def versions() -> set[str]:
        found = set()
        for words in (["lookup", "H20"], ["audit", workspace], ["compare", "H20", "L40"]):
            main([*words, "--wiki", str(wiki), "--json"])
            found.add(json.loads(capsys.readouterr().out)["data"]["version"])
        return found

    before = versions()
    page = wiki / "hardware" / "nvidia" / "l4.md"
    page.write_text(page.read_text() + "\n")
    after = versions()
    assert len(before) == len(after) == 1
    assert before != after
