"""Blocks of code in documents: all are run, but those that say above them what they need, as `<!-- needs: a GPU -->`.

Every `kb` line, of those too, is one that today's commands take.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from markdown_it import MarkdownIt

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.machine.completion import whole_parser
from kopt_kb.cli.main import main
from kopt_kb.wiki.footnotes import read_footnotes
from kopt_kb.wiki.page import read_front_matter

_BLOCK = re.compile(
    r"^(?: *<!-- needs: (?P<needs>[^>]+) -->\n)? *```(?P<kind>\w+)[^\n]*\n(?P<body>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)
ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if "reference" not in path.parts
)

WALKED = {
    "README.md": "tests/docs/test_readme.py, and from a wheel tests/packaging/test_wheel.py",
    "docs/how-to/add_a_command.md": "tests/docs/test_how_to.py",
    "docs/how-to/add_a_gpu.md": "tests/docs/test_how_to.py",
    "docs/how-to/add_a_language.md": "tests/docs/test_how_to.py",
    "docs/how-to/add_a_pack.md": "tests/docs/test_how_to.py",
    "docs/how-to/add_a_problem_form.md": "tests/docs/test_how_to.py",
    "docs/how-to/add_a_reader.md": "tests/docs/test_how_to.py",
    "docs/how-to/add_a_rule.md": "tests/docs/test_how_to.py",
    "docs/how-to/add_a_table_form.md": "tests/docs/test_how_to.py",
    "docs/how-to/add_an_op.md": "tests/docs/test_how_to.py",
    "docs/how-to/test_kernels.md": "tests/packs/inline/test_pytest_plugin.py",
    "docs/library.md": "tests/docs/test_library.py",
    "docs/projects.md": "tests/docs/test_projects.py",
    "docs/tutorial.md": "below, by a test of its own",
}
"""Page → the test that runs its blocks."""

WITH_TORCH = {
    "docs/launch_records.md", "docs/problems.md", "docs/how-to/cuda_graphs.md", "docs/how-to/tune_your_kernel.md",
}  # fmt: skip
CODES = {
    "kb tileir check": {0, 3}, "kb table misses": {0, 1}, "kb audit logs/": {0, 1}, "kb audit results.tsv": {0, 1},
    "kb audit repo": {0, 1},
}  # fmt: skip
"""Beginning of a line → how it may end where that is neither 0 nor 4: a check that found something."""

SHELL = {"sh", "bash", "console"}

NORM = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x / torch.sqrt(torch.mean(x * x, dim=1, keepdim=True) + 1e-5)
def get_inputs():
    return [torch.rand(64, 512)]
def get_init_inputs():
    return []
"""

ROPE = """
import torch
def reference(x, cos, sin):
    low, high = x.double().chunk(2, dim=-1)
    cos, sin = (one.double()[None, :, None, :] for one in (cos, sin))
    return torch.cat((low * cos - high * sin, low * sin + high * cos), dim=-1)
"""

LAUNCH = """
import triton
import triton.language as tl
@triton.jit
def rope_kernel(x):
    tl.store(x, tl.load(x))
def rope(x, cos, sin):
    rope_kernel[(1,)](x)
    return x
"""

MODEL = """
import torch
def forward(x):
    return torch.relu(x) + 1
"""

PROPOSE = """
import json, sys
state = json.load(sys.stdin)
answer = {"category": "memory_traffic", "claim": "fewer bytes", "expected": "less time"}
json.dump({**answer, "source": state["kernel"] + "# fewer\\n"}, sys.stdout)
"""


class Block(NamedTuple):
    """A block of a page: its kind, its text, and what it needs that is not everywhere."""

    kind: str
    body: str
    needs: str


def _blocks(page: str) -> list[Block]:
    found = _BLOCK.finditer((ROOT / page).read_text())
    return [Block(one["kind"], one["body"], one["needs"] or "") for one in found]


def _lines(page: str, *, everything: bool = False) -> list[str]:
    """Return the command lines of a page that can run here, as they are typed."""
    blocks = [one for one in _blocks(page) if one.kind in SHELL and (everything or not one.needs)]
    lines = [
        (one.kind, line.strip()) for one in blocks for line in one.body.replace("\\\n", " ").split("\n") if line.strip()
    ]
    has_prompt = {one.kind for one in blocks if one.kind == "console"}
    return [
        line.removeprefix("$ ")
        for kind, line in lines
        if not line.startswith("#") and (kind not in has_prompt or line.startswith("$ "))
    ]


def _kb_words(line: str) -> list[str] | None:
    """Return the words of a kb command in a line without the shell's own, None where there is none."""
    plain = re.sub(r"^echo .*?\| *", "", line)
    plain = re.split(r" \|\|? | && (?!kb)| > | # ", plain)[0]
    words = shlex.split(plain, comments=True)
    return words[1:] if words and words[0] == "kb" else None


def test_no_block_escapes() -> None:
    """Every fence says its language, what is indented is an example of a session, and most blocks need nothing special."""
    for page in PAGES:
        for token in MarkdownIt("commonmark").parse((ROOT / page).read_text()):
            assert token.type != "fence" or token.info, (page, token.map)
            assert token.type != "code_block" or token.content.startswith(">>> "), (page, token.map)
    blocks = [block for page in PAGES for block in _blocks(page) if block.kind in {*SHELL, "python"}]
    special = [block.needs for block in blocks if block.needs]
    assert len(special) < len(blocks) / 4, special


@pytest.fixture(scope="module")
def parser() -> argparse.ArgumentParser:
    """All commands, declared once."""
    return whole_parser()


@pytest.mark.parametrize("page", [page for page in PAGES if _lines(page, everything=True)])
def test_commands_are_those_of_today(page: str, parser: argparse.ArgumentParser) -> None:
    """Each `kb` line parses: command, options and choices exist."""
    for line in _lines(page, everything=True):
        words = _kb_words(line)
        # The command that add_a_command.md adds, and the form that add_a_pack.md adds.
        if words and words[0] != "units" and "shell" not in words:
            try:
                parser.parse_args(words)
            except BadInput as error:
                pytest.fail(f"{page}: {line}: {error}")


def _run(lines: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run lines in a folder: `kb` in this process, anything else by a shell that finds it; campaigns are simulated."""
    monkeypatch.chdir(folder)
    shim = folder.parent / "bin"
    shim.mkdir()
    for name, module in (("kb", " -m kopt_kb"), ("python", "")):
        (shim / name).write_text(f'#!/bin/sh\nexec {sys.executable}{module} "$@"\n')
        (shim / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim}:/usr/bin:/bin")
    for line in lines:
        typed = line.partition("  #")[0].rstrip().replace("/tmp/", f"{folder.parent}/")
        if typed.startswith("kb tune run ") and "--simulate" not in typed:
            typed += " --simulate --samples 3 --budget-rounds 1"
        words = _kb_words(typed)
        if words is not None and typed in {shlex.join(["kb", *words]), f"kb {' '.join(words)}"}:
            code = main(words)
        else:
            code = subprocess.run(["bash", "-c", typed], check=False).returncode
        allowed = next((codes for begins, codes in CODES.items() if line.startswith(begins)), {0, 4})
        assert code in allowed, line


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """From an empty folder to the bundle; the changed digit is found."""
    (tmp_path / "empty").mkdir()
    lines = [line for line in _lines("docs/tutorial.md") if line != "kb doctor"]  # a machine's own faults are its own
    _run(lines, tmp_path / "empty", monkeypatch)
    out = capsys.readouterr().out
    for part in ("52 us, 2.581 TB/s: 64.53 % of the documented roof", "SIMULATED", "KB052: error", "UNKNOWN"):
        assert part in out, part
    (code,) = [block.body for block in _blocks("docs/tutorial.md") if block.kind == "python"]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "memory-bound target >= 3.6 TB/s" in done.stdout


def test_the_tutorial_finds_the_changed_digit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The edit of the page changes a digit, and the audit says so."""
    lines = _lines("docs/tutorial.md")
    edit = next(line for line in lines if line.startswith("sed"))
    init = next(line for line in lines if line.startswith("kb init"))
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(init)[1:]) == 0
    subprocess.run(["bash", "-c", edit], check=True)
    capsys.readouterr()
    assert main(["audit", "kernel_opt_norm"]) == 1
    assert "4.8 TB/s" in capsys.readouterr().out


def _campaign(folder: Path, *more: str) -> None:
    """A simulated campaign as the folder WORKSPACE."""
    demo = ("--framework", "Triton", "--kernel-demo", "op:naive/rms_norm", "--op", "rms_norm", "--dtype", "bf16")
    assert (
        main(["init", "norm", "--platform", "H20", *demo, "--shape", "8192x4096", "--parent", str(folder), *more]) == 0
    )
    (folder / "WORKSPACE").symlink_to("kernel_opt_norm")
    run = ("--simulate", "--yes", "--samples", "3", "--budget-rounds", "6")
    assert main(["tune", "run", str(folder / "kernel_opt_norm"), *run]) == 0
    (folder / "found.md").write_text("Rows that are not aligned take the slow path.\n")


def _problems(folder: Path) -> None:
    """A problem as the page writes it down, and one of KernelBench's form."""
    (described,) = [block.body for block in _blocks("docs/problems.md") if block.kind == "toml"]
    for name in ("rope", "KernelBench/level1"):
        (folder / name).mkdir(parents=True)
    (folder / "rope/problem.toml").write_text(described)
    (folder / "rope/rope.py").write_text(ROPE)
    (folder / "rope/kernel.py").write_text(LAUNCH)
    (folder / "KernelBench/level1/36_RMSNorm_.py").write_text(NORM)


def _profiles(folder: Path) -> None:
    """A page of counters, and a recording of nsys."""
    shutil.copy(ROOT / "tests/data/zoo/library.csv", folder / "counters.csv")
    for name in ("report.sqlite", "trace.sqlite"):
        (folder / name).write_bytes(gzip.decompress((ROOT / "tests/data/traces/nsys_h100.sqlite.gz").read_bytes()))
    (folder / "propose.py").write_text(PROPOSE)


def _code_objects(folder: Path) -> None:
    """Machine code under the name of the page."""
    shutil.copy(ROOT / "tests/data/code_objects/axpy.gfx942.hsaco", folder / "kernel.hsaco")


def _foreign(folder: Path) -> None:
    """A log that kb did not write, as a folder, a table and a repository."""
    table = "round\tdecision\ttflops\tcheck\n1\tkeep\t10\tpass\n2\tkeep\t12\tpass\n"
    (folder / "results.tsv").write_text(table)
    for place in ("logs", "repo/agent"):
        (folder / place).mkdir(parents=True)
        (folder / place / "results.tsv").write_text(table)
    git = "git -c user.name=a -c user.email=a@example.org -C repo"
    steps = "git init -q -b main repo; {0} commit -q --allow-empty -m start; {0} checkout -q -b branch; {0} add .; "
    subprocess.run(
        ["bash", "-ec", steps.format(git) + f"{git} commit -q -m 'round 2: 12 TFLOPS'"], cwd=folder, check=True
    )


def _tables(folder: Path) -> None:
    """A tuned table, a log that misses one, and a trace that is served."""
    tables = folder / "tables"
    tables.mkdir()
    row = {f"BLOCK_SIZE_{one}": 64 for one in "MNK"}
    (tables / "E=8,N=512,device_name=NVIDIA_H200.json").write_text(json.dumps({"1": row, "64": row}))
    (folder / "moe.log").write_text("Config file not found at /x/E=8,N=96,device_name=NVIDIA_H200.json\n")
    dims = {"External id": 1, "Input Dims": [[64, 256], [8, 1024, 256], [8, 256, 512]]}
    events = [{"ph": "X", "cat": "cpu_op", "name": "vllm::fused_experts", "args": dims}]
    (folder / "trace.json").write_text(json.dumps({"traceEvents": events}))


FURNISHED: dict[str, Callable[[Path], None]] = {
    "docs/memory.md": _campaign,
    "docs/how-to/read_a_profile.md": _profiles,
    "docs/tuning.md": _profiles,
    "docs/problems.md": _problems,
    "docs/launch_records.md": _code_objects,
    "docs/foreign_logs.md": _foreign,
    "docs/how-to/tune_your_kernel.md": lambda folder: (
        shutil.copy(ROOT / "tests/data/users/silu_mul.py", folder) and None
    ),
    "docs/how-to/audit_tables.md": _tables,
    "docs/how-to/cuda_graphs.md": lambda folder: (folder / "model.py").write_text(MODEL) and None,
}
"""Page → what it takes for granted beside the package's kernels."""


@pytest.mark.parametrize("page", [page for page in PAGES if _lines(page) and page not in WALKED])
def test_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder with what the page takes for granted."""
    if page in WITH_TORCH:
        pytest.importorskip("torch")
    folder = tmp_path / "folder"
    for name in ("kernels", "plugins"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("docs", "src/tilegym/ops/cutile"):
        (folder / name).mkdir(parents=True)
    for path, name in (("matmul.py", "src/tilegym/ops/cutile"),):
        shutil.copy(ROOT / "kernels/cutile" / path, folder / name)
    (folder / "README.md").write_text("The H20 reaches 4.0 TB/s.\n")
    FURNISHED.get(page, lambda _: None)(folder)
    _run([line for line in _lines(page) if "H100_PCIe.yaml" not in line], folder, monkeypatch)  # another project's file


def test_other_blocks_are_what_they_say(repo_root: Path) -> None:
    """Python that is not run by name runs here; data parse; pages of a wiki read; settings of CI name what there is."""
    hooks = {one["id"] for one in yaml.safe_load((repo_root / ".pre-commit-hooks.yaml").read_text())}
    inputs = set(yaml.safe_load((repo_root / "action.yml").read_text())["inputs"])
    seen = set()
    for page in sorted(set(PAGES) - {one for one in WALKED if one != "README.md"}):
        for kind, body, needs in _blocks(page):
            seen.add(kind)
            if kind == "toml":
                assert tomllib.loads(body)
            elif kind == "python" and page != "README.md":
                code = compile(body, page, "exec")
                assert needs or exec(code, {"measure": lambda _: 1.0}) is None
            elif kind == "yaml":
                _settings(yaml.safe_load(body), hooks, inputs)
            elif kind == "markdown":
                assert read_front_matter(body) if body.startswith("---") else _notes(body)
            elif kind == "text":
                words, document = body.strip().split("\n")
                assert words.startswith("claude mcp add kopt-kb -- kb mcp") and "mcpServers" in json.loads(document)
    assert seen == SHELL - {"bash"} | {"toml", "python", "yaml", "markdown", "text", "mermaid"}


def _notes(body: str) -> bool:
    """Whether the definitions of a page stand, once their titles and addresses are filled in."""
    found, bad = read_footnotes(body.replace("…", "https://example.org/a").split("\n"), evidence=True)
    return bool(found) and not bad


def _settings(found: object, hooks: set[str], inputs: set[str]) -> None:
    """Hold a block of a workflow or of pre-commit against what the repository offers."""
    assert isinstance(found, list)
    for one in found:
        if "uses" in one:
            assert set(one["with"]) <= inputs, one
        else:
            assert {hook["id"] for hook in one["hooks"]} <= hooks, one
