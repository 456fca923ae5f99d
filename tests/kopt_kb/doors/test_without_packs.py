"""Without a pack the core compiles, counts, records, reads and starts what is its own, and says what is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.cuda.nvrtc import nvrtc_version

START = """
from kopt_kb.doors import table
absent = table.PackFault("cutile", "its modules are not installed", absent=True)
table.packs = lambda: table.Packs({}, (absent,))
"""
COMPILED = """
from kopt_kb.launch.compile.build import build
from kopt_kb.launch.compile.request import CompileRequest, OpCase
from kopt_kb.launch.kernel.declared import packaged_file
from kopt_kb.launch.counts.counting import count_compilation
from kopt_kb.tuning.lint import lint_source

file = packaged_file("rms_norm")
(made,) = build(CompileRequest(OpCase(str(file), (64, 1024), "bf16"), "sm_90", disassemble=False))
assert made.binary[:4] == b"\\x7fELF"
assert count_compilation(made).kernel.written.compulsory.value == 2 * 64 * 1024
assert not lint_source(file.read_bytes(), framework="Triton")
"""
CUDA = """
cuda = str(packaged_file("rms_norm").parent / "cuda" / "rms_norm.cu")
(made,) = build(CompileRequest(OpCase(cuda, (64, 1024), "bf16"), "sm_90", disassemble=False))
assert made.binary[:4] == b"\\x7fELF"
"""
RECORDED = """
from kopt_kb.launch.kernel.declared import packaged_file
from kopt_kb.launch.record.maker import answer
from kopt_kb.launch.record.request import MakerRequest, OpRequest

what = OpRequest(str(packaged_file("elementwise")), (64, 64), "bf16")
made = answer(MakerRequest(what, "sm_90", "Test", {}, sys.argv[1], statics=True))
assert made.refusal is None and len(made.record.launches) == 1, made.refusal
"""
TILES = "import cuda.tile as ct\n\n\n@ct.kernel\ndef device(a):\n    pass\n\n\ndef launch(x):\n    ct.launch(None, (1,), device, (x,))\n"


def _run(code: str, *words: str) -> None:
    """Run a script in a process of its own, whose table of packs is empty."""
    command = [sys.executable, "-c", f"import sys\n{START}{code}", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.triton
def test_triton_and_cuda_are_compiled_and_counted() -> None:
    """CUDA C++ where its compiler is installed."""
    try:
        nvrtc_version()
    except MissingTool:
        _run(COMPILED)
    else:
        _run(COMPILED + CUDA)


@pytest.mark.triton
def test_a_launcher_is_recorded(tmp_path: Path) -> None:
    _run(RECORDED, str(tmp_path))


def _init(folder: Path, wiki: Path, source: str, framework: str) -> str:
    demo = folder / "demo.py"
    demo.write_text(source)
    return (
        "from kopt_kb.cli.main import main\nimport contextlib, io\nsaid = io.StringIO()\n"
        "with contextlib.redirect_stderr(said):\n"
        f"    code = main(['init', 'norm', '--platform', 'T10', '--framework', {framework!r}, '--kernel-demo', "
        f"{str(demo)!r}, '--op', 'rms_norm', '--shape', '8192x4096', '--dtype', 'bf16', '--parent', {str(folder)!r}, "
        f"'--wiki', {str(wiki)!r}])\n"
    )


def test_a_workspace_is_made(tmp_path: Path, wiki_root: Path) -> None:
    from tests.demo_kernel import DEMO

    _run(f"{_init(tmp_path, wiki_root, DEMO, 'Triton')}assert code == 0, said.getvalue()\n")


@pytest.mark.parametrize(
    ("framework", "says"), [("cuTile", "needs the pack cutile, which is not installed"), ("Triton", "no Triton kernel")]
)
def test_a_file_of_an_absent_pack_is_refused(tmp_path: Path, wiki_root: Path, framework: str, says: str) -> None:
    """With the pack where the language is named, else as a file that holds no kernel."""
    check = (
        f"assert code == 2 and {says!r} in said.getvalue() and 'KB319' in said.getvalue(), (code, said.getvalue())\n"
    )
    _run(_init(tmp_path, wiki_root, TILES, framework) + check)
