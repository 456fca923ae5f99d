"""A device that is simulated: records cost what a function of their settings says, and so do contests of them."""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.judge.blocks import ComparedKernel
from kopt_kb.launch.judge.difference import DifferenceTest
from kopt_kb.launch.judge.judging import Checked, Contested, JudgeDevice, Profile, Timed
from kopt_kb.launch.judge.makers import Made, NotRecordedError
from kopt_kb.launch.judge.regression import QuadBlock
from kopt_kb.launch.record.judge import load_record
from kopt_kb.launch.record.request import MakerRequest, OpRequest

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "data" / "moe_engine"
NAMES = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "num_warps", "num_stages")
ROW = dict(zip(NAMES, (16, 64, 64, 1, 4, 3), strict=True))
Cost = Callable[[Mapping[str, Any], int], float]
"""Settings and tokens → seconds; 0: the result is wrong; below 0: it can't be recorded."""


@dataclass
class Device:
    """Records and judges by a cost; each pair of processes is off by a placement of its own."""

    record: Callable[..., Path]
    cost: Cost
    device: str = "Simulated"
    missing: bool = False
    placement: float = 2e-4
    costs: dict[Path, float] = field(default_factory=dict)
    settings: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    pid: int = 1
    faults: int = 0
    noise: random.Random = field(default_factory=lambda: random.Random(7))

    def make_all(self, asked: Sequence[tuple[MakerRequest, Path]]) -> list[Made]:
        return [self._make(request, out) for request, out in asked]

    def _make(self, request: MakerRequest, out: Path) -> Made:
        what = request.what
        assert isinstance(what, OpRequest) and Path(what.file).is_file()
        first = json.loads(json.dumps(dict(what.config)))["products"][0]
        settings = {**first["constants"], **first["options"]}
        self.settings.append((what.shape[0], {name: settings[name] for name in NAMES if name in settings}))
        seconds = self.cost(settings, what.shape[0])
        if self.missing:
            return Made(out, error=MissingTool("no triton", code="KB120"))
        if seconds < 0:
            return Made(out, error=NotRecordedError("out of resources", where="moe"))
        shutil.copytree(self.record("plusone__us9"), out)
        self.costs[out] = seconds
        return Made(out, load_record(out))

    def machine(self, ends_at: float = math.inf) -> JudgeDevice:
        return JudgeDevice(self.device, "0", "13.0")

    def check(self, record: Path, reference: Path, checks: int, ends_at: float) -> Checked:
        assert reference.is_file()
        right = self.costs[record] > 0
        return Checked("" if right else "differs from the reference", 1e-3 if right else None, checks)

    def time(
        self, records: Sequence[Path], reference: Path, launches: int, ends_at: float, *, again: bool = False
    ) -> list[Timed]:
        self.asked.append("time")
        return [Timed((one,) * launches) if one else Timed((), "wrong") for one in map(self._seconds, records)]

    def contest(
        self, sides: Mapping[str, Mapping[str, Path]], reference: Path, threshold: float, ends_at: float
    ) -> Contested:
        raise AssertionError("a contest within one pair of processes decides nothing of a table")

    def difference(self, base: Path, head: Path, reference: Path, threshold: float, seconds: float) -> ComparedKernel:
        self.asked.append("difference")
        assert reference.is_file() and seconds > 0
        for name, one in (("base", base), ("head", head)):
            if not self._seconds(one):
                return ComparedKernel("undecided" if name == "base" else "wrong", f"{name}: differs from the reference")
        test, ratio = DifferenceTest(threshold), math.log(self._seconds(head) / self._seconds(base))
        while test.outcome is None:
            placed = ratio + self.noise.gauss(0, self.placement)
            quads = tuple(placed + self.noise.gauss(0, 2e-4) for _ in range(6))
            test.add(QuadBlock(len(test.blocks) % 2 == 0, quads, ()))
        return ComparedKernel(
            test.outcome, f"after {len(test.blocks)} blocks", math.exp(test.looked[-1].mean), tuple(test.looked),
            base_s=self._seconds(base), head_s=self._seconds(head), blocks=tuple(test.blocks),
        )  # fmt: skip

    def _seconds(self, record: Path) -> float:
        return self.costs[record]

    def profile(self, record: Path, reference: Path, ends_at: float) -> Profile:
        return Profile(problem="none")

    def close(self) -> None:
        self.asked.append("closed")


def optimum(settings: Mapping[str, Any], tokens: int) -> float:
    """A cost with one best: 32 x 128 x 64 with 8 warps and 4 stages, more tokens take longer."""
    best = {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 64, "num_warps": 8, "num_stages": 4}
    steps = sum(abs(math.log2(settings[name] / one)) for name, one in best.items() if name in settings)
    return 1e-4 * (1 + tokens / 1000) * (1 + 0.05 * steps)


def table_file(folder: Path, rows: Mapping[str, Mapping[str, object]], more: str = "", **text: Any) -> Path:
    """A table of the stand-in engine for an H200: 4 experts, 128 wide."""
    path = folder / "vllm" / f"E=4,N=128,device_name=NVIDIA_H200{more}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(rows, **{"indent": 4, **text}) + "\n")
    return path
