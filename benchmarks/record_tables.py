"""Record tables of exhaustive results of packaged Triton kernels, on a machine with a GPU.

    python benchmarks/record_tables.py --out DIR [--table gemm] [--budget-s 600] [--platform H100_SXM]

Each space has a few hundred configurations. Every one is compiled ahead, replayed, checked and timed, three times and
near the best twelve times; what fails keeps its reason, and what was known without running it is kept: registers, local
memory, shared memory, residency, blocks. While one table is timed the makers are at the next.
DIR/TABLE_PRODUCT.json.gz is a T4 document, written anew after every fifty configurations; a run that goes on with
the same DIR times what is missing. `benchmarks/search_tables.py DIR --out …` searches the tables.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from result_table import ResultTable, TableResult, read_table  # noqa: E402

from kopt_kb.analysis.occupancy.limits import Limits  # noqa: E402
from kopt_kb.base.errors import MissingTool  # noqa: E402
from kopt_kb.launch.counts.device_facts import device_facts  # noqa: E402
from kopt_kb.launch.counts.launch_facts import launch_facts  # noqa: E402
from kopt_kb.launch.counts.limits import limits_of  # noqa: E402
from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.judging import Judging  # noqa: E402
from kopt_kb.launch.judge.makers import Made, Makers  # noqa: E402
from kopt_kb.launch.judge.shelf import Asked, RecordTarget, Shelf  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_file  # noqa: E402
from kopt_kb.launch.record.bounds import unfit_result  # noqa: E402
from kopt_kb.launch.record.judge import stored  # noqa: E402
from kopt_kb.launch.search.space import Space  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402


@dataclass(frozen=True, slots=True)
class TableSpace:
    """What a table is of: a packaged kernel, a shape, and each configuration of some knobs."""

    op: str
    shape: str
    knobs: dict[str, list[object]]
    dtype: str = "bf16"


SPACES = {
    "gemm": TableSpace("gemm", "4096x4096x4096", {
        "VARIANT": ["pointers"], "BLOCK_M": [64, 128, 256], "BLOCK_N": [64, 128, 256], "BLOCK_K": [32, 64],
        "GROUP_M": [1, 8], "num_warps": [4, 8], "num_stages": [2, 3, 4, 5],
    }),
    "attention": TableSpace("attention", "1x16x4096x128", {
        "VARIANT": ["rows"], "BLOCK_M": [32, 64, 128, 256], "BLOCK_N": [16, 32, 64, 128], "num_warps": [2, 4, 8, 16],
        "num_stages": [1, 2, 3, 4, 5],
    }),
    "cross_entropy": TableSpace("cross_entropy", "8192x32000", {
        "VARIANT": ["rows"], "BLOCK": [512, 1024, 2048, 4096, 8192, 16384, 32768],
        "num_warps": [1, 2, 4, 8, 16, 32], "num_stages": [1, 2, 3, 4, 5, 6],
    }),
    "softmax": TableSpace("softmax", "8192x4096", {
        "VARIANT": ["single_pass", "persistent"], "BLOCK_ROWS": [1, 2, 4, 8], "num_warps": [1, 2, 4, 8, 16],
        "num_stages": [1, 2, 3, 4], "RECIPROCAL": [False, True],
    }),
    "layer_norm": TableSpace("layer_norm", "8192x8192", {
        "VARIANT": ["persistent"], "BLOCK_ROWS": [1, 2, 4], "PROGRAMS_PER_SM": [1, 2, 4, 8], "STREAM": [False, True],
        "num_warps": [4, 8, 16, 32], "num_stages": [1, 2, 3],
    }),
    "gemm_wide": TableSpace("gemm", "2048x14336x4096", {
        "VARIANT": ["descriptors", "persistent"], "BLOCK_M": [64, 128, 256], "BLOCK_N": [64, 128, 256],
        "BLOCK_K": [64, 128], "GROUP_M": [8], "num_warps": [4, 8], "num_stages": [2, 3, 4, 5],
    }),
}  # fmt: skip
"""Table → what it is of: 256, 320, 252, 320, 288 and 256 configurations."""
CONSTRAINT = "BLOCK_M * BLOCK_N <= 32768"
_EVERY = 50
_FIRST, _MORE, _NEAR = 3, 9, 1.25
"""Launches of every configuration, further ones of those whose median is within a factor of the best so far."""
_PATHS = re.compile(r"(?:/[\w.-]+)+/kernel\.py: ")
_COMPILE_S = 30.0
"""What takes a maker longer is a failure of the table, as it would be of a search."""


def allowed(config: Mapping[str, object]) -> bool:
    """Return whether a configuration is of the space; only products have a constraint."""
    return int(str(config.get("BLOCK_M", 1))) * int(str(config.get("BLOCK_N", 1))) <= 32768


class Recording:
    """A table as it grows."""

    def __init__(self, table: str, file: Path, device: str, versions: Mapping[str, str]) -> None:
        self.table, self.space, self.file = table, SPACES[table], file
        self.device, self.versions = device, versions
        path = packaged_file(self.space.op)
        assert path is not None
        self.path, self.source = path, path.read_bytes()
        self.results = list(read_table(file).results) if file.exists() else []

    def missing(self) -> list[dict[str, object]]:
        """Return the configurations that have no result yet."""
        space = Space.of(self.space.knobs, allowed)
        known = {space.find(one.config) for one in self.results}
        return [space.config(at) for at in range(len(space)) if at not in known]

    @property
    def best_s(self) -> float:
        """Least median so far in seconds."""
        return min((statistics.median(one.times_s) for one in self.results if one.times_s), default=math.inf)

    def add(self, result: TableResult) -> None:
        """Take one more, and save from time to time."""
        self.results.append(result)
        if len(self.results) % _EVERY == 0:
            self.save()

    def save(self) -> None:
        """Write the table."""
        name = f"{self.table}/{self.file.name.removesuffix('.json.gz').removeprefix(f'{self.table}_')}"
        constraints = (CONSTRAINT,) if "BLOCK_M" in self.space.knobs else ()
        table = ResultTable(name, self.device, tuple(self.results), constraints, self.versions)
        self.file.write_bytes(gzip.compress(json.dumps(table.to_t4()).encode(), mtime=0))


def measured(
    one: Asked, made: Made, judging: Judging, reference: Path, best_s: float, ends_at: float, limits: Limits
) -> TableResult | None:
    """Return the result of a record, or None when the time is over.

    A configuration gets a few launches, and more when they come near the best so far.
    """
    why = str(made.error) if made.record is None else made.record.not_replayable or unfit_result(made.record)
    if why:
        return TableResult(one.config, (), f"compile: {_PATHS.sub('', why.splitlines()[0])[:120]}")
    facts = facts_of(made, limits)
    times_s: tuple[float, ...] = ()
    for launches in (_FIRST, _MORE):
        try:
            (found,) = judging.time([made.folder], reference, launches, ends_at, again=True)
        except TimeoutError:
            return None
        if found.problem:
            return TableResult(one.config, (), f"runtime: {found.problem[:120]}", facts)
        times_s += found.times_s
        if statistics.median(times_s) > _NEAR * best_s:
            break
    return TableResult(one.config, times_s, "", facts)


def facts_of(made: Made, limits: Limits) -> dict[str, float]:
    """Return the static facts of a record as numbers by name."""
    found = launch_facts(*stored(made.folder), limits)
    if found is None:
        return {}
    names = ("registers", "stack_bytes", "shared_bytes", "blocks_per_sm", "occupancy_pct", "blocks")
    return {name: float(getattr(found, name)) for name in names}


def record(recordings: Sequence[Recording], shelf: Shelf, judging: Judging, limits: Limits, ends_at: float) -> None:
    """Time what the tables lack, one after the other, while the makers are at what comes next."""
    by_asked = {(one.source, one.space.shape): one for one in recordings}

    def wanted() -> Iterator[Asked]:
        for one in recordings:
            shape, dtype = one.space.shape, one.space.dtype
            yield from (Asked(one.source, shape, dtype, config, b"") for config in one.missing())

    held: dict[str, list[tuple[Asked, Made]]] = {one.table: [] for one in recordings}
    left = {one.table: len(one.missing()) for one in recordings}
    stream = shelf.stream(wanted(), 3 * shelf.ahead, lambda: time.monotonic() >= ends_at)
    for recording in recordings:
        begin = time.monotonic()
        while left[recording.table]:
            if not held[recording.table]:
                pair = next(stream, None)
                if pair is None:
                    break
                held[by_asked[pair[0].source, pair[0].shape].table].append(pair)
                continue
            one, made = held[recording.table].pop(0)
            result = measured(one, made, judging, recording.path, recording.best_s, ends_at, limits)
            if result is None:
                break
            left[recording.table] -= 1
            recording.add(result)
        recording.save()
        print(
            f"{recording.table}: {len(recording.results)} results, {len(recording.missing())} missing, "
            f"best {recording.best_s * 1e6:.1f} us, {time.monotonic() - begin:.1f} s",
            flush=True,
        )


def main() -> int:
    """Record all, or one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--table", choices=sorted(SPACES), action="append")
    parser.add_argument("--budget-s", type=float, default=600.0)
    parser.add_argument("--platform", default="")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    ends_at, judging = time.monotonic() + args.budget_s, DeviceJudging()
    try:
        machine = judging.machine()
    except MissingTool as error:
        print(error)
        return int(error.exit_code)
    import triton

    platform = args.platform or ("H200_SXM" if "H200" in machine.name else "H100_SXM")
    found, versions = Registry.open().platform(platform), {"driver": machine.driver, "triton": triton.__version__}
    with tempfile.TemporaryDirectory(prefix="kb-table-") as folder, Makers(wall_s=_COMPILE_S) as makers:
        makers.warm()
        target = RecordTarget(found.identity.target, platform, device_facts(found))
        shelf = Shelf(Path(folder), makers, target, most=2000)
        recordings = [
            Recording(name, args.out / f"{name}_{platform}.json.gz", machine.name, versions)
            for name in args.table or sorted(SPACES)
        ]
        record(recordings, shelf, judging, limits_of(found), ends_at)
        shelf.close()
        judging.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
