"""What a kernel gains over itself from one pair of processes to the next, on one GPU.

python benchmarks/placement.py --engine DIR --table FILE --hidden 2048 --top-k 8 --out FILE.jsonl [--seconds 130]

Records of packaged kernels and of an engine's fused-MoE layer are held against themselves: by one contest, whose
verdict rests on the quads of one pair of processes, and by `difference_of`, whose sample are pairs of fresh processes.
A line each. Expected: packaged kernels within 0.2 %; a layer of few tokens, which reads little of much memory, 1 to 2 %
either way, so that a contest calls it faster than itself now and then, and the blocks do not.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kopt_kb.launch.counts.device_facts import device_facts
from kopt_kb.launch.judge.device import DeviceJudging
from kopt_kb.launch.judge.records import packaged_reference
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.launch.record.request import MakerRequest, OpRequest
from kopt_kb.packs.tables.bouts import Bouts
from kopt_kb.packs.tables.default_settings import default_settings
from kopt_kb.packs.tables.session import LayerAsked, TableSession, session
from kopt_kb.wiki.registry import Registry

KERNELS = (("rms_norm", (32768, 8192)), ("swiglu", (16384, 16384)), ("rms_norm", (8192, 4096)))
TOKENS = (2, 64, 1024)
ROOT = Path(__file__).resolve().parents[1]
Records = dict[str, tuple[Path, Path]]


def packaged(bouts: Bouts, found: TableSession) -> Records:
    """Return records of packaged kernels with their references."""
    identity = found.platform.identity
    target = RecordTarget(identity.target, identity.platform, device_facts(found.platform))
    asked = [
        (
            MakerRequest(
                OpRequest(str(ROOT / "kernels" / f"{op}.py"), shape, "bf16", {}),
                target.target, target.device, target.facts, "",
            ),
            bouts.folder / f"packaged{number}",
        )
        for number, (op, shape) in enumerate(KERNELS)
    ]  # fmt: skip
    made = [one.folder for one in bouts.makes(asked) if one.stored()]
    return {f"{op} {shape}": (one, packaged_reference(one)) for (op, shape), one in zip(KERNELS, made, strict=True)}


def layers(bouts: Bouts, found: TableSession) -> Records:
    """Return records of the engine's layer with its default settings."""
    kept: Records = {}
    for tokens in TOKENS:
        settings = default_settings(found.layer.problem(tokens, found.target), found.engine.root)
        record = bouts.folder_of(tokens, settings)
        assert isinstance(record, Path), record
        kept[f"moe {tokens} tokens"] = record, bouts.reference(tokens)
    return kept


def by_contest(judge: DeviceJudging, record: Path, reference: Path) -> Mapping[str, Any]:
    """Return what one contest of a record against itself says."""
    seen = judge.contest({"x": {"incumbent": record, "candidate": record}}, reference, 0.0, math.inf)
    times = {side: statistics.median(one) for side, one in seen.times_s.get("x", {}).items() if one}
    said = {"problem": seen.problem} if seen.verdict is None else seen.verdict.to_json()
    return {"by": "contest", "median_s": times, **said}


def by_blocks(judge: DeviceJudging, record: Path, reference: Path) -> Mapping[str, Any]:
    """Return what blocks of fresh processes say."""
    seen = judge.difference(record, record, reference, 0.0, 30.0)
    means = [statistics.fmean(one.head) for one in seen.blocks]
    return {"by": "blocks", "verdict": seen.verdict, "reason": seen.reason, "blocks_pct": [100 * one for one in means]}


def main() -> None:
    args = _arguments()
    begin, registry = time.monotonic(), Registry.open()
    found = session(LayerAsked(args.table, args.engine, args.hidden, args.top_k), registry)
    with found.bouts(registry, lambda _: None) as bouts:
        judge = bouts.judge
        assert isinstance(judge, DeviceJudging)
        records = {**layers(bouts, found), **packaged(bouts, found)}
        while time.monotonic() - begin < args.seconds:
            for name, (record, reference) in records.items():
                for how in (by_contest, by_blocks):
                    if time.monotonic() - begin > args.seconds:
                        return
                    judge.refresh()
                    at = time.monotonic()
                    line = {"record": name, **how(judge, record, reference), "seconds": time.monotonic() - at}
                    with args.out.open("a", encoding="utf-8") as stream:
                        stream.write(json.dumps(line, default=float) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument("--hidden", type=int, required=True)
    parser.add_argument("--top-k", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=130.0)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
