"""How many recorded launches are bound to their source: of the packaged kernels, and of other libraries as published.

    python benchmarks/records_bound.py benchmarks/foreign_libraries.txt --sources DIR [--deps DIR ...] [--out FILE]

The list and the folders are those of foreign_libraries.py. A launch is one kernel with one set of arguments; it is
bound where its code object, made again from the source's text, is the recorded one but for lines and debug sections.
A call that yields no record is left out of the share and named. Without a list only the packaged kernels are tried.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

PRODUCT, TARGET = "H100_SXM", "sm_90"
PACKAGED = {
    "attention": "2x16x1024x64", "copy": "4096x4096", "cross_entropy": "1024x4096", "elementwise": "4096x4096",
    "fp8_gemm": "1024x1024x1024", "layer_norm": "1024x4096", "matmul": "1024x1024x1024", "reduction": "1024x4096",
    "rms_norm": "1024x4096", "softmax": "1024x4096", "swiglu": "1024x4096", "naive/attention": "2x16x1024x64",
    "naive/matmul": "1024x1024x1024", "naive/rms_norm": "1024x4096", "naive/softmax": "1024x4096",
    "cuda/rms_norm": "1024x4096", "cuda/softmax": "1024x4096",
}  # fmt: skip
"""Packaged kernel → the shape that it is tried on."""


def packaged() -> Iterator[tuple[str, str, object, tuple[str, ...]]]:
    """Yield library, words, request and folders of its files for each packaged kernel."""
    import kopt_kb.kernels
    from kopt_kb.launch.record.request import OpRequest
    from kopt_kb.problem.shapes import parse_shape

    folder = Path(kopt_kb.kernels.__path__[0]).resolve()
    for name, shape in PACKAGED.items():
        file = next(one for one in (folder / f"{name}.py", folder / f"{name}.cu") if one.is_file())
        what = OpRequest(str(file), parse_shape(shape), "fp8" if name == "fp8_gemm" else "bf16")
        yield "packaged", f"{name} {shape}", what, (str(file.parent),)


def foreign(args: argparse.Namespace, platform) -> Iterator[tuple[str, str, object, tuple[str, ...]]]:  # type: ignore[no-untyped-def]
    """Yield the same for each call of the list."""
    from foreign_libraries import libraries, request_of

    listed = libraries(Path(args.list).read_text(encoding="utf-8"))
    roots = tuple(str((args.sources / one.root).resolve()) for one in listed)
    for library in listed:
        own = str((args.sources / library.root).resolve())
        for words in library.calls:
            what = request_of(words, platform, args.sources / library.root).what
            yield library.name, shlex.join(words), what, tuple(dict.fromkeys((own, *roots)))


def outcomes(tried, makers, platform, folder: Path) -> Iterator[dict[str, Any]]:  # type: ignore[no-untyped-def]
    """Yield what became of the launches of a call: of each code object, or that there is none."""
    from kopt_kb.launch.counts.device_facts import device_facts
    from kopt_kb.launch.recompile.binding import Binder, Origin, codes_of
    from kopt_kb.launch.record.request import MakerRequest

    library, line, what, roots = tried
    said = {"library": library, "call": line}
    made = makers.make(MakerRequest(what, TARGET, PRODUCT, device_facts(platform), ""), folder)
    if made.record is None:
        yield {**said, "reason": "not recorded", "detail": str(made.error)[:200]}
        return
    begin = time.monotonic()
    found = Binder().bound(codes_of(folder), Origin(TARGET, roots, PRODUCT, device_facts(platform)))
    seconds = round(time.monotonic() - begin, 2)
    for one in found:
        own = (step for step in made.record.launches if step.code == one.code)
        launches = len({f"{step.grid} {step.arguments}" for step in own})
        reason = one.source.reason or "bound"
        yield {**said, "kernel": one.kernel, "launches": launches, "reason": reason, "detail": one.source.detail,
               "seconds": seconds}  # fmt: skip


def main() -> int:
    """Write one line a launch, and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("list", metavar="FILE", nargs="?", help="libraries and calls")
    parser.add_argument("--sources", metavar="DIR", type=Path, default=Path(), help="folder of the checkouts")
    parser.add_argument("--deps", metavar="DIR", action="append", default=[], help="packages that the libraries import")
    parser.add_argument("--only", metavar="TEXT", default="", help="libraries and calls whose line contains the text")
    parser.add_argument("--out", metavar="FILE", type=Path, help="results as JSON lines, one written as it is known")
    args = parser.parse_args()
    from foreign_libraries import libraries

    from kopt_kb.launch.judge.makers import Makers
    from kopt_kb.wiki.registry import Registry

    listed = libraries(Path(args.list).read_text(encoding="utf-8")) if args.list else []
    paths = [*(str((args.sources / one.root).resolve()) for one in listed), *map(os.path.realpath, args.deps)]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [*paths, os.environ.get("PYTHONPATH", "")]))
    platform = Registry.open().platform(PRODUCT)
    totals: dict[str, Counter[str]] = {}
    out_path = args.out or Path(os.devnull)
    with out_path.open("w", encoding="utf-8") as out, tempfile.TemporaryDirectory() as scratch, Makers(1) as makers:
        tried = [*packaged(), *(foreign(args, platform) if listed else ())]
        for number, one in enumerate(tried):
            if args.only in f"{one[0]} {one[1]}":
                sums = totals.setdefault(one[0], Counter())
                for said in outcomes(one, makers, platform, Path(scratch) / str(number)):
                    sums["launches"] += said.get("launches", 0)
                    sums[said["reason"]] += said.get("launches", 1)
                    print(json.dumps(said), file=out, flush=True)
    for name, sums in totals.items():
        share = 100 * sums["bound"] / max(sums["launches"], 1)
        rest = ", ".join(f"{word} {count}" for word, count in sums.items() if word not in {"launches", "bound"})
        print(
            f"{name}: {sums['bound']} of {sums['launches']} launches bound ({share:.1f} %){'; ' if rest else ''}{rest}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
