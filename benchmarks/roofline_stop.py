"""What a stop at the roof saves and costs: Kernel Tuner's own searches, in its simulation mode on a cache file.

    python benchmarks/roofline_stop.py CACHE.json.gz --flops 7549747200 --platform A100_SXM_40GB --shares 0.5,0.6,0.65

The floor is FLOPS over the wiki's documented vector rate of `--dtype`. Each line is a share of the roof: configurations
tried and not tried of a whole search and of a random one of 400, and the best found over the best there is. Kernel
Tuner has to be installed.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import random
import statistics
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kopt_kb.launch.search.stop import RooflineStop, in_kernel_tuner  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402

MOST = 400


def simulated(cache: Path, document: dict, stop: RooflineStop, strategy: str, seed: int) -> RooflineStop:
    """Run a strategy over the file, with the stop."""
    import kernel_tuner

    random.seed(seed)
    known = {tuple(one[name] for name in document["tune_params_keys"]) for one in document["cache"].values()}
    names = document["tune_params_keys"]

    def allowed(one: dict) -> bool:
        return tuple(one[name] for name in names) in known

    with in_kernel_tuner(stop) as metrics, contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel_tuner.tune_kernel(
            document["kernel_name"], "__global__ void kernel() {}", tuple(document["problem_size"]), [],
            document["tune_params"], restrictions=allowed, cache=str(cache), metrics=metrics,
            simulation_mode=True, strategy=strategy, quiet=True,
            strategy_options={} if strategy == "brute_force" else {"max_fevals": MOST},
        )  # fmt: skip
    return stop


def main() -> int:
    """Print one line a share."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--flops", type=float, required=True, help="of the work, counted from below")
    parser.add_argument("--platform", required=True)
    parser.add_argument("--dtype", default="fp32")
    parser.add_argument("--shares", default="0.5,0.6,0.65,0.7,0.9")
    parser.add_argument("--seeds", type=int, default=20)
    args = parser.parse_args()
    document = json.loads(gzip.decompress(args.cache.read_bytes()))
    times_s = [one["time"] * 1e-3 for one in document["cache"].values() if isinstance(one["time"], float)]
    rate = (
        Registry.open()
        .platform(args.platform)
        .require(f"peak_compute[dtype={args.dtype};engine=vector;sparsity=dense]")
    )
    floor_s = args.flops / float(rate.value_si)
    print(f"floor {floor_s * 1e6:.0f} us ({', '.join(map(str, rate.citations()))}); best {min(times_s) * 1e6:.0f} us,")
    print(f"{100 * floor_s / min(times_s):.1f} % of the roof, of {len(document['cache'])} configurations")
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache.json"
        cache.write_text(json.dumps(document))
        for share in map(float, args.shares.split(",")):
            whole = simulated(cache, document, RooflineStop(floor_s, share), "brute_force", 0)
            some = [
                simulated(cache, document, RooflineStop(floor_s, share), "random_sample", seed)
                for seed in range(args.seeds)
            ]
            tried = statistics.median(one.tried for one in some)
            lost = statistics.median(one.best_s for one in some) / min(times_s)
            print(
                f"{share:.2f}: brute force {whole.tried} tried, {whole.skipped} not, {whole.best_s / min(times_s):.3f} "
                f"of the best; random of {MOST}: median of {len(some)} seeds {tried:.0f} tried, {lost:.3f}, "
                f"{sum(one.reached for one in some)} stopped"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
