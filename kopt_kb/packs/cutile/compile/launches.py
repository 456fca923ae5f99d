"""Launches of tile kernels, recorded: compiled without a GPU for what cuTile's own launch would compile for, never run.

While `recording` is entered, `ct.launch` compiles for the target and appends a `Launch`; `ct.tune.exhaustive_search`
and `autotune_launch` of cuda.tile_experimental take the first configuration that compiles and fits, and time none.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import importlib.util
import itertools
import math
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import canonical
from kopt_kb.base.wire import plain as document
from kopt_kb.launch.compile.request import CompileFailed, Given
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.cuda.build import compiled_kernel
from kopt_kb.launch.record.launch_arguments import given_of
from kopt_kb.launch.record.model import Argument, Keywords, Launch, ScalarArg, TensorAddress, TensorMapArg, TensorView
from kopt_kb.launch.record.request import MakerRequest
from kopt_kb.launch.record.statics import StaticLaunch
from kopt_kb.launch.record.trace import CallTrace
from kopt_kb.packs.cutile.compile import DIALECT
from kopt_kb.packs.cutile.compile.ahead import keep_tile, tile_ahead, tile_key
from kopt_kb.packs.cutile.compile.compiler import CompiledTile, compile_tile, kernel_place, tileiras
from kopt_kb.packs.cutile.compile.plain import Plain, plain_code
from kopt_kb.packs.cutile.compile.signature import PassedArgument, Signature, signature_of
from kopt_kb.packs.cutile.compile.tensor_maps import Map, maps_of

__all__ = ["TileLaunch", "TileLaunches", "installed"]

_PLACE_BITS = 44
"""Made-up addresses of arrays lie this far apart: no array is as large."""

_MOST_CONFIGS = 10_000
"""Configurations of a search that are looked at; a space may be a generator without end."""

_FORMATS = {"i1": "<i", "i32": "<i", "i64": "<q", "fp32": "<f"}


def installed() -> bool:
    """Return whether cuTile is installed, without importing it."""
    try:
        return importlib.util.find_spec("cuda.tile") is not None
    except ModuleNotFoundError:
        return False


def _experimental() -> dict[str, ModuleType]:
    """Return the modules that have `autotune_launch`; one that stands in where the package is not installed."""
    name = "cuda.tile_experimental"
    if importlib.util.find_spec(name) is None:
        module = ModuleType(name)
        vars(module).update(autotune_launch=None, clear_autotune_cache=lambda: None)
        return {name: module}
    module = importlib.import_module(name)
    inner = [
        each for each in sys.modules if each.startswith(f"{name}.") and hasattr(sys.modules[each], "autotune_launch")
    ]
    return {name: module, **{each: sys.modules[each] for each in inner}}


@dataclass(frozen=True, slots=True)
class TileLaunch:
    """One launch with what the compiler said of it."""

    code: str
    compiled: CompiledTile
    plain: Plain
    grid: tuple[int, int, int]
    constants: Mapping[str, object]
    arguments: tuple[tuple[str, Given], ...]


class TileLaunches:
    """Collects the launches of tile kernels into a trace's steps.

    Args:
        trace: Where the steps go.
        folder: Where code objects are written, one file each, named by sha256.
        request: The target, and which configuration of a search is recorded.
    """

    def __init__(self, trace: CallTrace, folder: Path, request: MakerRequest) -> None:
        self._trace, self._folder, self._autotune = trace, folder, request.autotune
        self._target, self._facts = CompileTarget.parse(request.target), request.facts
        self._made: dict[tuple[int, str], tuple[Any, CompiledTile, Plain]] = {}
        self.codes: dict[str, int] = {}
        self.versions: dict[str, str] = {}
        self.assumed: dict[str, None] = {}
        self.launches: list[TileLaunch] = []

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record instead of launching; has to be entered before the user's file is imported."""
        if not installed():
            yield
            return
        import cuda.tile
        import cuda.tile._cext
        import cuda.tile.tune

        with ExitStack() as stack:
            for module in (cuda.tile, cuda.tile._cext):
                stack.enter_context(mock.patch.object(module, "launch", self._launch))
            for module in (cuda.tile.tune, cuda.tile.tune._tune):
                stack.enter_context(mock.patch.object(module, "exhaustive_search", self._search))
            for name, module in _experimental().items():
                if sys.modules.setdefault(name, module) is module and not hasattr(module, "__file__"):
                    stack.callback(sys.modules.pop, name, None)
                stack.enter_context(mock.patch.object(module, "autotune_launch", self._autotune_launch))
            yield

    def _launch(
        self, stream: Any, grid: tuple[int, ...], kernel: Any, arguments: tuple[Any, ...], /, *,
        programmatic_dependent_launch: bool = False,
    ) -> None:  # fmt: skip
        del stream
        signature, compiled, plain = self._compiled(kernel, arguments)
        entry = plain.entry
        sizes = _grid(grid, entry.name)
        digest = hashlib.sha256(plain.code).hexdigest()
        (self._folder / digest).write_bytes(plain.code)
        self.codes[digest] = len(plain.code)
        self.versions |= compiled.versions
        name = kernel._annotated_function.pyfunc.__name__
        self.assumed |= dict.fromkeys(f"{name}.{one}" for one in signature.assumed())
        given = self._arguments(signature, compiled, plain)
        for one in signature.passed:
            if one.type == "array":  # what it wrote is not known: Tile IR has no list of it
                self._trace.known.forget(one.value)
        step = Launch(
            code=digest, entry=entry.name, grid=(sizes[0] * entry.cluster[0], sizes[1], sizes[2]),
            block=(entry.most_threads, 1, 1), cluster=entry.cluster, shared_bytes=0, arguments=given,
            overlap=bool(programmatic_dependent_launch),
        )  # fmt: skip
        self._trace.steps.append(step)
        said = tuple((one.name, given_of(one.value, self._trace.known)) for one in signature.passed)
        self.launches.append(TileLaunch(digest, compiled, plain, step.grid, signature.constants, said))

    def _compiled(self, kernel: Any, arguments: tuple[Any, ...]) -> tuple[Signature, CompiledTile, Plain]:
        signature = signature_of(kernel, arguments)
        key = id(kernel), signature.key
        if key not in self._made:
            self._made[key] = kernel, *_made_of(kernel, signature, self._target.name)
        _, compiled, plain = self._made[key]
        most = self._facts.get("shared_memory_per_block_optin")
        if most is not None and plain.entry.shared_bytes > most:
            what = f"needs {plain.entry.shared_bytes} B of shared memory, a block may use {most} B"
            raise CompileFailed.of(
                "shared_memory", what, where=kernel_place(kernel), fix="smaller tiles, or a larger occupancy hint"
            )
        return signature, compiled, plain

    def keep(self, folder: Path) -> None:
        """Put all that was compiled into a folder that `KOPT_CODE` may name where the compiler is missing."""
        for (_, asked), (kernel, compiled, plain) in self._made.items():
            keep_tile(folder, tile_key(kernel, asked, self._target.name), compiled, plain)

    def _arguments(self, signature: Signature, compiled: CompiledTile, plain: Plain) -> tuple[Argument, ...]:
        """Return the arguments: an array's address, extents and strides, a number, and the tensor maps behind them."""
        made, raw, places = list[Argument](), list[bytes](), list[tuple[PassedArgument, TensorView]]()
        for one in signature.passed:
            if one.type != "array":
                made.append(ScalarArg(one.type, one.value, one.name))
                raw.append(struct.pack(_FORMATS[one.type], one.value))
                continue
            view = self._trace.view(one.value)
            self._trace.used(view)
            places.append((one, view))
            made.append(TensorAddress(view, one.name))
            raw.append(struct.pack("<Q", len(places) << _PLACE_BITS))
            kind = f"i{one.index_bits}"
            for word, numbers in (("shape", view.shape), ("strides", view.strides)):
                made += [ScalarArg(kind, number, f"{one.name}.{word}") for number in numbers]
                raw += [struct.pack(_FORMATS[kind], number) for number in numbers]
        if len(made) != plain.declared:
            what = f"the kernel takes {plain.declared} parameters, {len(made)} are known"
            fix = "this version of cuTile passes arguments in a way that is not known here"
            raise BadInput(what, where=plain.entry.name, fix=fix, code="KB444")
        return (*made, *(_map(one, places) for one in maps_of(compiled.code, plain, raw, plain.entry.name)))

    def _search(
        self, search_space: Sequence[Any], stream: Any, grid_fn: Callable[[Any], Any], kernel: Any,
        args_fn: Callable[[Any], tuple[Any, ...]], hints_fn: Callable[[Any], Keywords] | None = None, **_: Any,
    ) -> Any:  # fmt: skip
        """Return the first configuration at or behind the one asked for that compiles and fits, as a search does."""
        from cuda.tile import kernel as kernel_type
        from cuda.tile.tune import Measurement, TuningResult

        del stream, grid_fn
        space = list(search_space)
        if not 0 <= self._autotune < len(space):
            fix = f"the search has {len(space)}"
            raise BadInput(f"no autotune configuration {self._autotune}", where="--autotune", fix=fix, code="KB082")
        refused: CompileFailed | None = None
        for config in space[self._autotune :]:
            chosen = kernel if isinstance(kernel, kernel_type) else kernel(config)
            steps = len(self._trace.steps)
            try:
                self._compiled(chosen.replace_hints(**(hints_fn(config) if hints_fn else {})), args_fn(config))
            except CompileFailed as error:
                refused = refused or error
                continue
            finally:
                del self._trace.steps[steps:]  # clones that a search runs on are none of the launcher's
            best = Measurement(config=config, mean_us=math.nan, num_samples=0, error_margin_us=math.nan)
            return TuningResult(best=best, successes=(best,), failures=())
        raise refused or BadInput("the search space is empty", where="exhaustive_search", code="KB082")

    def _autotune_launch(
        self, stream: Any, grid_fn: Callable[[Any], Any], kernel: Any, args_fn: Callable[[Any], tuple[Any, ...]],
        launch_args_fn: Callable[[Any], tuple[Any, ...]] | None = None,
        hints_fn: Callable[[Any], Keywords] | None = None, *, search_space: Any, **_: Any,
    ) -> Any:  # fmt: skip
        """Launch with the configuration that a search takes, and return it as the package's own search does."""
        space = list(itertools.islice(search_space() if callable(search_space) else search_space, _MOST_CONFIGS))
        config = self._search(space, stream, grid_fn, kernel, args_fn, hints_fn).best.config
        chosen, grid = kernel.replace_hints(**(hints_fn(config) if hints_fn else {})), grid_fn(config)
        self._launch(stream, grid, chosen, (launch_args_fn or args_fn)(config))
        return SimpleNamespace(tuned_config=config, grid=grid, kernel=chosen, tuning_record=[], cache_hit=False)

    def told(self, target: CompileTarget, sass: Callable[[bytes], str] | None = None) -> tuple[StaticLaunch, ...]:
        """Return what the compiler said of each different launch; `sass` gives the listing of a code object."""
        times: dict[bytes, StaticLaunch] = {}
        for one in self.launches:
            key = canonical((one.code, list(one.grid), [document(given) for given in one.arguments]))
            entry = one.plain.entry
            made = compiled_kernel(
                entry, target, one.plain.code, None, sass(one.plain.code) if sass and key not in times else "", {},
                made_by=one.compiled.versions, threads=entry.most_threads, ctas=math.prod(entry.cluster),
                grid=one.grid, constants={name: _word(value) for name, value in one.constants.items()},
                arguments=one.arguments,
            )  # fmt: skip
            dialects = {DIALECT: one.compiled.text} if one.compiled.text else {}
            known = dataclasses.replace(
                made, dialects=dialects, remarks=one.compiled.remarks, assembler_log=one.plain.log
            )
            before = times.get(key)
            times[key] = (
                dataclasses.replace(before, times=before.times + 1) if before else StaticLaunch(one.code, 1, known)
            )
        return tuple(times.values())


def _made_of(kernel: Any, signature: Signature, target: str) -> tuple[CompiledTile, Plain]:
    where = kernel_place(kernel)
    if ahead := tile_ahead(kernel, signature.key, target, where):
        return ahead
    compiled = compile_tile(kernel, signature, target)
    return compiled, plain_code(compiled.code, tileiras().path.with_name("ptxas"), where)


def _word(value: object) -> object:
    return value if isinstance(value, int | float | str | bool | None) else str(value)


def _grid(grid: Any, where: str) -> tuple[int, int, int]:
    if not isinstance(grid, tuple) or not 1 <= len(grid) <= 3:
        raise BadInput(f"a grid is a tuple of one to three numbers, not {grid!r}", where=where, code="KB444")
    x, y, z = (*map(int, grid), 1, 1)[:3]
    return x, y, z


def _map(one: Map, places: Sequence[tuple[PassedArgument, TensorView]]) -> TensorMapArg:
    """Return a tensor map as an argument; the place of its address says which array it is of."""
    number, offset = (one.address >> _PLACE_BITS) - 1, one.address & (1 << _PLACE_BITS) - 1
    if not 0 <= number < len(places):
        raise BadInput("a tensor map of no array of the launch", where="tensor map", code="KB083")
    passed, whole = places[number]
    item = whole.item_bytes
    strides = tuple(step // item for step in one.steps)
    view = TensorView(whole.buffer, whole.offset + offset // item, one.shape, strides, whole.dtype)
    name = f"{passed.name}.map"
    return TensorMapArg(view, one.box, one.element_type, one.swizzle, nan_fill=one.nan_fill, name=name)
