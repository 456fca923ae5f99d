"""Launch records of right form that compute something else, made from right ones; the same seed gives the same records.

Each mutation takes a record and its code objects and returns another, or nothing where the record has no such part.
`same` marks those that compute the same by their construction, so that accepting them is right.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kopt_kb.base.wire import canonical
from kopt_kb.launch.cuda.cubin import sections
from kopt_kb.launch.record.model import Fill, Launch, LaunchRecord, NullArg, ScalarArg, TensorAddress, TensorView

__all__ = ["KINDS", "Base", "Mutant", "mutants"]


@dataclass(frozen=True)
class Base:
    """A right record with its code objects by hash, and the file whose reference judges it."""

    name: str
    record: LaunchRecord
    codes: Mapping[str, bytes]
    reference: str


@dataclass(frozen=True)
class Mutant:
    """A changed record: of which base, by which kind of change, what was changed."""

    base: Base
    kind: str
    what: str
    record: LaunchRecord
    codes: Mapping[str, bytes]
    same: bool = False

    @property
    def key(self) -> str:
        """Hash of the record, whose code objects it names by theirs."""
        return hashlib.sha256(canonical(self.record.to_json())).hexdigest()


_Found = tuple[str, LaunchRecord] | None
_Change = Callable[[Base, random.Random], _Found]


def _launch(base: Base, chance: random.Random) -> tuple[int, Launch]:
    return chance.choice([(at, one) for at, one in enumerate(base.record.steps) if isinstance(one, Launch)])


def _with(record: LaunchRecord, at: int, step: Any) -> LaunchRecord:
    return replace(record, steps=(*record.steps[:at], step, *record.steps[at + 1 :]))


def _arg(base: Base, chance: random.Random, kind: type, fit: Callable[[Any], bool] = lambda _: True) -> Any:
    """Return place of a launch, the launch, place of an argument, and the argument; None where there is none."""
    at, launch = _launch(base, chance)
    places = [(n, one) for n, one in enumerate(launch.arguments) if isinstance(one, kind) and fit(one)]
    return (at, launch, *chance.choice(places)) if places else None


def _put(base: Base, found: Any, argument: Any, what: str) -> _Found:
    at, launch, place, _ = found
    arguments = (*launch.arguments[:place], argument, *launch.arguments[place + 1 :])
    return what, _with(base.record, at, replace(launch, arguments=arguments))


def _buffer_of(base: Base, role: str) -> list[str]:
    return [one.name for one in base.record.buffers if one.role == role]


def _swapped_pointers(base: Base, chance: random.Random) -> _Found:
    at, launch = _launch(base, chance)
    places = [n for n, one in enumerate(launch.arguments) if isinstance(one, TensorAddress)]
    if len(places) < 2:
        return None
    one, two = chance.sample(places, 2)
    arguments = list(launch.arguments)
    arguments[one], arguments[two] = arguments[two], arguments[one]
    return f"arguments {one} and {two} swapped", _with(base.record, at, replace(launch, arguments=tuple(arguments)))


def _shifted_pointer(base: Base, chance: random.Random) -> _Found:
    found = _arg(base, chance, TensorAddress)
    if found is None:
        return None
    view, by = found[3].view, chance.choice([1, 2, 3, 5, 8, 16, 64, 128])
    moved = TensorView(view.buffer, view.offset + by, (1,), (1,), view.dtype)
    return _put(base, found, replace(found[3], view=moved), f"argument {found[2]} points {by} elements on")


def _null(base: Base, chance: random.Random) -> _Found:
    found = _arg(base, chance, TensorAddress)
    return None if found is None else _put(base, found, NullArg(found[3].name), f"argument {found[2]} is null")


def _integer(base: Base, chance: random.Random) -> _Found:
    found = _arg(base, chance, ScalarArg, lambda one: isinstance(one.value, int) and one.type[0] in "iu")
    if found is None:
        return None
    value = found[3].value
    other = chance.choice([value - 1, value + 1, value // 2, value * 2, 0, 1, value - 16, value + 32, value ^ 64])
    if other == value or other < 0:
        return None
    return _put(base, found, replace(found[3], value=other), f"integer {found[2]} is {other}, not {value}")


def _float(base: Base, chance: random.Random) -> _Found:
    found = _arg(base, chance, ScalarArg, lambda one: isinstance(one.value, float))
    if found is None:
        return None
    other = chance.choice([0.5, 1.0, 10.0, -1.0, 1e6, "inf", "nan"])
    return _put(base, found, replace(found[3], value=other), f"number {found[2]} is {other}, not {found[3].value}")


def _dropped_argument(base: Base, chance: random.Random) -> _Found:
    at, launch = _launch(base, chance)
    if len(launch.arguments) < 2:
        return None
    keep = launch.arguments[:-1] if chance.random() < 0.5 else launch.arguments[1:]
    return "an argument is left out", _with(base.record, at, replace(launch, arguments=keep))


def _onto(base: Base, chance: random.Random, source: str, target: str, what: str) -> _Found:
    own, others = _buffer_of(base, source), _buffer_of(base, target)
    found = _arg(base, chance, TensorAddress, lambda one: one.view.buffer in own)
    if found is None:
        return None
    others = [name for name in others if name != found[3].view.buffer]
    if not others:
        return None
    other = chance.choice(others)
    view = TensorView(other, chance.choice([0, 0, 16]), (1,), (1,), found[3].view.dtype)
    return _put(base, found, replace(found[3], view=view), f"{what}: argument {found[2]} is {other}")


def _output_on_input(base: Base, chance: random.Random) -> _Found:
    return _onto(base, chance, "output", "input", "the result goes to an input")


def _input_on_output(base: Base, chance: random.Random) -> _Found:
    return _onto(base, chance, "input", "output", "an input is read from the result")


def _input_twice(base: Base, chance: random.Random) -> _Found:
    return _onto(base, chance, "input", "input", "one input stands for two")


def _scratch_on_output(base: Base, chance: random.Random) -> _Found:
    role = chance.choice(["scratch", "zeroed"])
    return _onto(base, chance, role, chance.choice(["output", "input"]), "scratch lies elsewhere")


def _result_elsewhere(base: Base, chance: random.Random) -> _Found:
    record, view = base.record, base.record.outputs[0]
    ways = {
        "the result lies in an input": replace(view, buffer=record.inputs[0].view.buffer),
        "the result begins later": replace(view, offset=view.offset + chance.choice([1, 2, 16])),
        "a row of the result stands for all": replace(view, strides=(0,) * len(view.strides)),
        "the result is read backwards": replace(view, strides=tuple(reversed(view.strides))),
        "the result has fewer elements": replace(view, shape=(*view.shape[:-1], max(view.shape[-1] // 2, 1))),
        "the result has another type": replace(view, dtype=chance.choice(["u8", "fp32", "fp16", "bf16", "i32"])),
    }
    what = chance.choice(sorted(ways))
    return None if ways[what] == view else (what, replace(record, outputs=(ways[what], *record.outputs[1:])))


def _grid(base: Base, chance: random.Random) -> _Found:
    at, launch = _launch(base, chance)
    axis = chance.randrange(3)
    size = launch.grid[axis]
    other = chance.choice([1, size - 1, size // 2, size + 1, size * 2, 3 * size])
    swapped = chance.choice([tuple(reversed(launch.grid)), (launch.grid[1], launch.grid[0], launch.grid[2])])
    changed = tuple(other if n == axis else one for n, one in enumerate(launch.grid))
    grid: Any = swapped if chance.random() < 0.2 else changed
    if grid == launch.grid or min(grid) < 1:
        return None
    return f"grid {grid}, not {launch.grid}", _with(base.record, at, replace(launch, grid=grid))


def _block(base: Base, chance: random.Random) -> _Found:
    at, launch = _launch(base, chance)
    x = launch.block[0]
    block = chance.choice([(x // 2, 1, 1), (x * 2, 1, 1), (1, 1, 1), (1, x, 1), (x - 32, 1, 1), (x, 2, 1), (32, 1, 1)])
    if block == launch.block or min(block) < 1:
        return None
    return f"block {block}, not {launch.block}", _with(base.record, at, replace(launch, block=block))


def _cluster(base: Base, chance: random.Random) -> _Found:
    at, launch = _launch(base, chance)
    cluster = chance.choice([(2, 1, 1), (4, 1, 1), (1, 2, 1), (8, 1, 1), (16, 1, 1), (3, 1, 1)])
    return f"cluster {cluster}", _with(base.record, at, replace(launch, cluster=cluster))


def _shared(base: Base, chance: random.Random) -> _Found:
    at, launch = _launch(base, chance)
    other = chance.choice([0, launch.shared_bytes // 2, launch.shared_bytes - 16, 1 << 19])
    if other == launch.shared_bytes or other < 0:
        return None
    return f"{other} bytes of shared memory", _with(base.record, at, replace(launch, shared_bytes=other))


def _more_shared(base: Base, chance: random.Random) -> _Found:
    at, launch = _launch(base, chance)
    more = launch.shared_bytes + chance.choice([16, 128, 1024])
    return f"{more} bytes of shared memory", _with(base.record, at, replace(launch, shared_bytes=more))


def _overlap(base: Base, chance: random.Random) -> _Found:
    at, launch = _launch(base, chance)
    changed = replace(launch, overlap=not launch.overlap, cooperative=chance.random() < 0.5)
    return f"overlap {changed.overlap}, cooperative {changed.cooperative}", _with(base.record, at, changed)


def _flags(base: Base, chance: random.Random) -> _Found:
    at = chance.randrange(len(base.record.buffers))
    one = base.record.buffers[at]
    ways = [
        replace(one, changed=not one.changed), replace(one, alignment=1), replace(one, size_bytes=one.size_bytes // 2),
        replace(one, role=chance.choice(["input", "output", "scratch", "zeroed"])),
        replace(one, size_bytes=max(one.size_bytes - 16, 1)),
    ]  # fmt: skip
    other = chance.choice(ways)
    buffers = (*base.record.buffers[:at], other, *base.record.buffers[at + 1 :])
    return None if other == one else (f"{one.name}: {other}"[:200], replace(base.record, buffers=buffers))


def _order(base: Base, chance: random.Random) -> _Found:
    steps = list(base.record.steps)
    if len(steps) < 2:
        return None
    before = list(steps)
    if chance.random() < 0.5:
        steps.pop(chance.randrange(len(steps)))
    else:
        chance.shuffle(steps)
    return None if steps == before else (f"{len(steps)} steps in another order", replace(base.record, steps=(*steps,)))


def _again(base: Base, chance: random.Random) -> _Found:
    if any(one.role == "zeroed" for one in base.record.buffers) or base.record.outputs[0].buffer in {
        one.view.buffer for one in base.record.inputs
    }:
        return None
    return f"all steps {(times := chance.randrange(2, 6))} times", replace(base.record, steps=base.record.steps * times)


def _filled(base: Base, chance: random.Random) -> _Found:
    view = base.record.outputs[0]
    if not view.contiguous:
        return None
    size = chance.choice([1, view.shape[-1] // 2 or 1, view.shape[-1]])
    part = TensorView(view.buffer, view.offset, (size,), (1,), view.dtype)
    pattern = chance.choice(["00", "3c", "80"]) * view.item_bytes
    fill = Fill(part, pattern)
    return f"a fill of {size} elements behind all", replace(base.record, steps=(*base.record.steps, fill))


def _pattern(base: Base, chance: random.Random) -> _Found:
    fills = [(at, one) for at, one in enumerate(base.record.steps) if isinstance(one, Fill)]
    if not fills:
        return None
    at, one = chance.choice(fills)
    other = bytes(chance.randrange(1, 256) for _ in range(len(one.pattern) // 2)).hex()
    return f"a fill with {other}", _with(base.record, at, replace(one, pattern=other))


KINDS: Mapping[str, Sequence[_Change]] = {
    "arguments": (_swapped_pointers, _shifted_pointer, _null, _integer, _dropped_argument),
    "aliasing": (_output_on_input, _input_on_output, _input_twice, _result_elsewhere),
    "geometry": (_grid, _block, _cluster),
    "constants": (_float, _pattern, _filled, _integer),
    "attributes": (_shared, _overlap, _flags, _more_shared),
    "order of steps": (_order, _again),
    "scratch": (_scratch_on_output, _flags),
}
"""Kind → changes; globals and other kernels' code are changes of code objects (`_code`)."""

_SAME = (_again, _more_shared)
"""Changes that compute the same by construction: steps that only overwrite, done again; memory that nobody uses."""


def _code(
    base: Base, others: Sequence[Base], chance: random.Random
) -> tuple[str, LaunchRecord, dict[str, bytes]] | None:
    """Return the record with another code object: bytes of its data changed, or another base's kernel."""
    at, launch = _launch(base, chance)
    code = base.codes[launch.code]
    own = sections(code) if int.from_bytes(code[60:62], "little") else []
    data = [one for one in own if one.name.startswith((".nv.global.init", ".nv.constant3")) and one.size]
    if data:
        place = chance.choice(data)
        changed = bytearray(code)
        spot = place.offset + chance.randrange(place.size)
        changed[spot] ^= chance.randrange(1, 256)
        what, made, entry = f"byte {spot} of {place.name}", bytes(changed), launch.entry
    else:
        other = chance.choice([one for one in others if one.name != base.name])
        kernel = other.record.launches[0]
        what, made, entry = f"the kernel of {other.name}", other.codes[kernel.code], kernel.entry
    digest = hashlib.sha256(made).hexdigest()
    codes = {**{one.code: base.codes[one.code] for one in base.record.launches}, digest: made}
    step = replace(launch, code=digest, entry=entry)
    record = replace(_with(base.record, at, step), codes={name: len(one) for name, one in codes.items()})
    return what, record, codes


def mutants(bases: Sequence[Base], count: int, seed: int) -> Iterator[Mutant]:
    """Yield so many different mutants, kinds and bases in turn; the same arguments give the same ones."""
    chance, seen = random.Random(seed), {canonical(one.record.to_json()) for one in bases}
    kinds, made, tries = [*KINDS, "globals"], 0, 0
    while made < count and tries < 100 * count:
        kind, base = kinds[tries % len(kinds)], chance.choice(bases)
        tries += 1
        change = chance.choice(KINDS[kind]) if kind != "globals" else None
        codes: Mapping[str, bytes] = base.codes
        if change is None:
            found = _code(base, bases, chance)
            if found is None:
                continue
            what, record, codes = found
        else:
            changed = change(base, chance)
            if changed is None:
                continue
            what, record = changed
        key = canonical(record.to_json())
        if key in seen:
            continue
        seen.add(key)
        made += 1
        yield Mutant(base, kind, what, record, codes, same=change in _SAME)
