"""Whatever a user gives and wherever the output leads: one line, an exit code of the contract, never a traceback.

Every command declares words that it works with; the walk puts something hostile in the place of each, adds each
option with hostile values, and lets the output fail.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kopt_kb.cli.commands import every_command
from kopt_kb.cli.kit import parser as parsers
from kopt_kb.cli.kit.parser import leaves
from kopt_kb.cli.main import main
from tests.contract.sample import first_examples, make_sample

WORK = ["--platform", "H20", "--op", "rms_norm", "--shape", "64x64", "--dtype", "bf16"]
FIRST = first_examples()
WORDS = {leaf: shlex.split(one.words)[len(leaf.split()) :] for leaf, one in FIRST.items()}
HOSTILE = [
    "nothing", "folder", "empty", "binary", "deep.json", "text.json", "text.py", "bad\udcff", "x" * 5000, "nul\0", "…",
    "-1", "nan", "1e400", "", "/dev/zero", "/proc/self/mem", "text.py/below",
]  # fmt: skip
SLOW = {
    "compile", "count", "cutile read", "doctor", "init", "profile diff", "profile gap", "profile read", "profile roofline",
    "roofline", "upgrade", "wiki site", "workspace set",
}  # fmt: skip
STARTING = {"cutile ir"}
STEPS = dict.fromkeys(SLOW, 4) | {leaf: len(HOSTILE) for leaf in STARTING}
"""Commands that take their time, and those that start a child for whatever they are given: each word and option meets
every fourth of the hostile words, or one; all words and options together meet all of them, or most."""

LATE = {leaf for leaf, one in FIRST.items() if one.needs}
"""Commands that load torch, here or in a child, before they look at anything else: their words are not varied."""

LEAVES = {leaf: parser for _, command in every_command() for leaf, parser in leaves(command).items()}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small wiki, a workspace, a report, and files that are nothing."""
    return make_sample(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module", autouse=True)
def _one_parser_a_command() -> Iterator[None]:
    """A parser is the same whatever it is given: to make one for each of 8,000 calls takes a quarter of them."""
    make, made = parsers.command_parser, {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            parsers, "command_parser", lambda one: made.get(one.name) or made.setdefault(one.name, make(one))
        )
        yield


@pytest.fixture
def here(prepared: Path, page_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder to work in."""
    root = tmp_path / "here"
    shutil.copytree(prepared, root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("KOPT_CACHE", str(page_cache))
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
    step = STEPS.get(leaf, 1)
    for number, place in enumerate(places):
        for value in HOSTILE[number % step :: step]:
            yield place(value)


def test_the_table_names_every_command() -> None:
    """Each declares an example of each of its sub-commands."""
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


WRITING = (
    "init", "wiki copy", "wiki index", "wiki new", "wiki site", "render", "workspace set", "workspace note",
    "memory create", "audit",
)  # fmt: skip


@pytest.mark.parametrize("leaf", [leaf for leaf in WRITING if leaf in WORDS])
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
