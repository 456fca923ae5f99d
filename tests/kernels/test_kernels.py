"""Every kernel file is right in Triton's interpreter, stands alone, and declares its data as literals."""

from __future__ import annotations

import ast
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from kopt_kb.launch.compile.loader import load_module
from kopt_kb.problem.ops import OPS
from kopt_kb.problem.work import work

pytestmark = [pytest.mark.torch, pytest.mark.triton]

HERE = Path(__file__).parent
FILES = {
    "rms_norm": (64, 4096),
    "layer_norm": (64, 4096),
    "softmax": (64, 4096),
    "copy": (1 << 16,),
    "elementwise": (1 << 16,),
    "swiglu": (64, 4096),
    "reduction": (64, 4096),
    "cross_entropy": (64, 4096),
    "matmul": (1024, 1024, 512),
    "attention": (2, 4, 512, 64),
    "grouped_gemm": (1024, 256, 128),
    "fp8_gemm": (1024, 1024, 512),
    "naive/rms_norm": (64, 4096),
    "naive/softmax": (64, 4096),
    "naive/matmul": (1024, 1024, 512),
    "naive/attention": (2, 4, 512, 64),
}
DTYPES = {"fp8_gemm": "fp8"}
CATEGORIES = {"memory_traffic", "memory_access", "caching", "latency_hiding", "parallelism", "scheduling", "compute"}


def _module(name):
    return importlib.import_module("kopt_kb.kernels." + name.replace("/", "."))


def _literals(root, name):
    tree = ast.parse((root / "kernels" / f"{name}.py").read_text())
    assigned = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    targets = {(n.targets[0] if isinstance(n, ast.Assign) else n.target).id: n.value for n in assigned}
    wanted = ("OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS")
    return {key: ast.literal_eval(targets[key]) for key in wanted if key in targets}


def test_every_kernel_is_right_in_the_interpreter():
    """Fresh seeds, odd shapes, poisoned outputs, float64 references: one child process for all of them."""
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, str(HERE / "interpret_kernels.py")],
        capture_output=True, text=True, env=environment, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["kernel"] for row in rows} == {name.replace("/", ".") for name in FILES}
    assert [row for row in rows if not row["passed"]] == []


@pytest.mark.parametrize("name", FILES)
def test_a_kernel_file_stands_alone(name, repo_root):
    """At import it needs torch, triton and the standard library alone, so that it can be copied away."""
    tree = ast.parse((repo_root / "kernels" / f"{name}.py").read_text())
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    roots = {alias.name.split(".")[0] for node in top if isinstance(node, ast.Import) for alias in node.names}
    roots |= {node.module.split(".")[0] for node in top if isinstance(node, ast.ImportFrom)}
    assert roots <= {"torch", "triton", "math", "__future__"}


@pytest.mark.parametrize("name", FILES)
def test_declared_data_are_literals_that_fit_together(name, repo_root):
    """A reader needs no import: operation, options, tuning space and variants are plain data."""
    data = _literals(repo_root, name)
    assert data["OP"] in OPS
    work(data["OP"], FILES[name], DTYPES.get(name, "bf16"), **data["OP_OPTIONS"])
    assert all(isinstance(values, list) and values for values in data["TUNING_SPACE"].values())
    for variant in data.get("VARIANTS", []):
        assert variant["category"] in CATEGORIES
        assert variant["precondition"]
        assert set(variant["knobs"]) <= set(data["TUNING_SPACE"])
        assert set(variant["config"]) - {"VARIANT"} <= set(data["TUNING_SPACE"])


@pytest.mark.parametrize("name", FILES)
def test_static_cases_name_every_parameter_of_the_kernel(name, repo_root):
    """Arguments and constexprs of a case fill the kernel's signature exactly, for each variant."""
    module = _module(name)
    configs = [None, *(one["config"] for one in getattr(module, "VARIANTS", []))]
    for config in configs:
        for case in module.static_cases(FILES[name], DTYPES.get(name, "bf16"), config):
            names = case.kernel.arg_names
            assert set(case.constexprs) <= set(names)
            assert len(case.args) + len(case.constexprs) == len(names)
            assert case.blocks >= 1


@pytest.mark.parametrize("name", ["rms_norm", "softmax", "layer_norm", "cross_entropy"])
def test_rows_may_be_many(name):
    """Only the first dimension of a grid takes more than 65,535 blocks."""
    module = _module(name)
    for config in [None, *(one["config"] for one in module.VARIANTS)]:
        for case in module.static_cases((1 << 17, 32000), "bf16", config):
            assert max((1, *case.grid[1:])) <= 65535


@pytest.mark.parametrize("name", ["rms_norm", "softmax", "layer_norm", "cross_entropy", "swiglu"])
def test_what_contends_for_the_record_is_in_reach_of_the_loop(name, repo_root):
    """Each setting that the benchmark holds against others is a variant with values of the tuning space."""
    data = _literals(repo_root, name)
    variants = {one["config"].get("VARIANT") for one in data["VARIANTS"]}
    settings = load_module(str(repo_root / "benchmarks" / "record_settings.py")).CASES
    tried = [config for kernel, _, configs in settings if kernel == name for config in configs]
    assert tried
    for config in tried:
        knobs = {key: value for key, value in config.items() if key != "VARIANT"}
        assert config.get("VARIANT") in variants
        assert {key for key, value in knobs.items() if value not in data["TUNING_SPACE"][key]} == set()


def test_the_default_configuration_keeps_16_byte_loads_for_long_rows():
    """8192 x 4096 in bf16: 128 threads hold 32 elements each, four loads of 16 bytes."""
    config = _module("rms_norm").default_config((8192, 4096), "bf16")
    assert (config["BLOCK_ROWS"], config["num_warps"]) == (1, 4)


def test_short_rows_share_a_program():
    """Rows of 128 elements: 16 of them make a block of 2048."""
    assert _module("rms_norm").default_config((8192, 128), "bf16")["BLOCK_ROWS"] == 16


def test_rows_beyond_the_registers_take_two_passes():
    """65,536 columns do not stay in registers."""
    assert _module("rms_norm").default_config((16, 65536), "bf16")["VARIANT"] == "two_pass"
    assert _module("softmax").default_config((16, 65536), "bf16")["VARIANT"] == "online"


def test_descriptor_variants_refuse_rows_that_are_not_16_byte_multiples():
    """The message names the rule; without it the launch would fail in the driver."""
    matmul = _module("matmul")
    inputs = matmul.make_inputs((8, 7, 9), "bf16", "cpu", 0)
    with pytest.raises(ValueError, match="16 bytes"):
        matmul.launch(*inputs, config={"VARIANT": "descriptors"})


def test_a_product_starts_with_roles_on_hopper_where_they_take_it(monkeypatch: pytest.MonkeyPatch):
    """Not rows that the copy engine refuses, nor tiles of other rows, nor products that large tiles do not fill."""
    matmul, taken = _module("matmul"), []
    monkeypatch.setattr(matmul, "_is_hopper", lambda: True)

    class Kernel(str):
        def __getitem__(self, grid):
            return lambda *_, **__: taken.append(str(self))

    monkeypatch.setattr(matmul, "_KERNELS", {name: Kernel(name) for name in matmul._KERNELS})
    a, b = matmul.make_inputs((1024, 1024, 64), "bf16", "cpu", 0)
    odd = a.new_zeros(1024, 65)[:, :64]
    for left, right, config in [
        (a, b, None), (a, b, {"GROUP_M": 4}), (odd, b, None), (a, b, {"BLOCK_M": 64}), (a[:512], b, None),
        (a.float(), b.float(), None), (a[:, :60].contiguous(), b[:60], None),
    ]:  # fmt: skip
        matmul.launch(left, right, config=config)
    assert taken == ["roles"] * 2 + ["pointers"] * 5


def test_a_product_of_fp8_blocks_takes_whole_blocks_and_tiles_that_roles_have():
    """Scales stand for 128 elements; the warpgroups multiply 64 columns at a time, four times at most."""
    fp8_gemm = _module("fp8_gemm")
    a, b, sa, sb = fp8_gemm.make_inputs((8, 128, 256), "fp8", "cpu", 0)
    with pytest.raises(ValueError, match="a scale a block"):
        fp8_gemm.launch(a, b, sa[:, :1], sb)
    with pytest.raises(ValueError, match="not 32"):
        fp8_gemm.launch(a, b, sa, sb, config={"VARIANT": "roles", "BLOCK_N": 32})


@pytest.mark.parametrize("name", ["rms_norm", "layer_norm", "softmax", "reduction", "matmul", "attention"])
def test_a_launcher_refuses_operands_that_do_not_fit(name):
    """Transposed inputs have the wrong strides: an error, not a wrong result."""
    module = _module(name)
    inputs = module.make_inputs(tuple(min(dim, 32) for dim in FILES[name]), "fp32", "cpu", 0)
    with pytest.raises(ValueError, match="need"):
        module.launch(inputs[0].transpose(-1, -2), *inputs[1:])
