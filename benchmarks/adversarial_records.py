"""Puts launch records of right form and wrong content to the judge, and as many honest ones as are to pass.

    python3 benchmarks/adversarial_records.py --out FILE [--count 1000] [--honest 100] [--seed 26]
        [--platform H100_SXM] [--budget-s 200] [--workers 6] [--no-gpu]

Records of packaged kernels are made, mutated (adversarial_mutations.py: arguments, aliasing, geometry, constants,
attributes, globals, order of steps, scratch) and put to the admission that needs no GPU, then to the judge that replays
them. One line of FILE for each as soon as it is judged. What the judge accepts and that does not compute the same by
construction is replayed beside its original on inputs of this script's own: equal bits everywhere are `same bits`,
results within the problem's tolerance `within tolerance`, all else `WRONG`. Exit 1: a wrong one was accepted, an honest
one refused, or not all were judged. A fault ends a judge's child, never this program; workers judge side by side.
"""

from __future__ import annotations

import argparse
import json
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BESIDE = Path(__file__).resolve().with_name("adversarial_beside.py")
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from adversarial_mutations import Base, Mutant, mutants  # noqa: E402

from kopt_kb.base.errors import KoptError  # noqa: E402
from kopt_kb.base.wire import canonical, parse, read  # noqa: E402
from kopt_kb.launch.counts.device_facts import device_facts  # noqa: E402
from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.makers import Makers  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_file  # noqa: E402
from kopt_kb.launch.record.bounds import check_code, check_record, unfit_result  # noqa: E402
from kopt_kb.launch.record.judge import OBJECTS, RECORD, code_of  # noqa: E402
from kopt_kb.launch.record.model import LaunchRecord  # noqa: E402
from kopt_kb.launch.record.request import MakerRequest, OpRequest  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402

SHAPES: Mapping[str, Sequence[tuple[int, ...]]] = {
    "elementwise": ((4096,), (3000,)), "softmax": ((48, 512), (7, 1000)), "rms_norm": ((48, 512), (7, 1000)),
    "layer_norm": ((48, 512), (7, 1000)), "swiglu": ((32, 256), (5, 1000)), "cross_entropy": ((32, 1024), (9, 500)),
    "reduction": ((32, 2048), (7, 1000)), "gemm": ((128, 128, 128), (64, 192, 256)),
}  # fmt: skip
DTYPES = ("bf16", "fp16", "fp32")
TOML = """
op = "elementwise"
shape = "Nx..."
dtypes = ["fp32"]
[inputs]
x = "[elements]"
y = "[elements]"
[outputs]
out = "[elements]"
"""
STEP = """
[[steps]]
launch = "KERNEL"
grid = ["(elements + 255) // 256"]
block = [256]
arguments = ARGUMENTS
"""
TABLE = """
__constant__ float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
__device__ float more[8] = {1, 1, 1, 1, 1, 1, 1, 1};
extern "C" __global__ void add_kernel(const float* x, const float* y, float* out, int n) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < n) out[at] = x[at] * ones[at % 8] + y[at] * more[at % 8];
}
"""
STEPS = """
extern "C" __global__ void keep(const float* x, float* kept, int n) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < n) kept[at] = x[at];
}
extern "C" __global__ void add(const float* kept, const float* y, float* out, int n) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < n) out[at] = kept[at] + y[at];
}
"""
_FIRST_S, _CHECK_S = 90.0, 12.0
"""Seconds for a worker's first record, whose reference process imports torch, and for each behind it."""


@dataclass(frozen=True)
class Case:
    """A record that is judged: its name, its kind (`honest` or that of a mutation), and what may be said of it."""

    name: str
    kind: str
    what: str
    record: LaunchRecord
    codes: Mapping[str, bytes]
    base: Base
    same: bool = True


def cuda_files(folder: Path) -> dict[str, Path]:
    """Write kernels with own globals and with several steps over scratch; their headers stand beside them."""
    one = STEP.replace("KERNEL", "add_kernel").replace("ARGUMENTS", '["x", "y", "out", "i32 elements"]')
    first = STEP.replace("KERNEL", "keep").replace("ARGUMENTS", '["x", "kept", "i32 elements"]')
    second = STEP.replace("KERNEL", "add").replace("ARGUMENTS", '["kept", "y", "out", "i32 elements"]')
    scratch = '[scratch]\nkept = "[elements]"\n[[steps]]\nfill = "kept"\nvalue = 1\n'
    for name, source, toml in (("table", TABLE, TOML + one), ("steps", STEPS, TOML + scratch + first + second)):
        (folder / f"{name}.cu").write_text(source)
        (folder / f"{name}.toml").write_text(toml)
    return {name: folder / f"{name}.cu" for name in ("table", "steps")}


def made_bases(folder: Path, platform: str, count: int) -> list[Base]:
    """Return right records: packaged kernels by type and shape, and the two of CUDA C++; raises what fails."""
    product = Registry.open().platform(platform)
    asked: dict[str, tuple[Path, OpRequest]] = {}
    for op, shapes in SHAPES.items():
        file = packaged_file(op)
        for number, shape in enumerate(shapes):
            for dtype in DTYPES:
                if file is not None:
                    asked[f"{op}-{number}-{dtype}"] = (file, OpRequest(str(file), shape, dtype))
    add = packaged_file("elementwise")
    for name, file in cuda_files(folder).items():
        for shape in ((4096,), (3000,)):
            asked[f"{name}-{shape[0]}"] = (add or file, OpRequest(str(file), shape, "fp32"))
    chosen = list(asked.items())
    if count:
        kept = [one for one in chosen if one[0].split("-")[0] in {"table", "steps"}][: max(count // 2, 1)]
        chosen = [*chosen[:: max(len(chosen) // count, 1)][:count], *kept]
    target, facts = product.identity.target, device_facts(product)
    with Makers() as makers:
        requests = [
            (MakerRequest(what, target, platform, facts, ""), folder / f"{name}.record") for name, (_, what) in chosen
        ]
        made = makers.make_all(requests)
    bases = []
    for (name, (reference, _)), one in zip(dict(chosen).items(), made, strict=True):
        record = one.stored()
        codes = {digest: code_of(one.folder, digest, record.target) for digest in record.codes}
        bases.append(Base(name, record, codes, str(reference)))
    return bases


def honest(bases: Sequence[Base], count: int, seed: int) -> Iterator[Case]:
    """Yield the bases as they are, then with other words and buffers in another order: nothing that a kernel sees."""
    chance = random.Random(seed)
    for number in range(count):
        base = bases[number % len(bases)]
        record, what = base.record, "as recorded"
        if number >= len(bases):
            buffers = list(record.buffers)
            chance.shuffle(buffers)
            record = replace(record, label=f"variation {number}", buffers=tuple(buffers), versions={"variation": "1"})
            what = "other words, buffers in another order"
        yield Case(f"honest-{number}-{base.name}", "honest", what, record, base.codes, base)


def cases_of(bases: Sequence[Base], count: int, honest_count: int, seed: int) -> list[Case]:
    """Return all that is judged, honest ones among the others."""
    found = [_case(number, one) for number, one in enumerate(mutants(bases, count, seed))]
    found += honest(bases, honest_count, seed)
    random.Random(seed).shuffle(found)
    return found


def _case(number: int, one: Mutant) -> Case:
    return Case(f"{number}-{one.base.name}", one.kind, one.what, one.record, one.codes, one.base, one.same)


def refused_without_a_gpu(case: Case) -> str:
    """Return why a record is refused before anything of it is launched; empty where it is not."""
    try:
        record = read(LaunchRecord, parse(canonical(case.record.to_json()), where="record"), where="record")
        check_record(record, "record")
        for digest in record.codes:
            check_code(case.codes[digest], record.target, "record")
    except KoptError as error:
        return error.what
    except KeyError:
        return "a code object is missing"
    return unfit_result(record)


def stored(case: Case, folder: Path) -> Path:
    """Write a record as a maker's is stored."""
    place = folder / f"{case.name}.case"
    (place / OBJECTS).mkdir(parents=True)
    for digest in case.record.codes:
        (place / OBJECTS / digest).write_bytes(case.codes[digest])
    (place / RECORD).write_bytes(canonical(case.record.to_json()) + b"\n")
    return place


class Log:
    """A file of findings, a line each, written as they come."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        self._path, self._lock = path, threading.Lock()
        self.found: dict[str, dict[str, Any]] = {}

    def say(self, case: Case, ended: str, by: str, seconds: float = 0.0) -> None:
        """Write how a case ended; a later line of the same name stands for the earlier."""
        line = {"name": case.name, "kind": case.kind, "what": case.what, "ended": ended, "by": by[:200]}
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            self.found[case.name] = line
            file.write(json.dumps({**line, "seconds": round(seconds, 3)}) + "\n")


def judge_all(cases: Sequence[Case], folder: Path, log: Log, workers: int, ends_at: float) -> list[Case]:
    """Have judges replay the records, several side by side; return those that were accepted."""
    waiting: queue.SimpleQueue[Case] = queue.SimpleQueue()
    for case in cases:
        waiting.put(case)
    accepted: list[Case] = []

    def work() -> None:
        judge = _Judge()
        while time.monotonic() < ends_at:
            try:
                case = waiting.get_nowait()
            except queue.Empty:
                break
            begin, place = time.monotonic(), stored(case, folder)
            problem, ended = judge.judged(case, place)
            log.say(case, ended, problem, time.monotonic() - begin)
            if ended == "accepted":
                accepted.append(case)
            shutil.rmtree(place, ignore_errors=True)
        judge.judging.close()

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return accepted


class _Judge:
    """A judge whose children are made anew after a fault or hang."""

    def __init__(self) -> None:
        self.judging, self._limit_s = DeviceJudging(at_once=8), _FIRST_S

    def judged(self, case: Case, place: Path) -> tuple[str, str]:
        """Return what was found and how it ended; an honest record that met another's trouble is tried twice."""
        for _ in range(2 if case.kind == "honest" else 1):
            problem, ended = self._checked(case, place)
            self._limit_s = _CHECK_S
            if ended == "accepted":
                break
        return problem, ended

    def _checked(self, case: Case, place: Path) -> tuple[str, str]:
        faults = self.judging.faults
        held = self.judging._held
        if held is not None:
            held._known_s = 0.0  # the device is shared with other workers: no time says anything of its health
        try:
            found = self.judging.check(place, Path(case.base.reference), 2, time.monotonic() + self._limit_s)
        except TimeoutError:
            self.judging.close()
            self.judging, self._limit_s = DeviceJudging(at_once=8), _FIRST_S
            return "nothing came in time", "hang"
        except KoptError as error:
            return error.what, "refused"
        if found.problem:
            return found.problem, "fault" if self.judging.faults > faults else "refused"
        return f"{found.checks} checks", "accepted"


def sorted_out(accepted: Sequence[Case], folder: Path, log: Log) -> None:
    """Say of every accepted mutant what it is: the same by construction, by bits, within tolerance, or wrong."""
    open_ = []
    for case in accepted:
        if case.kind == "honest":
            continue
        if case.same:
            log.say(case, "equivalent", "the same by construction")
        else:
            open_.append(case)
    while open_:
        words = []
        for case in open_:
            original = replace(case, name=f"{case.name}.base", record=case.base.record, codes=case.base.codes)
            words.append([str(stored(case, folder)), str(stored(original, folder)), case.base.reference])
        (folder / "beside.json").write_text(json.dumps(words))
        argv = [sys.executable, str(BESIDE), str(folder / "beside.json")]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=150, check=False)
        lines = done.stdout.splitlines()[: len(open_)] or [f"WRONG: {done.stderr.strip()[-150:]}"]
        for case, line in zip(open_, lines, strict=False):
            ended, _, by = line.partition(": ")
            log.say(case, ended, by)
        for place in folder.glob("*.case"):
            shutil.rmtree(place, ignore_errors=True)
        open_ = open_[len(lines) :]  # a process that ended early judged so many, the last one wrong


def device_here() -> str:
    """Return the device's name; raises `MissingTool` where there is none."""
    judging = DeviceJudging()
    try:
        return judging.machine().name
    finally:
        judging.close()


def main() -> int:
    """Make, mutate, judge; print a table of kinds and ends."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--honest", type=int, default=100)
    parser.add_argument("--seed", type=int, default=26)
    parser.add_argument("--platform", default="H100_SXM")
    parser.add_argument("--budget-s", type=float, default=200.0)
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--bases", type=int, default=0, help="make so many right records only; 0: all")
    parser.add_argument("--no-gpu", action="store_true", help="stop after the admission that needs no GPU")
    args = parser.parse_args()
    if not args.no_gpu:
        try:
            print(f"on {device_here()}", flush=True)
        except KoptError as error:
            print(f"{error.what}; --no-gpu stops before the judge")
            return 3
    begin, log = time.monotonic(), Log(args.out)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bases = made_bases(folder, args.platform, args.bases)
        cases = cases_of(bases, args.count, args.honest, args.seed)
        print(f"{len(bases)} right records, {len(cases)} cases after {time.monotonic() - begin:.1f} s", flush=True)
        left = []
        for case in cases:
            why = refused_without_a_gpu(case)
            log.say(case, "refused without a GPU" if why else "admitted", why)
            left += [] if why else [case]
        print(f"{len(left)} admitted after {time.monotonic() - begin:.1f} s", flush=True)
        if not args.no_gpu:
            accepted = judge_all(left, folder, log, args.workers, begin + args.budget_s)
            print(f"judged after {time.monotonic() - begin:.1f} s", flush=True)
            sorted_out(accepted, folder, log)
    return summary(log, gpu=not args.no_gpu, seconds=time.monotonic() - begin)


def summary(log: Log, *, gpu: bool, seconds: float) -> int:
    """Print how many of each kind ended how, and what is not as it has to be."""
    table = Counter((one["kind"], one["ended"]) for one in log.found.values())
    for (kind, ended), number in sorted(table.items()):
        print(f"{kind:15} {ended:22} {number}")
    allowed = {"accepted", "admitted"} if not gpu else {"accepted"}
    bad = [
        one for one in log.found.values()
        if (one["kind"] == "honest" and one["ended"] not in allowed)
        or (one["kind"] != "honest" and one["ended"] in {"WRONG", *(["admitted", "accepted"] if gpu else [])})
    ]  # fmt: skip
    for one in bad[:40]:
        print(f"NOT AS IT HAS TO BE {one['name']} ({one['kind']}, {one['what']}): {one['ended']}: {one['by']}")
    print(f"{len(log.found)} cases in {seconds:.1f} s, {len(bad)} not as they have to be")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
