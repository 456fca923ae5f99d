"""Whether rows that `kb table audit` refuses fail on a GPU, and those that it lets pass launch.

python benchmarks/table_launches.py ENGINE [--rows 100] [--out benchmarks/results/table_launches.jsonl]

ENGINE is a checkout or an unpacked wheel of vLLM. Rows are drawn from its fused-MoE tables of the GPU's own product: up
to a third of them such as the audit refuses, the rest at random (seed 1), the first product of each. Every row is
launched once with the tensors that its launch names, one block, all tokens with the first expert. A line a row is
written as it is judged: what the audit says, and what the launch did. Expected: no row that the audit lets pass fails,
and none that it refuses launches.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import triton

from kopt_kb.base.errors import BadInput
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.request import KernelCase, constant
from kopt_kb.packs.tables.code_objects import PlannedCode, Workbench, code_facts
from kopt_kb.packs.tables.devices import DeviceNames
from kopt_kb.packs.tables.engine import find_engine
from kopt_kb.packs.tables.engine_checks import PlannedRow, PlannedTable, judged, planned
from kopt_kb.packs.tables.fused_moe import read_fused_moe
from kopt_kb.packs.tables.moe_launch import launches_fused_moe
from kopt_kb.packs.tables.pack import PACK
from kopt_kb.wiki.registry import Registry

TABLES = "vllm/model_executor/layers/fused_moe/configs"
REFUSING = {"refused", "shared-memory", "cannot-launch"}
WORKERS = 8


def tensor(spec: TensorSpec) -> torch.Tensor:
    """A tensor of a launch; weights have the first expert alone, what steers the kernel is zero."""
    shape = (1, *spec.shape[1:]) if len(spec.shape) == 3 and spec.shape[0] > 1 else spec.shape
    return torch.zeros(shape, dtype=torch.uint8, device="cuda").to(getattr(torch, spec.dtype))


def launch(case: KernelCase, made: PlannedCode) -> str:
    """Return why a launch fails; empty where it does not."""
    spec = importlib.util.spec_from_file_location("_rows", made.case.file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert isinstance(case.args, Mapping)
    assert isinstance(made.case.args, Mapping)
    given: dict[str, Any] = {
        name: tensor(one) if isinstance(one, TensorSpec) else one
        for name, one in case.args.items()
        if name in made.case.args
    }
    constants = {name: constant(one) for name, one in made.case.constexprs.items()}
    try:
        getattr(module, case.kernel)[(1,)](**given, **constants, **case.options)
        torch.cuda.synchronize()
    except Exception as error:  # noqa: BLE001 - whatever the compiler or the driver says
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/table_launches.jsonl"))
    args = parser.parse_args()
    engine = find_engine(args.engine, "vllm")
    assert engine is not None
    devices, form = DeviceNames(Registry.open()), PACK.table_forms[0]
    here = devices.named(torch.cuda.get_device_name())
    assert here is not None, torch.cuda.get_device_name()
    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench(engine.root, Path(folder), triton.__version__)
        known: list[tuple[PlannedTable, PlannedRow]] = []
        for path in sorted((engine.root / TABLES).glob("*.json")):
            table = read_fused_moe(path.read_bytes(), path)
            product = devices.of(table).platform
            if product is not None and product.id == here.id:
                plan = planned(table, form, path.name, product, bench)
                known += [(plan, row) for row in plan.rows]
        random.Random(1).shuffle(known)
        drawn = known[: 4 * args.rows]
        facts = {one.key: one.facts for one in code_facts([row.objects[0] for _, row in drawn], WORKERS)}
        verdicts = []
        for plan, row in drawn:
            only = PlannedTable(plan.table, plan.file, plan.platform, (PlannedRow(row.row, row.objects[:1]),), ())
            verdicts.append([one.kind for one in judged(only, facts, devices.limits(here)) if one.kind in REFUSING])
        order = sorted(range(len(drawn)), key=lambda number: not verdicts[number])
        refused = [number for number in order if verdicts[number]][: args.rows // 3]
        passed = [number for number in order if not verdicts[number]][: args.rows - len(refused)]
        wrong = 0
        with args.out.open("w", encoding="utf-8") as out:
            for number in (*refused, *passed):
                plan, row = drawn[number]
                try:
                    case = launches_fused_moe(plan.table, row.row, engine.root, str(here.identity.target))[0]
                except (BadInput, TypeError):
                    continue
                failure = launch(case, row.objects[0])
                wrong += bool(failure) != bool(verdicts[number])
                said = {"file": plan.file, "key": row.row.key, "audit": verdicts[number], "launch": failure}
                out.write(json.dumps(said) + "\n")
                out.flush()
    versions = f"Triton {triton.__version__}, vllm {engine.version}, {torch.cuda.get_device_name()}"
    print(f"{len(refused)} refused, {len(passed)} passed, {wrong} judged wrongly; {versions}")


if __name__ == "__main__":
    main()
