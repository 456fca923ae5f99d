"""Prepared files: bit-equal in the interpreter, bulk copies in machine code, everything else as it was."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tileir.rewrite import RewriteOptions, apply_source, output_path

KERNELS = Path(__file__).parents[2] / "data" / "tileir_kernels.py"

COMPARE = """
import importlib.util, json, sys, torch
def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
one, two = load(sys.argv[1], "one"), load(sys.argv[2], "two")
pairs = list(zip(one.run(one), two.run(two), strict=True))
view = {torch.float16: torch.int16, torch.float32: torch.int32, torch.int32: torch.int32}
equal = [torch.equal(a.view(view[a.dtype]), b.view(view[b.dtype])) for a, b in pairs]
print(json.dumps([equal, two.matmul.refused, two.scores.refused]))
"""


def test_equal_to_the_bit_in_the_interpreter(tmp_path: Path) -> None:
    """Ragged shapes, empty sequences, a transposed operand; the last product has no unit stride and stays plain."""
    done = apply_source(str(KERNELS))
    made = tmp_path / "made.py"
    made.write_text(done.optimized_code, encoding="utf-8")
    env = {**os.environ, "TRITON_INTERPRET": "1", "TILEIR_DESCRIPTORS": "1"}
    child = subprocess.run(
        [sys.executable, "-c", COMPARE, str(KERNELS), str(made)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert child.returncode == 0, child.stderr[-2000:]
    equal, matmul, scores = json.loads(child.stdout.splitlines()[-1])
    assert all(equal)
    assert matmul.startswith("unit")
    assert scores == ""
    assert [(one.kernel, one.descriptors, one.tiles) for one in done.kernels] == [
        ("matmul", 3, 3),
        ("scores", 3, 3),
        ("scaled", 0, 0),
    ]


@pytest.mark.triton
def test_bulk_copies_in_machine_code(tmp_path: Path) -> None:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    made = tmp_path / "tileir_made.py"
    made.write_text(apply_source(str(KERNELS)).optimized_code, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("tileir_made", made)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    constants = {"BM": 64, "BN": 64, "BK": 32, "stride_ak": 1, "stride_bn": 1, "stride_cn": 1}
    names = module.matmul._names
    signature = {n: "constexpr" if n in constants else "*fp16" if n.endswith("ptr") else "i32" for n in names}
    aligned = {(at,): [["tt.divisibility", 16]] for at, n in enumerate(names) if n not in constants}
    for target in (90, 100):
        copies = [
            triton.compile(ASTSource(kernel.fn, signature, constants, aligned), target=GPUTarget("cuda", target, 32))
            .asm["ptx"]
            .count("cp.async.bulk.tensor")
            for kernel in (module.matmul._plain, module.matmul._tiled)
        ]
        assert copies[0] == 0
        assert copies[1] >= 3


def test_only_what_is_asked_for_changes() -> None:
    text = KERNELS.read_text(encoding="utf-8")
    done = apply_source(str(KERNELS), kernel="scaled", options=RewriteOptions(approx=True, ftz=True))
    code = done.optimized_code
    assert 'setdefault("TILEIR_ENABLE_APPROX", "1")' in code
    assert 'setdefault("TILEIR_ENABLE_FTZ", "1")' in code
    assert "TileirChoice(\n    matmul" not in code
    assert "x * (1 / (1 + tl.exp(-(x))))" in code
    assert "scaled = TileirTuned(scaled" in code
    assert done.changes_applied[-1] == "tl.sigmoid written out 2 times"
    assert done.kernels[0].changes[-3:] == done.changes_applied[-3:]
    assert "APPROX" in done.changes_applied[-3] and "FTZ" in done.changes_applied[-2]
    assert text.splitlines()[0] == code.splitlines()[0]


def test_persistent_kernels_get_no_two_cta_hint() -> None:
    code = "import triton\nimport triton.language as tl\n@triton.autotune(configs=get(), key=[])\n@triton.jit\ndef k(p, NUM_SMS: tl.constexpr):\n    tl.store(p, tl.dot(tl.load(p), tl.load(p)))\n"
    done = apply_source("--code", code)
    assert "num_ctas=2 is left out" in done.kernels[0].refusals[0]
    assert "configs=tileir_configs(get(), ((1, 0, 1), (2, 0, 1), (4, 0, 1)))" in done.optimized_code


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("@cached\n@triton.jit\ndef k(p, q):\n    tl.store(q, tl.load(p))\n", "a decorator besides"),
        ("def f():\n    @triton.jit\n    def k(p, q):\n        tl.store(q, tl.load(p))\n", "inside another function"),
        (
            "@triton.jit\ndef k(p, q):\n    tl.store(q, tl.load(p))\n@triton.jit\ndef m(p, q):\n    k(p, q)\ndef h():\n    k[(1,)]()\n",
            "other kernels call it",
        ),
    ],
)
def test_what_is_left_says_why(code: str, reason: str) -> None:
    done = apply_source("--code", f"import triton\nimport triton.language as tl\n{code}")
    assert any(reason in one for one in done.kernels[0].refusals)


def test_a_prepared_file_is_refused_and_its_name_is_known(tmp_path: Path) -> None:
    made = tmp_path / "made.py"
    made.write_text(apply_source(str(KERNELS)).optimized_code, encoding="utf-8")
    with pytest.raises(BadInput, match="prepared for TileIR already"):
        apply_source(str(made))
    assert output_path("a/gemm.py") == "a/gemm_tileir.py"
