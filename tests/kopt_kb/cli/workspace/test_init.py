"""`kb init` asks for everything at once, and writes nothing half."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.launch.judge.makers import Makers
from kopt_kb.launch.judge.shelf import RecordTarget, Shelf
from kopt_kb.launch.kernel.declared import packaged_reference
from tests.demo_kernel import DEMO


@pytest.fixture
def words(wiki_root: Path, tmp_path: Path) -> list[str]:
    """A complete command line."""
    demo = tmp_path / "demo.py"
    demo.write_text(DEMO)
    return ["init", "norm", "--platform", "T10", "--framework", "Triton", "--kernel-demo", str(demo), "--shape", "8192x4096", "--dtype", "bf16", "--parent", str(tmp_path), "--wiki", str(wiki_root)]  # fmt: skip


@pytest.mark.core
def test_init_then_audit_with_the_recorded_wiki(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The audit finds the wiki the workspace was made from without being told."""
    assert main(words) == 0
    assert main(["audit", str(tmp_path / "kernel_opt_norm")]) == 0
    assert capsys.readouterr().out.strip().endswith("consistent, origin unproven")


def test_the_problem_has_the_options_that_the_kernel_computes(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """README and roof count half of the pairs for a causal file; told otherwise, the kernel is told too."""
    demo = Path(__file__).parents[4] / "kopt_kb" / "kernels" / "naive" / "attention.py"
    words[words.index("--kernel-demo") + 1], words[words.index("--shape") + 1] = str(demo), "4x32x4096x128"
    counted = {}
    for name, causal in (("plain", True), ("full", False)):
        words[1] = name
        assert main([*words, *([] if causal else ["--option", "causal=false"]), "--allow-unknown", "--json"]) == 4
        document = json.loads(capsys.readouterr().out)
        work = document["rooflines"][0]["work"]
        assert work["options"]["causal"] is causal
        assert f"causal={causal}," in (tmp_path / f"kernel_opt_{name}" / "kernel.py").read_text()
        counted[name] = work["special"][0]["count"]["value"]
    assert counted == {"plain": 4 * 32 * 4096 * 4097 // 2, "full": 4 * 32 * 4096 * 4096}
    words[1] = "grouped"
    assert main([*words, "--option", "kv_heads=8"]) == 2
    assert f"{demo}:16: --option kv_heads=8" in capsys.readouterr().err
    assert not (tmp_path / "kernel_opt_grouped").exists()


def test_a_header_whose_options_nobody_can_judge_is_refused(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The package's reference sums two tensors; that of attention is told what the header says."""
    source = Path(__file__).parents[4] / "kopt_kb" / "kernels" / "cute" / "attention.py"
    full = source.read_text().replace("causal = true", "causal = false")
    three = full.replace('op = "attention"', 'op = "elementwise"').replace("causal = false", "inputs = 3")
    words[words.index("--framework") + 1] = "CuteDSL"
    demo = tmp_path / "header.py"
    words[words.index("--kernel-demo") + 1] = str(demo)
    demo.write_text(three)
    assert main(words) == 2
    assert "the reference computes inputs=2, and the kernel inputs=3" in capsys.readouterr().err
    shelf = Shelf(tmp_path, Makers(1), RecordTarget("sm_90", "T"))
    judge = shelf.reference_of(full.encode(), "attention").read_text()
    assert "def reference(q, k, v, *, causal=False" in judge
    assert shelf.reference_of(source.read_bytes(), "attention") == packaged_reference("attention")
    shelf.close()


def test_missing_fields_are_one_list(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Nothing is created."""
    assert main(["init", "x", "--platform", "H20", "--parent", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "missing --op, --shape, --dtype" in said
    assert "--kernel-demo and --framework" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [(["--threshold", "x"], "--threshold"), (["--arch", "CDNA3"], "Testarch"), (["--kernel-demo", "/none.py"], "/none.py"), (["--op", "gem"], "gemm"), (["--shape", "1x2x3"], "MxN"), (["--placeholder", "x"], "KEY=TEXT"), (["--platform", "T1O"], "T10"), (["--framework", "Banana"], "one of Triton, "), (["--placeholder", "memory_bandwidth=5 TB/s"], "memory_bandwidth is known: 2.0 TB/s"), (["--placeholder", "l3=5 TB"], "l3 is no UNKNOWN value"), (["--platform", "T1"], "kb list")],
)  # fmt: skip
def test_bad_fields_are_named(
    words: list[str], change: list[str], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """One line, exit 2, nothing created."""
    assert main([*words, *change]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "kernel_opt_norm").exists()


@pytest.mark.parametrize("name", ["../x", "", ".hidden", "a b", "x" * 65])
def test_bad_names_are_refused(words: list[str], name: str) -> None:
    """Separators, dots in front, blanks, length."""
    words[1] = name
    assert main(words) == 2


def test_unknown_inputs(words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Refused with 4; allowed, it is created and still 4."""
    gemm = [*words, "--op", "gemm"]
    gemm[gemm.index("8192x4096")] = "64x64x64"
    assert main(gemm) == 4
    assert "UNKNOWN" in capsys.readouterr().err
    assert main([*gemm, "--allow-unknown", "--json"]) == 4
    body = json.loads(capsys.readouterr().out)
    assert any(key.startswith("peak_compute") for key in body["unknown"])
    assert Path(body["path"]).is_dir()


def test_the_threshold_is_the_users(words: list[str], tmp_path: Path) -> None:
    """It replaces the default of the dtype, and says so."""
    assert main([*words, "--threshold", "0.003"]) == 0
    text = (tmp_path / "kernel_opt_norm" / "README.md").read_text()
    assert "relative error <= 0.003" in text
    assert "given by the user" in text


LOGIC = '''OP = "rms_norm"


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Inputs."""


def reference(x, weight):
    """The operation."""
'''


def test_the_route_is_inferred_and_shown(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """PyTorch logic is implemented first; the word stands in the output, the README and the JSON."""
    (tmp_path / "demo.py").write_text(LOGIC)
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["route"] == "pytorch"
    assert "- route: pytorch (" in (tmp_path / "kernel_opt_norm" / "README.md").read_text()
    words[1] = "other"
    assert main([*words, "--route", "kernel"]) == 2
    assert "give --route pytorch" in capsys.readouterr().err
    (tmp_path / "demo.py").write_text(DEMO)
    assert main([*words, "--route", "kernel"]) == 0
    assert "route kernel (tune an existing kernel)" in capsys.readouterr().out


def test_without_a_kernel_demo_there_is_the_roofline(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No kernel.py, no framework needed, a clean audit, and the line says how to tune."""
    at = words.index("--framework")
    short = [*words[:at], *words[at + 4 :], "--op", "rms_norm"]
    assert main(short) == 0
    assert "--kernel-demo" in capsys.readouterr().out
    folder = tmp_path / "kernel_opt_norm"
    assert not (folder / "kernel.py").exists()
    assert main(["audit", str(folder)]) == 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (["--route", "pytorch"], "lacks make_inputs and reference"),
        (["--route", "roofline"], "leave --kernel-demo out"),
        (["--route", "pytorch", "--framework", "Python"], "the route pytorch knows Triton"),
    ],
)
def test_a_route_that_does_not_fit_creates_nothing(
    words: list[str], change: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, exit 2."""
    assert main([*words, *change]) == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1
    assert not (tmp_path / "kernel_opt_norm").exists()


def test_cuda_gets_a_file_of_its_own_name(
    tmp_path: Path, wiki_root: Path, repo_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Declared, tuned and audited like a Python file; what nothing could judge or launch is refused first."""
    wiki = ["--wiki", str(wiki_root)]
    demo = repo_root / "kernels" / "cuda" / "rms_norm.cu"
    words = ["init", "norm", "--platform", "T10", "--framework", "CUDA", "--dtype", "bf16", "--parent", str(tmp_path)]
    assert main([*words, "--kernel-demo", str(demo), "--shape", "1024x512", *wiki]) == 0
    root = tmp_path / "kernel_opt_norm"
    assert (root / "kernel.cu").read_bytes() == demo.read_bytes()
    assert not (root / "kernel.py").exists()
    assert main(["tune", "run", str(root), "--simulate", "--yes", "--max-rounds", "2", *wiki]) == 0
    assert "one_pass" in capsys.readouterr().out
    assert main(["audit", str(root), *wiki]) == 0
    assert "copied to kernel.cu" in (root / "README.md").read_text()
    bare = tmp_path / "bare.cu"
    bare.write_text("__global__ void one() {}\n")
    (tmp_path / "bare.toml").write_text('op = "softmax"\n[[steps]]\nlaunch = "one"\n')
    capsys.readouterr()
    assert main([*words, "--kernel-demo", str(bare), "--shape", "8x8", *wiki]) == 2
    assert "has no header" in capsys.readouterr().err
    other = tmp_path / "other.cu"
    other.write_text('/* kb\nop = "no_such"\n[[steps]]\nlaunch = "one"\n*/\n__global__ void one() {}\n')
    assert main([*words, "--kernel-demo", str(other), "--shape", "8x8x8", *wiki]) == 2
    assert "no_such" in capsys.readouterr().err


def test_the_way_out_of_an_unknown_operation_is_one_that_the_command_has(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`kb init` takes no bare counts, `kb roofline` does; both take a problem."""
    assert main([*words, "--op", "no_such_thing"]) == 2
    said = capsys.readouterr().err
    assert "--problem" in said and "--flops" not in said


def test_a_bare_file_in_another_language_is_told_its_way(
    tmp_path: Path, wiki_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the words that are missing: language, extra and header; cuTile needs its framework alone."""
    for line, says in (("import tilelang", "'kopt-kb[tilelang]'"), ("import cuda.tile as ct", "--framework cuTile")):
        demo = tmp_path / "demo.py"
        demo.write_text(f"{line}\n")
        words = ["--platform", "T10", "--kernel-demo", str(demo), "--parent", str(tmp_path), "--wiki", str(wiki_root)]
        assert main(["init", "norm", *words]) == 2
        said = capsys.readouterr().err
        assert says in said and f"{demo}:1: is written in" in said
