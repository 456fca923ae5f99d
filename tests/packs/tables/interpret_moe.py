"""The layer around the stand-in engine's kernel, run by Triton's interpreter: distances from float64, a line each."""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from kopt_kb.packs.tables.moe_files import planned_launches, write_op_files
from kopt_kb.packs.tables.moe_launch import Assumed
from tests.packs.tables.simulated import ENGINE, ROW
from tests.packs.tables.test_moe_problem import problem

CASES = (("", 2, True), (",dtype=int8_w8a8", 5, False), (",dtype=fp8_w8a8,block_shape=[128,128]", 5, False))


def module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def main() -> None:
    for more, tokens, naive in CASES:
        one = problem(more, tokens)  # the interpreter multiplies no bf16
        one = replace(one, layer=replace(one.layer, target="sm_80", assumed=Assumed(256, 2, "float16")), naive=naive)
        with tempfile.TemporaryDirectory() as folder:
            made = write_op_files(one, ENGINE, Path(folder))
            kernel, reference = module(made.kernel), module(made.reference)
            inputs = reference.make_inputs(one.shape, one.dtype, "cpu", 3)
            config = planned_launches(one, {**ROW, "BLOCK_SIZE_M": 16}, ENGINE)
            wanted = reference.reference(*inputs)
            found = kernel.launch(*inputs, config=config).double()
        sys.stdout.write(json.dumps([one.scales, naive, float((found - wanted).norm() / wanted.norm())]) + "\n")


if __name__ == "__main__":
    main()
