"""Knobs of tile kernels: ranges by version and target, how many configurations a search has, what can't fit."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from kopt_kb.analysis.frameworks import dotted_name
from kopt_kb.packs.cutile.source.findings import TileFinding, TileTarget
from kopt_kb.packs.cutile.source.source import CuTileFile, TileCall, keyword_of
from kopt_kb.packs.cutile.source.spaces import is_tile

__all__ = ["HINTS", "MOST_CONFIGURATIONS", "configurations", "knob_findings"]

_KERNEL = "cuda-tile 1.7.0, cuda/tile/_execution.py and _compiler_options.py"
_SEEN = "compiled with tileiras 13.4.92"
_SKILL = "TileGym 75a14307, skills/tilegym-cutile-autotuning"
HINTS: Mapping[str, tuple[int, int, bool]] = {
    "occupancy": (1, 32, False),
    "num_ctas": (1, 16, True),
    "opt_level": (0, 3, False),
    "num_worker_warps": (1, 32, True),
}
"""Hint of a kernel → least and largest value, and whether it is a power of two."""

_LATENCY = (1, 10)
_PLAIN_WARPS = (4, 8)
_WARPS_SINCE, _ALL_WARPS_SINCE = (13, 3), (13, 5)
_CLUSTERS_SINCE, _FEW_CLUSTERS = 90, 120
_TENSOR_MEMORY = range(100, 120)
"""Targets whose accumulators lie in tensor memory."""

MOST_CONFIGURATIONS = 30
"""Above that a search runs into its time limit, by the autotuning notes."""

_MOST_COMBINATIONS = 4096
_ACCUMULATOR_BYTES = 4
_FOREIGN = {"num_warps", "num_stages", "waves_per_eu"}


def knob_findings(file: CuTileFile, target: TileTarget) -> Iterator[TileFinding]:
    """Yield what is wrong with hints, tiles and searches of a file."""
    for line, name, values in _hints(file, target):
        for value in values:
            yield from _hint(name, value, line, target)
    for call in file.calls("load", "store", "gather", "scatter"):
        yield from _access(call)
    yield from _space(file)
    yield from _fits(file, target)


def _hints(file: CuTileFile, target: TileTarget) -> Iterator[tuple[int, str, list[object]]]:
    """Yield line, name and values of hints: of decorators, of replace_hints, of TUNING_SPACE."""
    calls = [one for kernel in file.kernels for one in kernel.decorator_list if isinstance(one, ast.Call)]
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "replace_hints":
            calls += [node]
    for call in calls:
        for one in call.keywords:
            if one.arg is not None:
                yield one.value.lineno, one.arg, _values(file, one.value, target)
    line = next((one.lineno for one in file.tree.body if _is_space(one)), 0)
    for name, values in file.space.items():
        if name in HINTS or name in _FOREIGN:
            yield line, name, list(values)


def _values(file: CuTileFile, node: ast.expr, target: TileTarget) -> list[object]:
    """Return the literal values of a hint: a number, or what ByTarget gives for the target, all without one."""
    if isinstance(node, ast.Constant):
        return [node.value]
    if not isinstance(node, ast.Call) or dotted_name(node.func, file.names) != "cuda.tile.ByTarget":
        return []
    given = {one.arg: one.value.value for one in node.keywords if isinstance(one.value, ast.Constant)}
    if target.name:
        chosen = given.get(target.name, given.get("default"))
        return [] if chosen is None else [chosen]
    return list(given.values())


def _hint(name: str, value: object, line: int, target: TileTarget) -> Iterator[TileFinding]:
    if name not in HINTS:
        fix = "hints are " + ", ".join(HINTS)
        yield TileFinding("hint", "error", line, f"cuTile has no {name}", fix, "cuda-tile 1.0 to 1.7", _KERNEL)
        return
    least, most, power = HINTS[name]
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        what = f"{name}={value!r} is outside {least} to {most}"
        yield TileFinding(
            "hint", "error", line, what, f"give a whole number of {least} to {most}", "1.0 to 1.7", _KERNEL
        )
    elif power and value & (value - 1):
        what = f"{name}={value} is no power of two"
        yield TileFinding("hint", "error", line, what, "give a power of two", "cuda-tile 1.0 to 1.7", _KERNEL)
    elif name == "num_worker_warps":
        yield from _worker_warps(value, line, target)
    elif name == "num_ctas" and value > 1:
        yield from _clusters(value, line, target)


def _worker_warps(value: int, line: int, target: TileTarget) -> Iterator[TileFinding]:
    if target.tileiras < _WARPS_SINCE:
        what = f"num_worker_warps={value} is ignored before tileiras 13.3"
        yield TileFinding("hint", "warning", line, what, "install a newer tileiras", "tileiras before 13.3", _KERNEL)
    elif value not in _PLAIN_WARPS and target.tileiras < _ALL_WARPS_SINCE:
        what = f"num_worker_warps={value} does not compile before tileiras 13.5"
        fix = "give 4 or 8, or install tileiras 13.5"
        yield TileFinding("hint", "error", line, what, fix, "tileiras before 13.5", f"{_KERNEL}; {_SEEN}")


def _clusters(value: int, line: int, target: TileTarget) -> Iterator[TileFinding]:
    if 0 < target.capability < _CLUSTERS_SINCE:
        what = f"num_ctas={value} changes nothing on {target.name}: there are no clusters before sm_90"
        fix = "leave it out of the search there: ct.ByTarget"
        yield TileFinding("clusters", "warning", line, what, fix, "tileiras 13.4", f"{_SEEN}: the same code as with 1")
    elif target.capability >= _FEW_CLUSTERS:
        what = f"num_ctas={value} makes clusters on {target.name}, where TileGym found no gain"
        yield TileFinding("clusters", "note", line, what, "search 1 first", "tileiras 13.4", f"{_SEEN}; {_SKILL}")


def _access(call: TileCall) -> Iterator[TileFinding]:
    latency, tma = keyword_of(call.call, "latency"), keyword_of(call.call, "allow_tma")
    if isinstance(latency, ast.Constant) and latency.value is not None:
        value, (least, most) = latency.value, _LATENCY
        if not isinstance(value, int) or not least <= value <= most:
            what = f"latency={value!r} of {call.name} is outside {least} to {most}"
            source = f"cuTile documentation, Performance Tuning; {_SEEN}"
            yield TileFinding("latency", "error", call.line, what, f"give {least} to {most}", "1.0 to 1.7", source)
    if isinstance(tma, ast.Constant) and not isinstance(tma.value, bool | None):
        what = f"allow_tma={tma.value!r} of {call.name} is no truth value"
        yield TileFinding("tma", "error", call.line, what, "give True or False", "1.0 to 1.7", _KERNEL)
    for axis, extent in enumerate(_shape(call)):
        if isinstance(extent, ast.Constant) and not _power(extent.value):
            what = f"extent {axis} of the tile of {call.name} is {extent.value!r}, no power of two"
            yield TileFinding("tile", "error", call.line, what, "pad it to a power of two", "1.0 to 1.7", _SEEN)


def _space(file: CuTileFile) -> Iterator[TileFinding]:
    line = next((one.lineno for one in file.tree.body if _is_space(one)), 0)
    for name, values in file.space.items():
        odd = [one for one in values if is_tile(name) and not _power(one)]
        if odd:
            what = f"{name} of TUNING_SPACE has {', '.join(map(str, odd))}, no powers of two"
            yield TileFinding("tile", "error", line, what, "extents of tiles are powers of two", "1.0 to 1.7", _SEEN)
    count = math.prod(map(len, file.space.values())) if file.space else 0
    if count > MOST_CONFIGURATIONS:
        what = f"TUNING_SPACE has {count} configurations, more than {MOST_CONFIGURATIONS}"
        fix = "each compiles in 0.5 s and more: leave out what no target of yours takes, or bound the search"
        yield TileFinding("search", "warning", line, what, fix, "any", f"{_SKILL}/references/pitfalls.md")
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and dotted_name(node.func, file.names).endswith("exhaustive_search"):
            yield from _search(node)


def _search(call: ast.Call) -> Iterator[TileFinding]:
    space = call.args[0] if call.args else keyword_of(call, "search_space")
    if isinstance(space, ast.GeneratorExp):
        what, fix = "the search space is a generator, which has no length", "give a list"
        yield TileFinding(
            "search", "error", call.lineno, what, fix, "1.3 to 1.7", "cuda-tile 1.7.0, cuda/tile/tune/_tune.py"
        )
    if isinstance(space, ast.List) and len(space.elts) > MOST_CONFIGURATIONS:
        what = f"the search has {len(space.elts)} configurations, more than {MOST_CONFIGURATIONS}"
        yield TileFinding(
            "search", "warning", call.lineno, what, "leave some out", "any", f"{_SKILL}/references/pitfalls.md"
        )


def configurations(file: CuTileFile) -> Iterator[dict[str, object]]:
    """Yield the configurations of TUNING_SPACE, the first few thousand."""
    names = list(file.space)
    for values in itertools.islice(itertools.product(*file.space.values()), _MOST_COMBINATIONS):
        yield dict(zip(names, values, strict=True))


def _fits(file: CuTileFile, target: TileTarget) -> Iterator[TileFinding]:
    """Yield what no configuration, or not all, can hold: one stage of operands, an accumulator in registers."""
    for kernel in file.kernels:
        places = [one for one in file.places if one.function is kernel or one.function in file.helpers]
        operands = [one for one in places if one.name == "load" and _in_loop(one.function, one.call)]
        sums = [one for one in places if one.name in {"zeros", "full"}]
        if not any(one.name in {"mma", "matmul"} for one in places):
            continue
        yield from _held(file, operands, target.item_bytes, target.shared_bytes, "shared memory of a block", kernel)
        if target.capability not in _TENSOR_MEMORY:
            yield from _held(file, sums, _ACCUMULATOR_BYTES, target.register_bytes, "registers of an SM", kernel)


def _held(
    file: CuTileFile, calls: Sequence[TileCall], item: int, most: int | None, what: str, kernel: ast.FunctionDef
) -> Iterator[TileFinding]:
    if most is None or not calls:
        return
    all_of, sizes = 0, []
    for values in configurations(file) if file.space else [{}]:
        found = [_elements(one, values) for one in calls]
        known = [one for one in found if one is not None]
        all_of += 1
        if len(known) == len(found) and sum(known) * item > most:
            sizes.append((sum(known) * item, values))
    if sizes:
        size, values = max(sizes, key=lambda one: one[0])
        named = ", ".join(f"{name}={value}" for name, value in values.items() if is_tile(name)) or "its literal tiles"
        share = f"{len(sizes)} of {all_of} configurations of {kernel.name}"
        text = f"{share} need more than the {most} B of {what}: {size} B with {named}"
        level = "error" if len(sizes) == all_of else "warning"
        yield TileFinding("fits", level, kernel.lineno, text, "smaller tiles", "any", "limits of the wiki; one stage")  # type: ignore[arg-type]


def _elements(call: TileCall, values: Mapping[str, object]) -> int | None:
    """Return the elements of a tile; None where an extent is not known."""
    total = 1
    for extent in _shape(call):
        held: object = extent.value if isinstance(extent, ast.Constant) else None
        if isinstance(extent, ast.Name):
            held = values.get(extent.id)
        if not isinstance(held, int):
            return None
        total *= held
    return total


def _shape(call: TileCall) -> list[ast.expr]:
    place = {"load": 2, "zeros": 0, "full": 0, "ones": 0}.get(call.name)
    given = keyword_of(call.call, "shape")
    if given is None and place is not None and len(call.call.args) > place:
        given = call.call.args[place]
    return list(given.elts) if isinstance(given, ast.Tuple) else []


def _in_loop(kernel: ast.FunctionDef, call: ast.Call) -> bool:
    loops = [one for one in ast.walk(kernel) if isinstance(one, ast.For | ast.While)]
    return any(call is inner for loop in loops for inner in ast.walk(loop))


def _is_space(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "TUNING_SPACE" for target in node.targets
    )


def _power(value: object) -> bool:
    return isinstance(value, int) and value > 0 and value & (value - 1) == 0
