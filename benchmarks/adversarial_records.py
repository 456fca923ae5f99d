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
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from adversarial_mutations import Base, Mutant, mutants  # noqa: E402

from kopt_kb.base.errors import KoptError  # noqa: E402
from kopt_kb.base.wire import canonical, parse, read  # noqa: E402
from kopt_kb.launch.counts.device_facts import device_facts  # noqa: E402
from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.makers import Makers  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_file  # noqa: E402
from kopt_kb.launch.record.bounds import check_code, check_record, unfit_result  # noqa: E402
from kopt_kb.launch.record.judge import OBJECTS, RECORD, code_of, load_record  # noqa: E402
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
_CHECK_S, _ORACLE_DRAWS = 20.0, 24


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
    """A judge that is made anew after what no child of it survives."""

    def __init__(self) -> None:
        self.judging = DeviceJudging(at_once=8)

    def judged(self, case: Case, place: Path) -> tuple[str, str]:
        """Return what was found and how it ended; what another worker's fault slowed is judged twice."""
        for _ in range(2):
            problem, ended = _checked(self.judging, case, place)
            if "known work" not in problem and ended != "hang":
                break
            self.judging.close()
            self.judging = DeviceJudging(at_once=8)
            if ended == "hang" and case.kind != "honest":
                break
        return problem, ended


def _checked(judging: DeviceJudging, case: Case, place: Path) -> tuple[str, str]:
    faults = judging.faults
    try:
        found = judging.check(place, Path(case.base.reference), 2, time.monotonic() + _CHECK_S)
    except TimeoutError:
        return f"nothing came in {_CHECK_S:g} s", "hang"
    except KoptError as error:
        return error.what, "refused"
    if found.problem:
        return found.problem, "fault" if judging.faults > faults else "refused"
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
    for case in open_:
        one = stored(case, folder)
        two = stored(Case(f"{case.name}.base", "", "", case.base.record, case.base.codes, case.base), folder)
        argv = [sys.executable, __file__, "--beside", str(one), str(two), case.base.reference, "--out", "-"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        last = (done.stdout.strip().splitlines() or ["WRONG: the comparison ended without a word"])[-1]
        ended, _, by = last.partition(": ")
        log.say(case, ended, by or done.stderr[-200:])


def beside(one: Path, two: Path, reference: str) -> str:
    """Return what a record's results are beside those of its original, on inputs that no judge drew."""
    from kopt_kb.launch.compile.loader import load_module
    from kopt_kb.launch.kernel.comparison import compare
    from kopt_kb.launch.record.contents import span_of, tensor_of
    from kopt_kb.launch.record.judge import driver_for
    from kopt_kb.launch.record.replay import Replay
    from kopt_kb.problem.tolerances import tolerance_of

    records = [load_record(place) for place in (one, two)]
    module, base = load_module(reference), records[1]
    driver, worst = driver_for(base.target), "same bits"
    for draw in range(_ORACLE_DRAWS):
        inputs = list(module.make_inputs(base.shape, base.dtype, "cpu", 10_000 + draw))
        inputs = [part * [1, 30, 1e-3][draw % 3] if part.is_floating_point() else part for part in inputs]
        named = {
            given.view.buffer: bytes(span_of(part).numpy().tobytes())
            for given, part in zip(base.inputs, inputs, strict=True)
        }
        outs = []
        for place, record in zip((one, two), records, strict=True):
            with Replay(record, lambda digest, at=place, r=record: code_of(at, digest, r.target), driver) as replay:
                left = replay.run(named)
            if left.touched:
                return f"WRONG: {'; '.join(left.touched)}"
            outs.append(left.outputs[0])
        if outs[0] == outs[1]:
            continue
        import torch

        raw = torch.frombuffer(bytearray(outs[0]), dtype=torch.uint8)
        out = tensor_of(raw, records[0].outputs[0], tuple(inputs))
        wrong = (
            out if isinstance(out, str) else compare(out, module.reference(*inputs)).failure(tolerance_of(base.dtype))
        )
        if wrong:
            return f"WRONG: draw {draw}: {wrong}"
        worst = "within tolerance"
    return f"{worst}: {_ORACLE_DRAWS} draws beside the original"


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
    parser.add_argument("--beside", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.beside:
        print(beside(Path(args.beside[0]), Path(args.beside[1]), args.beside[2]))
        return 0
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
