"""Tuned configurations are written into the file, read back, replaced, and take effect."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.kernels.launch_case import LaunchCase
from kopt_kb.launch.candidate.source_config import configs_of, configured, structure_of, with_chosen, with_configs
from kopt_kb.launch.compile.loader import load_module
from kopt_kb.launch.kernel.declared import packaged_file, read_declared
from kopt_kb.tuning.lint import lint_source

SOURCE = b'X = 1\n\n\ndef default_config(shape, dtype):\n    return {"BLOCK": 32, "num_warps": 1}\n'
CONFIGS = {"8x4": {"BLOCK": 64}, "2x2": {"VARIANT": "wide", "STREAM": True}}


def test_written_configurations_are_read_back() -> None:
    """Values keep their types; the file without the block is the file as it was."""
    tuned = with_configs(SOURCE, CONFIGS)
    assert configs_of(tuned) == CONFIGS
    assert structure_of(tuned) == SOURCE
    assert (configs_of(SOURCE), structure_of(SOURCE), with_configs(SOURCE, {})) == ({}, SOURCE, SOURCE)


def test_they_replace_what_was_there() -> None:
    """There is one block, however often it is written."""
    again = with_configs(with_configs(SOURCE, CONFIGS), {"8x4": {"BLOCK": 128}})
    assert again == with_configs(SOURCE, {"8x4": {"BLOCK": 128}})
    assert again.count(b"TUNED_CONFIGS = ") == 1


def test_they_overlay_the_files_own_start() -> None:
    """A tuned shape takes its values, others and other keys keep the start."""
    space: dict[str, object] = {}
    exec(with_configs(SOURCE, CONFIGS), space)
    default = space["default_config"]
    assert callable(default)
    assert default((8, 4), "bf16") == {"BLOCK": 64, "num_warps": 1}
    assert default((9, 9), "bf16") == {"BLOCK": 32, "num_warps": 1}


@pytest.mark.parametrize("table", [b"f()", b"[1]", b"{"])
def test_a_damaged_block_is_refused(table: bytes) -> None:
    """No code is run to read it."""
    damaged = with_configs(SOURCE, {"8x4": {"BLOCK": 64}}).replace(b"{'8x4': {'BLOCK': 64}}", table)
    with pytest.raises(BadInput, match="tuned configurations"):
        configs_of(damaged)


CUDA = b"/* kb\n[[steps]]\nlaunch = 'k'\n*/\n__global__ void k() {}\n"


def test_cuda_has_them_in_a_comment() -> None:
    """Written, read back, replaced and removed as in Python."""
    configs = {"8x4": {"THREADS": 64, "WIDE": True}, "2x2": {"THREADS": 32}}
    tuned = with_configs(CUDA, configs)
    assert configs_of(tuned) == {"8x4": {"THREADS": 64, "WIDE": 1}, "2x2": {"THREADS": 32}}
    assert structure_of(tuned) == CUDA
    again = with_configs(tuned, {"8x4": {"THREADS": 128}})
    assert again == with_configs(CUDA, {"8x4": {"THREADS": 128}})
    assert with_configs(tuned, {}) == CUDA
    for table in (b"THREADS = ", b"1"):
        with pytest.raises(BadInput, match="tuned configurations"):
            configs_of(
                with_configs(CUDA, {"8x4": {"THREADS": 64}}).replace(b'"8x4" = { THREADS = 64 }', b"x = " + table)
            )


def test_a_header_in_a_docstring_has_them_in_a_text() -> None:
    """So that the file stays Python."""
    source = b'"""A kernel.\n\n/* kb\nop = "x"\n*/\n"""\nX = 1\n'
    made = with_configs(source, {"8x8": {"A": 3}})
    compile(made, "kernel.py", "exec")
    assert configs_of(made) == {"8x8": {"A": 3}}
    assert structure_of(made) == source


SHAPES = {
    "gemm": (1024, 1024, 1024), "fp8_gemm": (1024, 1024, 512), "grouped_gemm": (1024, 256, 128),
    "attention": (1, 2, 512, 128), "elementwise": (1 << 16,),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.triton
@pytest.mark.parametrize(
    "op",
    ["gemm", "fp8_gemm", "grouped_gemm", "attention", "rms_norm", "softmax", "layer_norm", "cross_entropy", "swiglu",
     "reduction", "elementwise"],
)  # fmt: skip
def test_a_tuned_file_launches_what_a_search_launched(op: str, tmp_path: Path) -> None:
    """Of every variant and each setting alone: in the block they make the launches that they made as an argument."""
    pytest.importorskip("triton")
    shape, dtype = SHAPES.get(op, (512, 4096)), "fp8" if op == "fp8_gemm" else "bf16"
    path = packaged_file(op)
    assert path is not None
    declared, plain = read_declared(path), _as_on_hopper(path)
    alone = [{name: value} for name, values in declared.tuning_space for value in values[::2]]
    for index, config in enumerate([*(dict(one.config) for one in declared.variants), *alone]):
        try:
            by_hand = _launches(plain.static_cases(shape, dtype, config))
        except (ValueError, KeyError):
            assert config in alone, config  # some settings need others beside them
            continue
        file = tmp_path / f"tuned_{index}.py"
        file.write_bytes(with_configs(path.read_bytes(), {"x".join(map(str, shape)): config}))
        assert by_hand == _launches(_as_on_hopper(file).static_cases(shape, dtype)), config
        assert lint_source(file.read_bytes(), framework="Triton") == ()


def _as_on_hopper(path: Path) -> ModuleType:
    module = load_module(str(path))
    if hasattr(module, "_is_hopper"):
        module._is_hopper = lambda: True
    return module


def _launches(cases: Sequence[LaunchCase]) -> list[tuple[object, ...]]:
    return [(one.kernel.__name__, one.grid, one.constexprs, one.num_warps, one.num_stages) for one in cases]


def test_settings_are_written_into_a_file_that_takes_no_configuration(repo_root: Path) -> None:
    """Names with a dot are of its text; those of the last shape hold for all."""
    source = (repo_root / "tests" / "data" / "users" / "silu_mul.py").read_bytes()
    config = {"_silu_mul.BLOCK": 256}
    written, left = configured(source, config)
    assert (left, configured(source, {"BLOCK": 256})) == ({}, (source, {"BLOCK": 256}))
    assert with_chosen(source, {"8x8": {"_silu_mul.BLOCK": 64}, "64x64": config}) == (
        written, {"8x8": {"_silu_mul.BLOCK": 64}, "64x64": config},
    )  # fmt: skip
