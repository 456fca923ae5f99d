"""Products of fp32 matrices by every route of a tensor core: which are accepted, which refused, and by what.

Usage: python benchmarks/fp32_routes.py --out FILE [--platform H100_SXM] [--shape 2048x2048x2048]
           [--tolerance 0.01 0.0001] [--budget-s 230]

A kernel for each route (native fp32; one or three tf32 products; one, three, six or nine of bf16; one, two or three of
fp16; one, two or three slices of int8) is the baseline of a workspace of its own: `kb init`, a campaign of no rounds,
`kb audit`, all in this process and by one judge, whose children start once. A launcher is run and a profile taken of
none: neither says anything of an error. A line a route and tolerance, written as soon as it is known: the words of its
gates, its time, the recorded floor, and what was expected of its error.
Expected: a route is accepted exactly where its error is within the tolerance on every trial of the check (`EXPECTED`),
refused by the correctness gate alone elsewhere, and none is refused for its time or its code; routes within a tenth of
a limit (`CLOSE`) may end either way. `EXPECTED` is what the check says of the same kernels in Triton's interpreter:
`TRITON_INTERPRET=1 python benchmarks/fp32_routes.py --emulate`. One bf16 product is within 0.01 by arithmetic too: a
factor rounded to nearest is off by 2^-8 of itself at most, a product of two by (1 + 2^-8)^2 - 1 = 0.0078, and a sum of
equal products by no more. The last line names honest routes that were refused: none.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import tempfile
import time
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.cli.main import main as kb
from kopt_kb.cli.tune.judge import gated
from kopt_kb.launch.counts.device_facts import device_facts
from kopt_kb.launch.judge.device import DeviceJudging
from kopt_kb.launch.judge.executor import RecordExecutor
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.options import Budget, CampaignOptions
from kopt_kb.tuning.policy import default_policy
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.workspace import Workspace

if TYPE_CHECKING:
    from kopt_kb.launch.judge.judging import Judging

ROOT = Path(__file__).resolve().parents[1]
KERNEL = ROOT / "kernels" / "naive" / "matmul.py"
DOT = '        acc = tl.dot(a, b, acc, input_precision="ieee")  # fp32 operands are not rounded to tf32\n'
BF16, FP16 = "tl.bfloat16", "tl.float16"
SCALED = """        a_s = tl.max(tl.abs(a), 1, keep_dims=True) / {most} + 1e-37
        b_s = tl.max(tl.abs(b), 0, keep_dims=True) / {most} + 1e-37
        a_r = a / a_s
        b_r = b / b_s
"""
PART = """        {n}_{i} = {n}_r.to({t})
        {n}_r = {n}_r - {n}_{i}.to(tl.float32)
"""
SLICE = """        {n}_{i} = tl.floor({n}_r + 0.5).to(tl.int8)
        {n}_r = ({n}_r - {n}_{i}.to(tl.float32)) * 128.0
"""


def parts(dtype: str, pairs: str) -> str:
    """Return products of the parts of both operands: `10 01 00` are the indices of each pair.

    Halves have a scale for each row and column of a block of K, which keeps small parts in their range.
    """
    scaled = dtype == FP16
    lines = SCALED.format(most=1.0) if scaled else "        a_r = a\n        b_r = b\n"
    for at in range(1 + max(int(one) for pair in pairs.split() for one in pair)):
        lines += PART.format(n="a", i=at, t=dtype) + PART.format(n="b", i=at, t=dtype)
    end = " * (a_s * b_s)" if scaled else ""
    return lines + "".join(f"        acc += tl.dot(a_{one[0]}, b_{one[1]}){end}\n" for one in pairs.split())


def slices(count: int) -> str:
    """Return products of slices of 7 bits and a sign, with a scale for each row and column of a block of K."""
    lines = SCALED.format(most=127.0 if count == 1 else 126.0)
    for at in range(count):
        lines += SLICE.format(n="a", i=at) + SLICE.format(n="b", i=at)
    for i in range(count):
        for j in range(count - i):
            scale = 128.0 ** -(i + j)
            lines += (
                f"        acc += tl.dot(a_{i}, b_{j}, out_dtype=tl.int32).to(tl.float32) * (a_s * b_s * {scale!r})\n"
            )
    return lines


ROUTES = {
    "fp32": DOT,
    "tf32": DOT.replace("ieee", "tf32"),
    "tf32x3": DOT.replace("ieee", "tf32x3"),
    "bf16": parts(BF16, "00"),
    "bf16x3": parts(BF16, "10 01 00"),
    "bf16x6": parts(BF16, "20 11 02 10 01 00"),
    "bf16x9": parts(BF16, "22 21 12 20 11 02 10 01 00"),
    "fp16": parts(FP16, "00"),
    "fp16x2": parts(FP16, "10 00"),
    "fp16x3": parts(FP16, "10 01 00"),
    "int8": slices(1),
    "int8x2": slices(2),
    "int8x3": slices(3),
}
TILES = {"fp32": (64, 4), "bf16": (128, 8), "fp16": (128, 8)}
EXPECTED = {
    "0.01": set(ROUTES) - {"int8"},
    "0.0001": {"fp32", "tf32x3", "bf16x3", "bf16x6", "bf16x9", "fp16x3"},
}
"""Tolerance → routes whose error is within it on every trial; slices of int8 lose places of K that are small in A."""
CLOSE = {("int8x2", "0.01"), ("int8x3", "0.0001")}
"""Within a tenth of a limit in the interpreter on 128x128x256: nothing is expected of them."""
ROW_S, FIRST_ROW_S = 27.0, 90.0
"""Seconds of a row, too few for a profile, and of the first, which waits for the judge's children to start."""
NEAREST = (
    "(({n}_r.to(tl.int32, bitcast=True) + 0x7FFF + (({n}_r.to(tl.int32, bitcast=True) >> 16) & 1)) & -65536)"
    ".to(tl.float32, bitcast=True)"
)
"""fp32 rounded to the nearest bf16, ties to even, as the device does it: the interpreter cuts digits off."""


def kernel(route: str) -> str:
    """Return the naive product with larger tiles and the route's arithmetic."""
    text = KERNEL.read_text()
    assert DOT in text
    block, warps = TILES.get(route, (64, 4))
    text = text.replace(DOT, ROUTES[route]).replace(
        '"BLOCK": 16, "num_warps": 1', f'"BLOCK": {block}, "num_warps": {warps}'
    )
    return text.replace("num_stages=1", "num_stages=2").replace('knobs["num_warps"], 1)', 'knobs["num_warps"], 2)')


def said(*words: str) -> tuple[int, str]:
    """Run a command as a user would, in this process; return its status and what it printed."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = kb(words)
    return code, (out.getvalue() + err.getvalue()).strip()


class Kept(RecordExecutor):
    """A judge that serves one campaign after another: only `end` ends its children."""

    def close(self) -> None:
        """Stay, whichever campaign is over."""

    def end(self) -> None:
        """End makers and judges."""
        super().close()


class Bench:
    """Judges routes, one after another, by one judge."""

    def __init__(self, platform: str, folder: Path, judging: Judging | None = None) -> None:
        self.platform, self._folder = Registry.open().platform(platform), folder
        identity = self.platform.identity
        target = RecordTarget(identity.target, identity.platform, device_facts(self.platform))
        self.executor = Kept(judging or DeviceJudging(), target)
        required = tuple(one for one in default_policy().required_gates if one != "launcher")
        self._policy = replace(default_policy(), required_gates=required)

    def judged(self, route: str, shape: str, tolerance: str, seconds: float) -> dict[str, object]:
        """Return what became of one route."""
        begin = time.monotonic()
        file = self._folder / f"{route}.py"
        file.write_text(kernel(route))
        name = f"{route}_{tolerance.replace('.', '_')}"
        told: dict[str, object] = {"route": route, "tolerance": tolerance, "expected": expected_of(route, tolerance)}
        code, words = said(
            "init", name, "--platform", self.platform.identity.platform, "--kernel-demo", str(file), "--op", "gemm",
            "--shape", shape, "--dtype", "fp32", "--tolerance", tolerance, "--framework", "Triton",
            "--parent", str(self._folder),
        )  # fmt: skip
        if code:
            return {**told, "init": words[-300:]}
        end = self._campaign(root := self._folder / f"kernel_opt_{name}", seconds)
        return {**told, **of_journal(root), "end": end[-200:], "seconds": round(time.monotonic() - begin, 1)}

    def _campaign(self, root: Path, seconds: float) -> str:
        """Judge the baseline; return the last words of the campaign."""
        workspace, words = Workspace.open(root), [""]
        store = ObjectStore(workspace.layout.objects)
        options = gated(
            CampaignOptions(say=words.append), self.executor, self.platform, workspace.state().problem, store
        )
        with Campaign(workspace, self._policy, (), self.executor, options=options) as campaign:
            campaign.run(Budget(seconds, 0))
        return words[-1]


def expected_of(route: str, tolerance: str) -> bool | None:
    """Return whether a route's error is within a tolerance; None where that was not worked out or is close."""
    known = tolerance in EXPECTED and (route, tolerance) not in CLOSE
    return route in EXPECTED[tolerance] if known else None


def of_journal(root: Path) -> dict[str, object]:
    """Return what a campaign's journal says of its baseline, and what the audit says of the journal."""
    events = [json.loads(line) for line in (root / "journal.jsonl").read_text().splitlines()]
    gates = {
        e["data"]["gate"]: [e["data"]["result"], e["data"]["reason"][:200]]
        for e in events
        if e["kind"] == "gate_judged"
    }
    audit, told = said("audit", str(root))
    return {
        "decided": [e["data"]["decision"] for e in events if e["kind"] == "decided"],
        "times_s": [e["data"]["median_s"] for e in events if e["kind"] == "measured"],
        "floors": next((e["data"]["work"].get("floors") for e in events if e["kind"] == "target_set"), None),
        "gates": gates,
        "refused_by": sorted(gate for gate, (result, _) in gates.items() if result == "fail"),
        "audit": [audit, told[-300:]],
    }


def emulated(route: str, tolerance: str, folder: Path) -> str:
    """Return what the check says of a route in Triton's interpreter; halves with a scale stand for tf32."""
    from kopt_kb.launch.kernel.judgement import Case, trials_of
    from kopt_kb.launch.kernel.verification import produce
    from kopt_kb.problem.tolerances import tolerance_of

    file = folder / f"{route}.py"
    text = kernel(route.replace("tf32", "fp16"))
    for n in "ab":  # the interpreter multiplies bit patterns of bf16
        text = text.replace(f"{n}_r.to({BF16})", NEAREST.format(n=n))
        text = text.replace(f"{n}_r.to({FP16})", f"{n}_r.to({FP16}).to(tl.float32)")
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(route, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    usual = tolerance_of("fp32")
    limits = replace(
        usual, rel_l2_err=Fraction(tolerance), max_abs_err_rel=max(usual.max_abs_err_rel, Fraction(tolerance))
    )
    for trial in trials_of("gemm"):
        case = Case(module, (128, 128, 256), "fp32", trial, 7, "cpu")
        for part in range(trial.parts):
            if part:
                case.second()
            wide = case.reference()
            out, problem = produce(
                module.launch, case.inputs, tuple(wide.shape), module.default_config((128,) * 3, "fp32")
            )
            problem = problem or case.judge(out, limits, wide).problem
            if problem:
                return f"{trial.name}: {problem}"
    return ""


def summary(lines: list[dict[str, object]]) -> dict[str, object]:
    """Count what the run was made for: honest routes that were refused, and others that were not."""
    known = [one for one in lines if one.get("expected") is not None and "gates" in one]
    refused = [f"{one['route']} at {one['tolerance']}" for one in known if one["expected"] and one["refused_by"]]
    passed = [f"{one['route']} at {one['tolerance']}" for one in known if not one["expected"] and not one["refused_by"]]
    other = [
        f"{one['route']} at {one['tolerance']}: {one['refused_by']}"
        for one in known
        if one["refused_by"] not in ([], ["correctness"])
    ]
    return {"judged": len(known), "of": len(lines), "honest_refused": refused, "wrong_accepted": passed,
            "refused_by_other_gates": other}  # fmt: skip


def main() -> None:
    """Judge each route at each tolerance and write a line as soon as it is known; none begins after the budget."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="fp32_routes.jsonl")
    parser.add_argument("--emulate", action="store_true", help="say what the check says of each in the interpreter")
    parser.add_argument("--platform", default="H100_SXM")
    parser.add_argument("--shape", default="2048x2048x2048")
    parser.add_argument("--tolerance", nargs="+", default=["0.01", "0.0001"])
    parser.add_argument("--budget-s", type=float, default=230.0)
    args = parser.parse_args()
    if args.emulate:
        with tempfile.TemporaryDirectory() as name:
            for tolerance, route in product(args.tolerance, ROUTES):
                print(tolerance, route, emulated(route, tolerance, Path(name)) or "accepted", flush=True)
        return
    begin, lines = time.monotonic(), list[dict[str, object]]()
    with tempfile.TemporaryDirectory() as name, Path(args.out).open("a", encoding="utf-8") as out:
        bench = Bench(args.platform, Path(name))
        for route, tolerance in product(ROUTES, args.tolerance):
            left_s = args.budget_s - (time.monotonic() - begin)
            found: dict[str, object] = {"route": route, "tolerance": tolerance, "left_out": "budget"}
            if left_s > 0:
                seconds = min(left_s, ROW_S if lines else FIRST_ROW_S)
                found = bench.judged(route, args.shape, tolerance, seconds)
            lines.append(found)
            out.write(json.dumps(found) + "\n")
            out.flush()
            print(json.dumps(found)[:700], flush=True)
        bench.executor.end()
        out.write(json.dumps({"summary": summary(lines)}) + "\n")
    print(json.dumps(summary(lines), indent=1))


if __name__ == "__main__":
    main()
