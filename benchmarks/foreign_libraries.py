"""Kernels of other libraries as published: which files import, which launches are recorded, compiled, counted, judged.

    python benchmarks/foreign_libraries.py benchmarks/foreign_libraries.txt --sources DIR --out FILE [--deps DIR ...]

The list names each library with the commit that was tried, the folder below DIR that Python imports from, the folder
of its kernels, and one call a line: `module:function NAME=VALUE ...`, as `kb record --call` and `--arg` take them, or
`script FILE ...`, as `kb record --` takes it. Nothing of the libraries is part of this project, no file is edited.

A launch is one kernel with one set of arguments. Per target it counts as recorded, compiled (a static profile that fits
the product), counted (operations and bytes known, exactly or as bounds) and rooflined. A call that yields no record
counts as one launch that failed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PRODUCTS = {"sm_90": "H100_SXM", "sm_100": "B200", "gfx942": "MI300X", "gfx950": "MI355X"}
_IMPORT_S = 180


@dataclass
class Library:
    """One library of the list."""

    name: str
    commit: str
    root: str
    kernels: str
    calls: list[list[str]] = field(default_factory=list)


def libraries(text: str) -> list[Library]:
    """Return the libraries of a list: `[name commit root folder-of-kernels]`, then calls."""
    found: list[Library] = []
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0].startswith("["):
            name, commit, root, kernels = " ".join(words).strip("[]").split()
            found.append(Library(name, commit, root, kernels))
        elif words:
            found[-1].calls.append(words)
    return found


def jit_names(path: Path) -> set[str]:
    """Return the functions of a file that a decorator of Triton or Gluon makes a kernel."""
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:
        return set()
    kernels = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            texts = [ast.unparse(one).partition("(")[0] for one in node.decorator_list]
            if any(text in {"triton.jit", "jit", "gluon.jit", "tl.jit"} for text in texts):
                kernels.add(node.name)
    return kernels


def imported(path: Path, facts: dict[str, int]) -> str:
    """Return `ok`, or why a file with all its kernels can't be imported in a fresh process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.write(writing, _import_here(path, facts).encode()[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        text = said.read().decode(errors="replace")
    os.waitpid(child, 0)
    return text or "the process ended without an answer"


def _import_here(path: Path, facts: dict[str, int]) -> str:
    import signal

    from kopt_kb.launch.compile.device import DeviceFacts, standing_in
    from kopt_kb.launch.compile.importing import load_published
    from kopt_kb.launch.compile.loader import jit_functions
    from kopt_kb.launch.compile.stub import activate
    from kopt_kb.launch.compile.target import CompileTarget

    signal.alarm(_IMPORT_S)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    device = DeviceFacts("H100_SXM", "sm_90", facts)
    try:
        activate(CompileTarget.parse("sm_90"), device)
        with standing_in(device):
            found = load_published(str(path))
        lost = jit_names(path) - set(jit_functions(found.module))
        return f"lost {', '.join(sorted(lost))}: {found.skipped}" if lost and found.skipped else "ok"
    except BaseException as error:  # noqa: BLE001 - whatever a file of somebody does
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def census(library: Library, sources: Path, facts: dict[str, int], every: int) -> Iterator[tuple[Path, str]]:
    """Yield each file of a library that has kernels, and whether it imports."""
    folder = sources / library.kernels
    files = sorted(path for path in folder.rglob("*.py") if jit_names(path))
    for path in files[::every]:
        yield path.relative_to(sources), imported(path, facts)


@dataclass
class Tally:
    """Launches of a call for one target."""

    recorded: int = 0
    compiled: int = 0
    counted: int = 0
    exact: int = 0
    rooflined: int = 0
    failed: int = 0
    why: list[str] = field(default_factory=list)


def tried(made, platform, *, record_only: bool = False) -> Tally:  # type: ignore[no-untyped-def]
    """Return what becomes of a record's launches."""
    from kopt_kb.base.errors import KoptError
    from kopt_kb.launch.counts.counting import count_compilation, work_of
    from kopt_kb.launch.counts.kernel_roofline import Launched, rooflines_of
    from kopt_kb.launch.counts.limits import limits_of
    from kopt_kb.launch.counts.static_profile import check_shared_memory, profile_of
    from kopt_kb.launch.judge.recorded import recorded
    from kopt_kb.problem.work import Work

    if made.record is None:
        return Tally(failed=1, why=[f"record: {made.error}"])
    tally = Tally()
    for one in recorded(made.folder, disassemble=not record_only):
        tally.recorded += 1
        if record_only:
            continue
        steps = {
            "compiled": lambda one=one: check_shared_memory([profile_of(one)], limits_of(platform)),
            "counted": lambda one=one: work_of(count_compilation(one), "fp32"),
            "rooflined": lambda one=one: rooflines_of([Launched(one)], platform),
        }
        for name, step in steps.items():
            try:
                found = step()
            except KoptError as error:
                tally.why.append(f"{name} {one.name}: {error}")
            else:
                setattr(tally, name, getattr(tally, name) + 1)
                tally.exact += (
                    isinstance(found, Work)
                    and all(part.useful.exactness == "exact" for part in found.flops)
                    and all(part.compulsory.exactness == "exact" for part in found.bytes)
                )
    return tally


def request_of(words: list[str], platform, folder: Path):  # type: ignore[no-untyped-def]
    """Return what a maker is asked for a line of the list."""
    from kopt_kb.cli.launch.record import call_request, script_request
    from kopt_kb.launch.counts.device_facts import device_facts
    from kopt_kb.launch.record.request import MakerRequest

    what = script_request([*words[1:]], folder) if words[0] == "script" else call_request(words[0], words[1:])
    identity = platform.identity
    return MakerRequest(what, identity.target, identity.platform, device_facts(platform), "", statics=True)


def main() -> int:
    """Write one line a file and call, and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("list", metavar="FILE", help="libraries and calls")
    parser.add_argument("--sources", metavar="DIR", required=True, type=Path, help="folder of the checkouts")
    parser.add_argument("--deps", metavar="DIR", action="append", default=[], help="packages that the libraries import")
    parser.add_argument("--targets", metavar="A,B", default=",".join(PRODUCTS), help="targets (default all four)")
    parser.add_argument("--only", metavar="TEXT", default="", help="libraries and calls whose line contains the text")
    parser.add_argument("--every", metavar="N", type=int, default=1, help="import every Nth file only")
    parser.add_argument("--no-import", action="store_true", help="leave the import of files out")
    parser.add_argument("--no-record", action="store_true", help="leave the launches out")
    parser.add_argument("--record-only", action="store_true", help="neither count nor profile what was recorded")
    parser.add_argument("--out", metavar="FILE", type=Path, help="results as JSON lines, one written as it is known")
    args = parser.parse_args()
    listed = libraries(Path(args.list).read_text(encoding="utf-8"))
    paths = [str((args.sources / one.root).resolve()) for one in listed] + [
        str(Path(one).resolve()) for one in args.deps
    ]
    sys.path[1:1] = paths
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    with (args.out or Path(os.devnull)).open("w", encoding="utf-8") as out:
        if not args.no_import:
            _imports(listed, args, out)
        if not args.no_record:
            _records(listed, args, out)
    return 0


def _imports(listed: list[Library], args: argparse.Namespace, out) -> None:  # type: ignore[no-untyped-def]
    import torch  # noqa: F401 - a fork of a process that has it starts at once
    import triton.language
    import triton.testing  # noqa: F401

    from kopt_kb.launch.counts.device_facts import device_facts
    from kopt_kb.wiki.registry import Registry

    facts = device_facts(Registry.open().platform("H100_SXM"))
    for library in listed:
        kinds: Counter[bool] = Counter()
        for path, said in census(library, args.sources, facts, args.every):
            if args.only in str(path):
                kinds[said == "ok"] += 1
                print(json.dumps({"library": library.name, "file": str(path), "import": said}), file=out, flush=True)
        print(f"{library.name} {library.commit}: {kinds[True]} of {kinds.total()} files import", flush=True)


def _records(listed: list[Library], args: argparse.Namespace, out) -> None:  # type: ignore[no-untyped-def]
    from kopt_kb.base.errors import KoptError
    from kopt_kb.launch.judge.makers import Made, Makers
    from kopt_kb.wiki.registry import Registry

    registry = Registry.open()
    totals: dict[tuple[str, str], Counter[str]] = {}
    with Makers(1) as makers, tempfile.TemporaryDirectory(prefix="foreign-") as scratch:
        for library in listed:
            for number, words in enumerate(library.calls):
                line = shlex.join(words)
                if args.only not in f"{library.name} {line}":
                    continue
                for target in args.targets.split(","):
                    begin, platform = time.monotonic(), registry.platform(PRODUCTS[target])
                    folder = Path(scratch) / f"{library.name}-{number}-{target}"
                    try:
                        request = request_of(words, platform, args.sources / library.root)
                        made = makers.make(request, folder)
                    except KoptError as error:
                        made = Made(folder, None, error)
                    tally = tried(made, platform, record_only=args.record_only)
                    sums = totals.setdefault((library.name, target), Counter())
                    for name in ("recorded", "compiled", "counted", "exact", "rooflined", "failed"):
                        sums[name] += getattr(tally, name)
                    seconds = round(time.monotonic() - begin, 2)
                    said = {"library": library.name, "target": target, "call": line, "seconds": seconds}
                    print(json.dumps({**said, **vars(tally)}), file=out, flush=True)
    for (name, target), sums in totals.items():
        whole = sums["recorded"] + sums["failed"]
        cells = ", ".join(f"{key} {sums[key]}" for key in ("recorded", "compiled", "counted", "exact", "rooflined"))
        print(f"{name} {target}: {whole} launches, {cells}")


if __name__ == "__main__":
    sys.exit(main())
