"""CUDA C++ against Triton by launch records, on one GPU: recorded, checked by replay, and decided by a contest.

    python3 benchmarks/cuda_records.py --out DIR [--budget-s 150] [--platform H100_SXM]

One line of DIR/results.jsonl for each finding as soon as there is one; what failed is printed last. It needs a CUDA
GPU, torch, triton, cuda-bindings and NVRTC (extras [gpu] and [cuda]), and changes no setting of the device.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kopt_kb.launch.counts.device_facts import device_facts  # noqa: E402
from kopt_kb.launch.cuda.cubin import read_cubin  # noqa: E402
from kopt_kb.launch.judge.contest import contest  # noqa: E402
from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.judges import judges  # noqa: E402
from kopt_kb.launch.judge.makers import Makers  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_file  # noqa: E402
from kopt_kb.launch.record.cuda_driver import CudaDriver  # noqa: E402
from kopt_kb.launch.record.judge import stored  # noqa: E402
from kopt_kb.launch.record.model import TensorView  # noqa: E402
from kopt_kb.launch.record.moves import move_of, moved  # noqa: E402
from kopt_kb.launch.record.replay import Replay  # noqa: E402
from kopt_kb.launch.record.request import MakerRequest, OpRequest  # noqa: E402
from kopt_kb.problem.shapes import format_shape  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402

CASES: list[tuple[str, tuple[int, ...], str]] = [
    ("rms_norm", (8192, 4096), "bf16"),
    ("softmax", (8192, 4096), "bf16"),
    ("rms_norm", (64, 1001), "fp16"),
    ("softmax", (8, 131072), "bf16"),
    ("rms_norm", (512, 40000), "fp32"),
    ("softmax", (4096, 1000), "fp32"),
    ("layer_norm", (4096, 4096), "bf16"),  # in Triton alone: libdevice leaves a string in its code object
]
ATTACKS = ("lazy_counter", "kept_answer", "hidden_static", "table_as_state", "honest")


class Run:
    """Findings so far, and the time that is left."""

    def __init__(self, out: Path, budget_s: float) -> None:
        self.path, self.end, self.failed = out / "results.jsonl", time.monotonic() + budget_s, list[str]()

    def part(self, name: str, do: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Do one part, keep what it found, and never let it end the others."""
        if time.monotonic() > self.end:
            self.failed.append(f"{name}: no time left")
            return {}
        begin = time.monotonic()
        try:
            found = do()
        except Exception as error:  # noqa: BLE001 - whatever fails, the other parts run
            found = {"error": f"{type(error).__name__}: {error}"}
            self.failed.append(f"{name}: {error}")
        line = {"part": name, "seconds": round(time.monotonic() - begin, 3), **found}
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line)[:300], flush=True)
        return found


def records(run: Run, folder: Path, platform: str) -> dict[tuple[str, int], Path]:
    """Record each case in both languages with one warm maker."""
    found = Registry.open().platform(platform)
    target, facts = found.identity.target, device_facts(found)
    made: dict[tuple[str, int], Path] = {}
    with Makers(1) as makers:
        makers.warm()
        for number, (op, shape, dtype) in enumerate(CASES):
            files = {"triton": packaged_file(op), "cuda": ROOT / "kernels" / "cuda" / f"{op}.cu"}
            for language, file in ((name, one) for name, one in files.items() if one is not None and one.is_file()):
                request = MakerRequest(OpRequest(str(file), shape, dtype), target, platform, facts, "")
                out = folder / f"{number}-{language}"

                def record(request: MakerRequest = request, out: Path = out) -> dict[str, Any]:
                    one = makers.make(request, out)
                    return {"maker_s": round(one.seconds, 3), "launches": len(one.stored().launches)}

                if "error" not in run.part(f"record {language} {op} {format_shape(shape)} {dtype}", record):
                    made[language, number] = out
    return made


def checked(judging: DeviceJudging, folder: Path, op: str) -> dict[str, Any]:
    """Replay a record on every input that its operation declares."""
    result = judging.check(folder, packaged_file(op) or folder, 2, math.inf)
    if result.problem:
        raise ValueError(result.problem)
    return {"checks": result.checks, "rel_l2_err": result.rel_l2_err}


def decided(triton: Path, cuda: Path, op: str) -> dict[str, Any]:
    """Hold CUDA C++ against Triton."""
    with judges(packaged_file(op) or triton) as made:
        result = contest(made, {"one": triton}, {"one": cuda})
    times: dict[str, float | None] = {"triton_us": None, "cuda_us": None}
    if result.shapes:
        one = result.shapes[0]
        times = {"triton_us": round(one.incumbent_s * 1e6, 3), "cuda_us": round(one.candidate_s * 1e6, 3)}
    return {"verdict": result.verdict, "reason": result.reason, "ratio": result.ratio, **times, "quads": result.quads}


def kept(run: Run, folder: Path, platform: str) -> None:
    """Kernels that keep counts and answers in variables of their code object: nothing of it may outlive a launch."""
    path = ROOT / "tests" / "exploits" / "cuda.py"
    spec = importlib.util.spec_from_file_location("exploits_cuda", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    target = Registry.open().platform(platform).identity.target
    reference = packaged_file("elementwise") or path
    with Makers(1) as makers:
        for name in ATTACKS:
            place = folder / name
            place.mkdir()
            (place / "attack.cu").write_text(module.source(name))
            request = MakerRequest(OpRequest(str(place / "attack.cu"), (4096,), "bf16"), target, platform, {}, "")

            def tried(request: MakerRequest = request, place: Path = place) -> dict[str, Any]:
                makers.make(request, place / "record").stored()
                judging = DeviceJudging()
                try:
                    problem = judging.check(place / "record", reference, 3, math.inf).problem
                    timed = judging.time([place / "record"], reference, 24, math.inf)[0]
                finally:
                    judging.close()
                return {"check": problem, "timing": timed.problem, "launches": len(timed.times_s)}

            found = run.part(f"keeps {name}", tried)
            if found.get("check") or found.get("timing"):
                run.failed.append(f"{name} was caught instead of being without effect: {found}")
            run.part(f"variables of {name}", lambda place=place: variables(place / "record"))


MOVES: list[tuple[str, TensorView, TensorView]] = [
    ("transpose", TensorView("x", 0, (300, 500), (1, 300), "bf16"), TensorView("o", 0, (300, 500), (500, 1), "bf16")),
    ("cast", TensorView("x", 0, (150_000,), (1,), "fp32"), TensorView("o", 0, (150_000,), (1,), "bf16")),
    (
        "cast and transpose",
        TensorView("x", 0, (300, 500), (1, 300), "fp16"),
        TensorView("o", 0, (300, 500), (500, 1), "fp32"),
    ),
    ("broadcast", TensorView("x", 0, (300, 500), (0, 1), "fp32"), TensorView("o", 0, (300, 500), (500, 1), "fp16")),
    (
        "whole numbers",
        TensorView("x", 0, (40, 50, 60), (3000, 1, 50), "i32"),
        TensorView("o", 0, (40, 50, 60), (3000, 60, 1), "i64"),
    ),
    ("to bool", TensorView("x", 0, (150_000,), (1,), "i32"), TensorView("o", 0, (150_000,), (1,), "i1")),
]


def moves_alike() -> dict[str, Any]:
    """Hold the judge's own copy against its twin, byte by byte."""
    driver, chance, wrong = CudaDriver(), random.Random(1), []
    for name, source, target in MOVES:
        what = move_of(source, target)
        assert what is not None
        data = bytearray(chance.randbytes(source.end_bytes))
        if source.dtype in {"fp16", "fp32"}:  # NaN may have any bits: leave them out
            for at in range(source.item_bytes - 1, len(data), source.item_bytes):
                data[at] &= 0xBF
        expected = bytearray(target.end_bytes)
        for place, one in moved(what, lambda at, size, data=data: bytes(data[at : at + size])):
            expected[place : place + len(one)] = one
        places = [driver.allocate(one.end_bytes) for one in (source, target)]
        driver.write(places[0], bytes(data))
        driver.move(places[1], places[0], what)
        wrong += [] if driver.read(places[1], target.end_bytes) == bytes(expected) else [name]
        for address in places:
            driver.free(address)
    if wrong:
        raise ValueError(f"moves differ from their twin: {', '.join(wrong)}")
    return {"moves": [name for name, _, _ in MOVES]}


def moves_fast() -> dict[str, Any]:
    """Time a large cast and a large transpose."""
    driver, found = CudaDriver(), {}
    shape = (8192, 8192)
    for name, source, target in (
        ("cast", TensorView("x", 0, shape, (8192, 1), "fp32"), TensorView("o", 0, shape, (8192, 1), "bf16")),
        ("transpose", TensorView("x", 0, shape, (1, 8192), "bf16"), TensorView("o", 0, shape, (8192, 1), "bf16")),
    ):
        what = move_of(source, target)
        assert what is not None
        places = [driver.allocate(one.end_bytes) for one in (source, target)]
        driver.fill(places[0], b"\0", source.end_bytes)
        events = [driver.event(), driver.event()]
        for _ in range(3):
            driver.record(events[0])
            driver.move(places[1], places[0], what)
            driver.record(events[1])
            driver.synchronize()
        seconds = driver.elapsed_s(*events)
        found[name] = {"us": seconds * 1e6, "TB_per_s": (source.end_bytes + target.end_bytes) / seconds / 1e12}
        for address in places:
            driver.free(address)
    return found


def variables(folder: Path) -> dict[str, Any]:
    """Say what the driver finds of a code object's own memory."""
    record, code = stored(folder)
    driver = CudaDriver()
    with Replay(record, code, driver) as replay:
        replay.load()
        digest = record.launches[0].code
        places = driver.own_memory(code(digest))
        sections = read_cubin(code(digest)).memory
    found = {one.section: [len(one.image), sorted(one.symbols)] for one in sections}
    return {"file": found, "device": [len(one.image) for one in places]}


def main() -> None:
    """Do all parts that fit the budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--budget-s", type=float, default=150.0)
    parser.add_argument("--platform", default="H100_SXM")
    args = parser.parse_args()
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    run = Run(out, args.budget_s)
    with tempfile.TemporaryDirectory(prefix="cuda-records-") as name:
        folder = Path(name)
        made = records(run, folder, args.platform)
        kept(run, folder, args.platform)
        run.part("moves alike", moves_alike)
        run.part("moves fast", moves_fast)
        judging = DeviceJudging()
        for (language, number), place in sorted(made.items(), key=lambda item: item[0][1]):
            op, shape, dtype = CASES[number]
            what = f"check {language} {op} {format_shape(shape)} {dtype}"
            run.part(what, lambda p=place, o=op: checked(judging, p, o))
        judging.close()
        for number in range(len(CASES)):
            if CASES[number][0] == "layer_norm":
                run.part("variables of a Triton kernel", lambda n=number: variables(made["triton", n]))
        for number, (op, shape, dtype) in enumerate(CASES):
            sides = made.get(("triton", number)), made.get(("cuda", number))
            if all(sides):
                what = f"contest {op} {format_shape(shape)} {dtype}"
                run.part(what, lambda pair=sides, o=op: decided(pair[0], pair[1], o))
    print(*(f"FAILED {one}" for one in run.failed), sep="\n")
    print("all parts as expected" if not run.failed else f"{len(run.failed)} parts not as expected")


if __name__ == "__main__":
    main()
