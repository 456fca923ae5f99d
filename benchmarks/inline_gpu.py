"""The decorator and the pytest fixtures on a machine with a GPU and ncu: what they say of two torch functions.

python benchmarks/inline_gpu.py --out DIR --platform H100_SXM --budget-s 300

DIR/found.json gets, as each is done: the verdict of a scaled copy and of a matrix product under ncu
(`kopt_kb.profiled`), what is said of a plain copy, and the share of the roof that the fixture's clock sees for torch's
RMS norm. Only the annotated part of each function counts: expected on an H100 is one kernel each, dram for the scaled
copy and tensor for the product, none that makes random numbers, and for the plain copy that it launched no kernel.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import kopt_kb

ROWS, COLUMNS, EDGE = 8192, 4096, 4096


@kopt_kb.profiled
def scaled(rows: int) -> None:
    """Read a matrix once and write it once, by a kernel."""
    import torch

    x = torch.randn(rows, COLUMNS, device="cuda", dtype=torch.bfloat16)
    out = torch.empty_like(x)
    with kopt_kb.annotate("scaled"):
        torch.mul(x, 2, out=out)


@kopt_kb.profiled
def copy(rows: int) -> None:
    """Read and write a matrix once, by the copy engine: no kernel."""
    import torch

    x = torch.randn(rows, COLUMNS, device="cuda", dtype=torch.bfloat16)
    out = torch.empty_like(x)
    with kopt_kb.annotate("copy"):
        out.copy_(x)


@kopt_kb.profiled
def product(edge: int) -> None:
    """Multiply two square matrices."""
    import torch

    a, b = (torch.randn(edge, edge, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    with kopt_kb.annotate("product"):
        a @ b


def share(platform: str) -> dict[str, Any]:
    """Return the share of the roof that torch's RMS norm reaches by the fixture's clock."""
    import torch

    from kopt_kb.base.errors import KoptError
    from kopt_kb.packs.inline.shares import roof_share, seconds_of

    x = torch.randn(ROWS, COLUMNS, device="cuda", dtype=torch.bfloat16)
    weight = torch.ones(COLUMNS, device="cuda", dtype=torch.bfloat16)
    seconds = seconds_of(lambda: torch.nn.functional.rms_norm(x, (COLUMNS,), weight))
    work: dict[str, Any] = {"platform": platform, "op": "rms_norm", "shape": (ROWS, COLUMNS), "dtype": "bf16"}
    try:
        return {"seconds": seconds, "share": roof_share(seconds, share=0.01, **work)}
    except KoptError as error:
        return {"seconds": seconds, "error": str(error)}


def profiled(function: Any, size: int) -> dict[str, Any]:
    """Return kernels and limiters of a decorated function, or why there are none."""
    from kopt_kb.base.errors import KoptError

    begin = time.monotonic()
    try:
        found = function(size)
    except KoptError as error:
        return {"error": str(error), "wall_s": time.monotonic() - begin}
    kernels = [
        {"name": one.profile.name, "limiter": one.verdict.limiter, "duration_s": one.profile.get("duration_s")}
        for one in found.kernels
    ]
    return {"limiter": found.limiter, "kernels": kernels, "wall_s": time.monotonic() - begin}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--platform", required=True)
    parser.add_argument("--budget-s", type=float, default=300.0)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    ends_at, found = time.monotonic() + args.budget_s, {}
    for name, call in (
        ("scaled", lambda: profiled(scaled, ROWS)),
        ("product", lambda: profiled(product, EDGE)),
        ("copy", lambda: profiled(copy, ROWS)),
        ("share", lambda: share(args.platform)),
    ):
        if time.monotonic() > ends_at:
            break
        try:
            found[name] = call()
        except Exception as error:  # noqa: BLE001 - the rest is wanted all the same
            found[name] = {"error": f"{type(error).__name__}: {error}"}
        (args.out / "found.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
