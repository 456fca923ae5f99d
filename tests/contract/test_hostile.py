"""Whatever a user gives and wherever the output leads: one line, an exit code of the contract, never a traceback.

The table holds words that work for every command; the walk puts something hostile in the place of each, adds each
option with hostile values, and lets the output fail.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kopt_kb.cli.main import COMMANDS, Parser, main
from tests.conftest import PRODUCT, TARGET

INIT = ["--platform", "H20", "--op", "rms_norm", "--shape", "256x256", "--dtype", "bf16", "--framework", "triton"]
WORK = ["--platform", "H20", "--op", "rms_norm", "--shape", "64x64", "--dtype", "bf16"]
WORDS: dict[str, list[str]] = {
    "lookup": ["H20"],
    "list": [],
    "compare": ["H20", "MI300X"],
    "search": ["softmax"],
    "route knowledge": ["--op", "gemm"],
    "route task": ["write a softmax kernel"],
    "route plan": ["plan.txt"],
    "route kernels": ["kernels.json"],
    "route remote": ["--ssh", "node7"],
    "route exports": ["text.py"],
    "wiki check": ["wiki"],
    "wiki changes": ["wiki", "wiki"],
    "wiki conflicts": [],
    "wiki diff": ["table.csv"],
    "wiki import-check": ["folder"],
    "wiki sources": ["wiki"],
    "wiki index": ["wiki"],
    "wiki new": ["H999", "--target", "sm_00", "--into", "wiki"],
    "wiki copy": ["copy"],
    "wiki site": ["--out", "site"],
    "export peaks": ["H20", "--for", "csv", "--output", "peaks.csv"],
    "lint-text": ["report.csv"],
    "roofline": WORK,
    "count": ["nothing.py"],
    "compile": ["nothing.py", "--target", "sm_90"],
    "upgrade": ["nothing.py", "--shape", "2x2", "--dtype", "bf16", "--to", "python3", "--target", "sm_90"],
    "tileir check": [],
    "tileir classify": ["nothing.py"],
    "tileir apply": ["nothing.py", "--output", "made.py"],
    "tileir run": ["nothing.py", "--output", "made.py"],
    "tileir bench": ["nothing.py", "--prepared", "nothing.py"],
    "cutile check": ["nothing.py"],
    "cutile ir": ["nothing.py", "--shape", "2x2", "--target", "sm_90"],
    "cutile read": ["nothing.log"],
    "cutile causes": ["nothing.log"],
    "cutile recipes": ["nothing.py", "--output", "made.py"],
    "record": ["nothing.py", "--shape", "2x2", "--dtype", "bf16", "--target", "sm_90", "--out", "made"],
    "isa": ["kernel.sass"],
    "occupancy": ["--platform", "H20", "--threads", "128"],
    "init": ["other", *INIT],
    "memory init": ["ws"],
    "memory create": ["ws", "--category", "a", "--claim", "b", "--rationale", "c"],
    "memory read": ["ws"],
    "memory update": ["ws", "--version", "0", "--set", "notes=a"],
    "memory mask": ["ws", "--version", "0", "--reason", "a"],
    "memory unmask": ["ws", "--version", "0", "--reason", "a"],
    "memory summary": ["ws"],
    "memory latest": ["ws"],
    "memory list": ["ws"],
    "render": ["ws"],
    "workspace set": ["ws", "--target-factor", "0.8", "--reason", "a", "--by", "b"],
    "workspace plan": ["ws"],
    "workspace note": ["ws", "--topic", "user", "--text", "a"],
    "audit": ["ws"],
    "profile read": ["report.csv"],
    "profile run": ["--dry-run", "--tool", "ncu", "--", "echo"],
    "profile diff": ["report.csv", "report.csv"],
    "profile gap": ["report.csv"],
    "profile roofline": ["report.csv"],
    "profile explain": ["memory-bandwidth"],
    "explain": [],
    "completion": ["bash"],
    "doctor": [],
    "verify kernel": ["empty", "--shape", "2x2", "--dtype", "bf16"],
    "verify record": ["folder"],
    "verify source": ["text.py"],
    "verify transfer": ["text.py"],
    "tune run": ["ws", "--simulate"],
    "tune resume": ["ws", "--simulate"],
    "tune step": ["ws", "--simulate"],
    "tune status": ["ws"],
    "tune report": ["ws"],
    "tune stop": ["ws"],
    "tune dismiss": ["ws", "--opportunity", "v0:verdict:dram", "--reason", "a"],
    "tune patch": ["ws"],
    "tune bundle": ["ws", "--output", "new.kbb"],
    "graph check": ["text.py", "--function", "f"],
    "graph write": ["text.py", "--function", "f", "--out", "graph.py"],
    "suite": ["folder", "--platform", "T10", "--out", "suite", "--simulate"],
    "bench bandwidth": [],
    "bench ceilings": ["--dry-run"],
    "bench page": ["text.json", "--platform", "T10", "--wiki", "wiki", "--read", "2026-01-01"],
    "bench kernel": ["ws", "--dry-run"],
    "bench utilization": ["ws"],
    "bench record": ["folder", "folder"],
    "mcp": [],
}
HOSTILE = [
    "nothing", "folder", "empty", "binary", "deep.json", "text.json", "text.py", "bad\udcff", "x" * 5000, "nul\0", "…",
    "-1", "nan", "1e400", "", "/dev/zero", "/proc/self/mem", "text.py/below",
]  # fmt: skip
SLOW = {
    "compile", "count", "doctor", "init", "profile diff", "profile gap", "profile read", "profile roofline", "roofline",
    "upgrade", "wiki site", "workspace set",
}  # fmt: skip
"""Commands that take their time: each word and option meets every fourth of the hostile words, all of them together."""

LATE = {"bench bandwidth", "record"}
"""Commands that load torch, here or in a child, before they look at anything else: their words are not varied."""


def _leaves(name: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    module = importlib.import_module(f"kopt_kb.cli.{'list_' if name == 'list' else name.replace('-', '_')}")
    parser = Parser(prog=f"kb {name}")
    module.add_arguments(parser)
    below = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    if not below:
        yield name, parser
    for word, sub in (below[0].choices if below else {}).items():
        yield f"{name} {word}", sub


LEAVES = {leaf: parser for name in COMMANDS for leaf, parser in _leaves(name)}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, repo_root: Path) -> Path:
    """A folder with a small wiki, a workspace, a report, and files that are nothing."""
    root = tmp_path_factory.mktemp("hostile")
    for folder in ("wiki/hardware/nvidia", "wiki/targets", "folder/inside"):
        (root / folder).mkdir(parents=True)
    (root / "wiki/targets/sm_00.md").write_text(TARGET)
    (root / "wiki/hardware/nvidia/t10.md").write_text(PRODUCT)
    (root / "empty").touch()
    (root / "binary").write_bytes(bytes(range(256)) * 8)
    (root / "deep.json").write_text("[" * 100_000)
    (root / "text.json").write_text("{}")
    (root / "text.py").write_text("x = 1\n\n\ndef f(a):\n    return a\n")
    (root / "plan.txt").write_text("Recommendations:\n1. [High] Enable FlashAttention\n")
    (root / "kernels.json").write_text('{"kernels": [{"name": "k"}]}')
    (root / "table.csv").write_text("platform,metric,value,unit\nH20,memory_capacity,96,GB\n")
    (root / "kernel.sass").write_text("Function : a\n  /*0000*/  EXIT ;\n")
    report = (repo_root / "tests/data/zoo/compute.csv").read_text().splitlines(keepends=True)
    (root / "report.csv").write_text("".join(report[:4]))
    demo = str(repo_root / "kernels/rms_norm.py")
    assert main(["init", "made", *INIT, "--kernel-demo", demo, "--parent", str(root)]) == 0
    (root / "kernel_opt_made").rename(root / "ws")
    return root


@pytest.fixture
def here(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder to work in, with a cache of its own."""
    root = tmp_path / "here"
    shutil.copytree(prepared, root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("KOPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return root


def _variants(leaf: str) -> Iterator[list[str]]:
    words = WORDS[leaf]
    if leaf in LATE:
        return
    places: list[Callable[[str], list[str]]] = [
        lambda value, at=at: [*words[:at], value, *words[at + 1 :]]
        for at, word in enumerate(words)
        if not word.startswith("--")
    ]
    places += [
        lambda value, option=action.option_strings[-1]: [f"{option}={value}", *words]
        for action in LEAVES[leaf]._actions
        if action.option_strings and action.nargs != 0 and (action.dest != "as_form" or leaf == "isa")
    ]
    step = 4 if leaf in SLOW else 1
    for number, place in enumerate(places):
        for value in HOSTILE[number % step :: step]:
            yield place(value)


def test_the_table_names_every_command() -> None:
    """A command that is new gets its words here."""
    assert set(WORDS) == set(LEAVES)


@pytest.mark.parametrize("leaf", WORDS)
def test_hostile_words_end_in_one_line(
    leaf: str, here: Path, repo_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every word and every option in turn; nothing unforeseen is met, and nothing is written outside of the folder."""
    wrong = []
    pages = sorted((repo_root / "gpuwiki").rglob("*"))
    for words in _variants(leaf):
        code = main([*leaf.split(), *words])
        out, err = capsys.readouterr()
        if code not in range(5) or "KB000" in err or "Traceback" in out + err or (code in {2, 3} and not err):
            wrong.append((code, [word[:40] for word in words], err[:300]))
        if leaf == "init":
            for made in here.glob("kernel_opt_*"):
                shutil.rmtree(made)
    assert not wrong
    assert sorted((repo_root / "gpuwiki").rglob("*")) == pages


@pytest.mark.parametrize("leaf", WORDS)
def test_an_output_that_fails_is_never_success(
    leaf: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closed or full: exit 2 and KB117 when there was something to say; ASCII: one whole document."""
    words = [*leaf.split(), *WORDS[leaf]]
    at = words.index("--") if "--" in words else len(words)
    words.insert(at, "--json")
    raw = io.BytesIO()
    with Path("/dev/full").open("w") as full, io.TextIOWrapper(raw, encoding="ascii") as plain:
        for stream in (None, full):
            monkeypatch.setattr("sys.stdout", stream)
            code, err = main(words), capsys.readouterr().err
            assert (code, err.count("KB117")) == (2, 1), err
        monkeypatch.setattr("sys.stdout", plain)
        assert main(words) in range(5)
        plain.flush()
        json.loads(raw.getvalue())
        monkeypatch.undo()
    assert here.is_dir()


def _obey_permissions() -> None:
    """Take from a child of root what lets root write everywhere: CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""
    drop_from_bounding_set = 24
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


def _run(words: list[str], here: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    drop: Callable[[], None] | None = _obey_permissions if os.geteuid() == 0 else None
    return subprocess.run(
        [sys.executable, "-m", "kopt_kb", *words], cwd=here, capture_output=True, text=True, check=False,
        env={**os.environ, **environment}, preexec_fn=drop, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize(
    "leaf",
    [
        "init",
        "wiki copy",
        "wiki index",
        "wiki new",
        "wiki site",
        "render",
        "workspace set",
        "workspace note",
        "memory create",
        "audit",
    ],
)
def test_a_read_only_folder_is_one_line(leaf: str, here: Path) -> None:
    """What writes is refused with the file; what only reads goes on."""
    for path in (here, *here.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        done = _run([*leaf.split(), *WORDS[leaf]], here)
    finally:
        for path in (here, *(one for one in here.rglob("*") if one.is_dir())):
            path.chmod(0o755)
    assert done.returncode in ({0, 1} if leaf == "audit" else {2}), done.stderr
    assert "KB000" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("leaf", "name"), [("isa", "kernel.sass"), ("profile read", "report.csv"), ("audit", "ws/journal.jsonl")]
)
def test_a_file_that_may_not_be_read_is_one_line(leaf: str, name: str, here: Path) -> None:
    """Its name and the system's reason."""
    (here / name).chmod(0)
    done = _run([*leaf.split(), *WORDS[leaf]], here)
    assert done.returncode in {1, 2}
    assert "Permission denied" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("cache", ["/dev/null/cache", "/proc/cache"])
def test_a_cache_that_can_not_be_written_is_done_without(cache: str, here: Path) -> None:
    """Values come from the pages."""
    done = _run(["lookup", "H20", "memory_bandwidth"], here, KOPT_CACHE=cache)
    assert (done.returncode, done.stderr) == (0, "")


def test_little_memory_is_one_line(here: Path) -> None:
    """A limit of the address space that a start just passes, and work that does not fit."""
    done = subprocess.run(
        ["bash", "-c", f"ulimit -v 120000; exec {sys.executable} -m kopt_kb roofline {' '.join(WORK)}"],
        cwd=here, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode in {0, 2, 3}
