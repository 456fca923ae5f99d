"""Runs a packaged cuTile kernel under the emulator against float64, and holds what it declares against Triton's."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch

from kopt_kb.launch.kernel.declared import packaged_file, read_declared
from tests.cutile_emulator import install

FOLDER = Path(__file__).parents[3] / "kernels" / "cutile"


def loaded(name: str) -> ModuleType:
    """Import a kernel file under the emulator."""
    spec = importlib.util.spec_from_file_location(f"cutile_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(name: str, shape: tuple[int, ...], config: dict[str, object], **options: object) -> None:
    """Compare every element in bf16 and fp32, also of the tiles that end outside the array."""
    for dtype, limit in (("bf16", 2e-2), ("fp32", 1e-5)):
        with install():
            module = loaded(name)
            inputs = module.make_inputs(shape, dtype, device="cpu", seed=3)
            found = module.launch(*inputs, config=config, **options)
            wanted = module.reference(*inputs, **options)
        assert float((found.double() - wanted).norm() / wanted.norm()) < limit
        assert found.dtype == inputs[0].dtype and bool(torch.isfinite(found).all())


def check_declared(name: str, shape: tuple[int, ...]) -> None:
    """The operation and options of the Triton kernel, a default for every knob, and operands that do not fit."""
    declared = read_declared(FOLDER / f"{name}.py")
    other = packaged_file(declared.op)
    assert other is not None
    assert (declared.op, declared.options) == (read_declared(other).op, read_declared(other).options)
    with install():
        module = loaded(name)
        assert set(dict(declared.tuning_space)) <= set(module.default_config(shape, "bf16"))
        first, *rest = module.make_inputs((4,) * len(shape), "bf16", "cpu")
        with pytest.raises(ValueError, match="need"):
            module.launch(first.transpose(-1, -2), *rest)
