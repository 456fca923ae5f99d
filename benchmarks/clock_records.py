"""Parts within a budget, and the records that replay_clock.py times: cases, slower variants, one that faults."""

from __future__ import annotations

import json
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kopt_kb.base.wire import canonical, plain
from kopt_kb.launch.counts.device_facts import device_facts
from kopt_kb.launch.judge.makers import make_records
from kopt_kb.launch.kernel.declared import packaged_file
from kopt_kb.launch.record.judge import RECORD, load_record
from kopt_kb.launch.record.model import Buffer, Fill, Launch, NullArg, TensorView
from kopt_kb.launch.record.request import MakerRequest, OpRequest
from kopt_kb.wiki.registry import Registry

CASES = {
    "norm": ("rms_norm", (8192, 4096), "bf16"),
    "short": ("softmax", (256, 1024), "bf16"),
    "product": ("gemm", (4096, 4096, 4096), "bf16"),
}


class Run:
    """Results so far, and the time that is left."""

    def __init__(self, out: Path, budget_s: float) -> None:
        self.path, self.began, self.budget_s = out / "replay_clock.json", time.monotonic(), budget_s
        self.results: dict[str, Any] = {}
        self.failed: list[str] = []
        self.folder = Path(tempfile.mkdtemp(prefix="replay-clock-"))
        self.records: dict[str, Path] = {}

    def left_s(self) -> float:
        return self.budget_s - (time.monotonic() - self.began)

    def part(self, name: str, do: Callable[[], Any], needs_s: float = 5.0) -> None:
        """Do one part, keep its result, and never let it end the others."""
        if self.left_s() < needs_s:
            self.failed.append(f"{name}: no time left")
            return
        begin = time.monotonic()
        try:
            result = do()
        except Exception as error:  # noqa: BLE001 - whatever fails, the other parts run
            traceback.print_exc()
            result = {"error": f"{type(error).__name__}: {error}"}
            self.failed.append(f"{name}: {error}")
        self.results[name] = {"seconds": round(time.monotonic() - begin, 3), "result": plain(result)}
        self.write()
        print(f"{name:18s} {time.monotonic() - begin:6.1f} s  {_short(result)}", flush=True)

    def write(self) -> None:
        """Keep what there is, whole at any moment."""
        partial = self.path.with_suffix(".part")
        partial.write_text(json.dumps(self.results, indent=1))
        partial.replace(self.path)

    def expect(self, holds: bool, what: str) -> None:
        if not holds:
            self.failed.append(what)


def _short(result: Any) -> str:
    return json.dumps(plain(result))[:300]


# ---- records -------------------------------------------------------------------------------------


def make(run: Run, platform: str) -> dict[str, Any]:
    """Record the cases, a slower variant of each, and one that faults."""
    found = Registry.open().platform(platform)
    target, facts = found.identity.target, device_facts(found)
    asked = []
    for name, (op, shape, dtype) in CASES.items():
        request = MakerRequest(OpRequest(str(packaged_file(op)), shape, dtype), target, platform, facts, "")
        asked.append((request, run.folder / name))
    made = make_records(asked)
    for name, (_, folder), one in zip(CASES, asked, made, strict=True):
        run.expect(one.record is not None, f"record of {name}: {one}")
        run.records[name] = folder
    return {name: load_record(folder).label for name, folder in run.records.items()}


def variant(run: Run, name: str, word: str, change: Callable[[Any], Any]) -> Path:
    """Store a record whose steps are changed; code objects stay."""
    folder = run.folder / f"{name}-{word}"
    folder.mkdir()
    (folder / "objects").symlink_to(run.records[name] / "objects")
    (folder / RECORD).write_bytes(canonical(change(load_record(run.records[name])).to_json()))
    return folder


def filled(size: int) -> Callable[[Any], Any]:
    """Return the change that adds a fill of so many bytes of scratch before the steps."""

    def change(record: Any) -> Any:
        more = Buffer("more", "scratch", size, 256, True)
        fill = Fill(TensorView("more", 0, (size,), (1,), "u8"), "00")
        return replace(record, buffers=(*record.buffers, more), steps=(fill, *record.steps))

    return change


def faulty(record: Any) -> Any:
    """Return a record whose kernels get no first tensor."""
    steps = [
        replace(one, arguments=(NullArg(), *one.arguments[1:])) if isinstance(one, Launch) else one
        for one in record.steps
    ]
    return replace(record, steps=tuple(steps))


def reference(name: str) -> Path:
    path = packaged_file(CASES[name][0])
    assert path is not None
    return path
