"""What commands print with --json is what docs/schema says: each document, by a command that prints it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.cli.commands import all_documents, every_command
from kopt_kb.cli.core_commands import CORE_DOCUMENTS
from kopt_kb.cli.kit.parser import leaves
from kopt_kb.cli.main import main
from kopt_kb.doors.command import CommandExample
from kopt_kb.doors.table import behind
from tests.contract.sample import add_campaign, examples, golden_files, leaf_of, make_sample

DATA = Path(__file__).parents[1] / "data"
Fits = Callable[[str, object], bool]
Capture = pytest.CaptureFixture[str]
MEMORY, LIBRARY = str(DATA / "zoo" / "memory.csv"), str(DATA / "zoo" / "library.csv")
ROOT = DATA.parents[1]
SCHEMAS = ROOT / "docs" / "schema"
DOCUMENTS = all_documents()
CEILINGS = str(ROOT / "benchmarks" / "results" / "ceilings_h200_sxm.json")
KERNEL_OF_8192 = [str(ROOT / "kernels" / "rms_norm.py"), "--shape", "8192x4096", "--dtype", "bf16"]
CHECK = ["--shape", "4x8", "--dtype", "fp32", "--device", "cpu", "--seeds", "1", "--inputs", "random"]
SPACE = ["tune", "run", "WORKSPACE", "--simulate", "--samples", "3", "--evaluations", "2"]

COMMANDS: dict[str, tuple[str, int, list[str]]] = {
    "bundle": ("bundle_statement", 0, ["tune", "bundle", "WORKSPACE", "--output", "TMP/norm.kbb"]),
    "profile_read": ("profile_read", 0, ["profile", "read", MEMORY, "--top", "2"]),
    "profile_read_trace": ("profile_read", 0, ["profile", "read", str(DATA / "traces" / "torch_h100.json.gz")]),
    "profile_roofline": ("profile_roofline", 0, ["profile", "roofline", LIBRARY, "--platform", "H200_SXM"]),
    "tune_dry_run": ("tune_plan", 0, [*SPACE, "--dry-run", "--core-shape", "1024x512"]),
    "tune_dry_run_judged": ("tune_plan", 0, ["tune", "run", "WORKSPACE", "--dry-run", "--judge", "child"]),
    "tune_project": ("tune_project_plan", 0, ["tune", "run", "PROJECT", "--dry-run"]),
    "bench_page": ("written_page", 0, ["bench", "page", CEILINGS, "--platform", "H200_SXM", "--wiki", "TMP/gpuwiki", "--read", "2026-01-01"]),
}  # fmt: skip
"""Name → document, exit code, words. WORKSPACE and PROJECT stand for workspaces, TMP for a folder with files."""

EXPENSIVE: dict[str, tuple[str, int, list[str]]] = {
    "record": ("record", 0, ["record", str(ROOT / "kernels/rms_norm.py"), "--shape", "64x128", "--dtype", "bf16", "--platform", "H200_SXM", "--out", "TMP/record"]),
    "compile": ("compile", 0, ["compile", *KERNEL_OF_8192, "--target", "sm_90"]),
    "count": ("count", 0, ["count", *KERNEL_OF_8192]),
    "upgrade": ("upgrade", 0, ["upgrade", *KERNEL_OF_8192, "--to", sys.executable, "--target", "sm_90"]),
    "roofline_kernels": ("roofline_kernels", 0, ["roofline", *KERNEL_OF_8192, "--platform", "H200_SXM"]),
    "verify_kernel": ("verify_kernel", 0, ["verify", "kernel", "TMP/good.py", *CHECK]),
    "verify_kernel_that_dies": ("verify_kernel", 1, ["verify", "kernel", "TMP/crash.py", *CHECK]),
}  # fmt: skip
"""Commands that start children with torch or triton."""

ELSEWHERE = {
    "bench_ceilings": "tests/tools/test_schemas.py",
    "bench_compare": "tests/kopt_kb/cli/bench/test_compare.py",
    "bench_record": "tests/kopt_kb/cli/bench/test_record.py",
    "bench_record_confirmation": "tests/kopt_kb/cli/bench/test_record.py",
    "compile_configurations": "tests/kopt_kb/launch/judge/test_own_configs.py",
    "launch_record": "tests/kopt_kb/cli/launch/test_record.py",
    "problem": "tests/tools/test_schemas.py",
    "proposer_answer": "tests/kopt_kb/tuning/test_outside.py",
    "proposer_asks": "tests/kopt_kb/tuning/test_outside.py",
    "proposer_state": "tests/examples/test_softmax_agent.py",
    "recorded_roofline": "tests/tools/test_schemas.py",
    "verify_record": "tests/kopt_kb/launch/judge/test_records.py",
}
"""Document of the core → the test that holds it: it is made on a GPU or a fake of one, stored, or read and not printed."""

AS_THEY_ARE = {name for name, one in DOCUMENTS.items() if one.undated}
"""Documents without a member `data`: files printed as they lie on the disk, parts of others, and what proposers are told."""

STORED = {name for name, one in DOCUMENTS.items() if one.is_stored}
"""Printed with `data`, stored without."""

RUN = {one.words: one for _, one in examples() if one.document and one.code != 2 and not (one.golden or one.needs)}
CHILDREN = {one.words: one for _, one in examples() if one.document and one.code != 2 and one.needs == "torch"}
"""Examples whose document is looked at; what is refused prints an error, which `test_hostile` holds."""

OF_THE_MACHINE = {"doctor"}
"""Commands whose exit code is that of the machine."""

OTHER_FORMS = {
    "packs/curate/lint_text.py": "SARIF, which names the data in the properties of its driver",
    "packs/memory_form/command.py": "memory files as they lie on the disk, and single fields of them",
    "cli/kit/output.py": "where all others are printed",
    "cli/kit/sarif.py": "SARIF, with the data in the properties of its driver",
    "cli/tune/bundle.py": "the statement that the bundle holds",
    "packs/training_step/transfer_steps.py": "a child's answer to the process that started it",
    "packs/coordination/graph_steps.py": "a child's answer to the process that started it",
    "packs/coordination/graph.py": "what the child is asked, written into its script",
}
"""Module of a command that prints JSON past `print_json` and `print_values`, and what it prints so."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workspace of a kernel, one of a project, and small files."""
    folder = tmp_path_factory.mktemp("made")
    add_campaign(make_sample(folder))
    shutil.copytree(DATA / "project", folder / "project")
    common = ["--platform", "H200_SXM", "--parent", str(folder)]
    demo = ["--framework", "Triton", "--kernel-demo", str(ROOT / "kernels/naive/rms_norm.py"), "--dtype", "bf16"]
    assert main(["init", "norm", *common, *demo, "--shape", "1024x512"]) == 0
    project = ["--project", str(folder / "project/project.toml"), "--framework", "Python"]
    assert main(["init", "demo", *common, *project, "--shape", "512x512x512"]) == 0
    shutil.copytree(ROOT / "gpuwiki", folder / "gpuwiki")
    return folder


def _holds(command: tuple[str, int | set[int], list[str]], folder: Path, fits: Fits, capsys: Capture) -> None:
    """Run a command on a copy of the folder; its document fits its schema, with one member more it doesn't."""
    places = {"WORKSPACE": str(folder / "kernel_opt_norm"), "PROJECT": str(folder / "kernel_opt_demo")}
    document, expected, words = command
    capsys.readouterr()
    words = words if "--json" in words else [*words, "--json"]
    code = main([places.get(word, word.replace("TMP", str(folder))) for word in words])
    assert code == expected or (isinstance(expected, set) and code in expected)
    body = json.loads(capsys.readouterr().out)
    if code == 1 and "error" in body:
        document = "error"
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


@pytest.mark.parametrize("words", RUN)
def test_an_example_prints_the_document_that_it_declares(
    words: str, folder: Path, fits: Fits, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or an error, where it declares an exit code of one."""
    monkeypatch.chdir(folder)
    _declared(RUN[words], folder, fits, capsys)


@pytest.mark.torch
@pytest.mark.parametrize("words", CHILDREN)
def test_so_does_one_with_children(
    words: str, folder: Path, fits: Fits, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With torch or triton."""
    monkeypatch.chdir(folder)
    _declared(CHILDREN[words], folder, fits, capsys)


def _declared(one: CommandExample, folder: Path, fits: Fits, capsys: Capture) -> None:
    words = shlex.split(one.words)
    at = words.index("--") if "--" in words else len(words)
    codes = {0, 1} if words[0] in OF_THE_MACHINE else {one.code}
    _holds((one.document, codes, [*words[:at], "--json", *words[at:]]), folder, fits, capsys)


def test_every_document_is_held_against_what_prints_it() -> None:
    """By an example, here, by its golden document, or by the test that is named with the reason."""
    here = {document for document, _, _ in (COMMANDS | EXPENSIVE).values()}
    here |= {one.document for one in (*RUN.values(), *CHILDREN.values())}
    golden = {path.stem for path in golden_files()}
    golden |= {name.partition("_")[0] for name in golden} | {"error"}
    stored = {"journal", "wiki_page"}
    lacking = {path.name.partition(".")[0] for path in SCHEMAS.glob("*.json")} - here - golden - stored
    of_packs = {one.id for pack, command in every_command() if pack for one in command.documents}
    of_packs |= {one.id for _, one in behind("schemas")}
    assert lacking - of_packs == set(ELSEWHERE)
    for document, place in ELSEWHERE.items():
        assert document in (ROOT / place).read_text(), place
    tests = [path.read_text() for path in (ROOT / "tests").rglob("test_*.py") if path.parent.name != "contract"]
    assert not [one for one in lacking & of_packs if not any(f'"{one}"' in text for text in tests)]


def test_every_command_with_json_has_a_document() -> None:
    """An example of it says which; what an example speaks of is declared by a command or a pack."""
    takes_json = {
        leaf
        for _, command in every_command()
        for leaf, parser in leaves(command).items()
        if "--json" in parser._option_string_actions
    }
    assert takes_json == {leaf_of(one.words) for _, one in examples() if one.document}
    assert {one.document for _, one in examples() if one.document} <= set(DOCUMENTS)
    assert all((SCHEMAS / f"{document}.schema.json").is_file() for document in DOCUMENTS)


def test_no_document_is_declared_twice() -> None:
    """A schema has one class."""
    declared = [one.id for _, command in every_command() for one in command.documents]
    declared += [one.id for one in CORE_DOCUMENTS] + [one.id for _, one in behind("schemas")]
    assert sorted(declared) == sorted(DOCUMENTS)


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
    modules = [path for room in ("cli", "packs") for path in (ROOT / "kopt_kb" / room).rglob("*.py")]
    past = {
        path.relative_to(ROOT / "kopt_kb").as_posix()
        for path in modules
        if re.search(r"print_plain\(|(?:print|write)\(.*json\.dumps|json\.dump\(", path.read_text())
    }
    assert past == OTHER_FORMS.keys()


def test_errors_say_the_data_they_are_about(made: Path, tmp_path: Path, capsys: Capture) -> None:
    """Of the wiki that is named, also behind `=`; empty where the error is that there is none."""
    wiki = made / "gpuwiki"
    said = []
    for words in (["--wiki", str(wiki)], [f"--wiki={wiki}"], [], ["--wiki", str(tmp_path)], ["--wiki"]):
        assert main(["lookup", "NOTHING", "--json", *words]) == 2
        said.append(json.loads(capsys.readouterr().out)["data"])
    assert said[0] == said[1] == said[2] == said[4] != said[3] == {"version": "", "date": ""}


def test_the_data_are_those_of_the_wiki_that_was_read(made: Path, tmp_path: Path, capsys: Capture) -> None:
    """A row that changes changes the version, in an audit, a report and a lookup alike; equal bytes do not."""
    wiki = Path(shutil.copytree(made / "gpuwiki", tmp_path / "wiki"))
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
