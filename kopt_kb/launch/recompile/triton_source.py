"""Kernels of Triton and Gluon compiled from what was taken of their source's text."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import triton
from triton.compiler import ASTSource
from triton.experimental import gluon
from triton.experimental.gluon import _runtime
from triton.language import core

from kopt_kb.launch.compile.device import DeviceFacts
from kopt_kb.launch.compile.importing import place_of
from kopt_kb.launch.compile.stub import activate, gpu_target
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.recompile.bodies import strange_body, strange_value
from kopt_kb.launch.recompile.constants import StrangeConstantError, constant_of
from kopt_kb.launch.recompile.definitions import CONSTANT, GLUON, STRUCTURE, TRITON, VALUE
from kopt_kb.launch.recompile.extract import Refused, TakenModule, TakenSource, take
from kopt_kb.launch.recompile.job import Outcomes, Recompiled, RecompileJob
from kopt_kb.launch.recompile.modules import IMPORTED, ModuleFile, ModuleFiles, package_roots
from kopt_kb.launch.record.code_request import CodeRequest

__all__ = ["recompile_triton"]

_NO_NAMES = frozenset({"kopt_kb", "__main__", "builtins", *IMPORTED})


class _RefusedError(Exception):
    """A kernel that can't be made again; `refused` says why."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.detail)
        self.refused = refused


def recompile_triton(job: RecompileJob, numbers: Sequence[int]) -> Outcomes:
    """Return what became of some requests of a job, and the compiler's version; code objects go into its folder."""
    target = CompileTarget.parse(job.target)
    activate(target, DeviceFacts(job.device or target.name, target.name, job.facts))
    workshop = _Workshop(job, [job.requests[number] for number in numbers], target)
    made = {number: workshop.made(number, job.requests[number]) for number in numbers}
    return made, {"triton": str(triton.__version__)}


class _Workshop:
    """Takes what the kernels of a job need, once, and compiles them."""

    def __init__(self, job: RecompileJob, requests: Sequence[CodeRequest], target: CompileTarget) -> None:
        self._job, self._target = job, target
        self._outside: dict[str, str] = {}
        self._names: dict[tuple[str, str], str] = {}
        roots = [Path(one).resolve() for one in job.roots]
        places: dict[str, ModuleFile] = {}
        wanted: dict[tuple[str, str], None] = {}
        for one in requests:
            place = self._place(one, roots)
            if place is not None:
                places[place.name] = place
                wanted[place.name, one.kernel] = None
            for named in _kernels_in(one):
                wanted[named] = None
        known = ModuleFiles((*dict.fromkeys(roots), *package_roots()), places)
        kernels = [one for one in wanted if known.find(one[0]) is not None]
        self._taken = take(known, kernels)
        self._modules: dict[str, ModuleType] = {}
        self._failed: dict[str, str] = {}
        self._load(self._taken)

    def _place(self, request: CodeRequest, roots: list[Path]) -> ModuleFile | None:
        """Return where a request's file stands; None, and why, for one that is none of the candidate's."""
        path = Path(request.file)
        near = [*roots, *package_roots()]
        if not path.is_absolute() or not path.is_file() or not any(path.resolve().is_relative_to(one) for one in near):
            self._outside[request.file] = f"{path.name} is no file of the candidate's or of a package"
            return None
        path, name = path.resolve(), request.module
        if (found := place_of(path)) is not None and found.root not in roots:
            roots.append(found.root)
        top = name.partition(".")[0]
        is_usable = all(one.isidentifier() for one in name.split("."))
        if not is_usable or top in _NO_NAMES or top in sys.stdlib_module_names or top in sys.modules:
            name = f"_kb_source_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
        self._names[request.module, request.file] = name
        return ModuleFile(name, path)

    # ---- modules -----------------------------------------------------------------------------

    def _load(self, taken: TakenSource) -> None:
        folder = Path(self._job.folder) / "source"
        folder.mkdir()
        for number, one in enumerate(taken.modules):
            path = folder / f"{number}.py"
            path.write_text(one.text, encoding="utf-8")
            try:
                self._modules[one.place.name] = _loaded(one, path)
            except Exception as error:  # noqa: BLE001 - what of a source can't stand alone
                self._failed[one.place.name] = f"{one.place.path.name}: {type(error).__name__}: {error}"[:300]
        names = frozenset(one.place.name for one in taken.modules)
        for name, module in self._modules.items():
            self._check(name, module, names)

    def _check(self, name: str, module: ModuleType, names: frozenset[str]) -> None:
        for bound, value in vars(module).items():
            if bound.startswith("__") or bound in {TRITON, GLUON, CONSTANT, VALUE, STRUCTURE}:
                continue
            found = strange_value(value, names)
            inner = getattr(value, "fn", None)
            if not found and inner is not None and getattr(value, "__module__", "") in names:
                found = strange_body(inner, names)
            if found:
                self._failed[name] = f"body: {bound}: {found}"[:300]

    # ---- one kernel --------------------------------------------------------------------------

    def made(self, number: int, request: CodeRequest) -> Recompiled:
        """Return what became of a request."""
        below = self._taken.below(self._names.get((request.module, request.file), ""))
        files = {str(one.place.path): hashlib.sha256(one.place.path.read_bytes()).hexdigest() for one in below}
        try:
            code = self._compiled(request)
        except _RefusedError as error:
            return Recompiled("", error.refused.reason, error.refused.detail, files)
        name = f"{number}.bin"
        (Path(self._job.folder) / name).write_bytes(code)
        return Recompiled(name, None, "", files)

    def _compiled(self, request: CodeRequest) -> bytes:
        if request.file in self._outside:
            raise _RefusedError(Refused("outside", self._outside[request.file]))
        name = self._names[request.module, request.file]
        kernel = self._kernel(f"{name}:{request.kernel}", is_entry=True, is_gluon=request.language == "Gluon")
        try:
            constants = {_path(key): constant_of(value, self._kernel) for key, value in request.constants.items()}
        except (StrangeConstantError, ValueError, TypeError) as error:
            raise _RefusedError(Refused("constant", str(error)[:300])) from error
        try:
            return self._built(kernel, request, constants)
        except Exception as error:
            raise _RefusedError(self._why(name, error)) from error

    def _built(self, kernel: Any, request: CodeRequest, constants: Mapping[tuple[int, ...], Any]) -> bytes:
        kind: Any = ASTSource
        if request.language == "Gluon":
            kind = _runtime.GluonASTSource
        if {*request.signature} != {*kernel.arg_names}:
            raise ValueError("the signature is of another kernel")
        signature = {name: _tupled(request.signature[name]) for name in kernel.arg_names}
        attributes = {_path(key): [[*pair] for pair in pairs.items()] for key, pairs in request.attributes.items()}
        source = kind(kernel, signature, dict(constants), attributes)
        with redirect_stdout(StringIO()):
            built = triton.compile(source, target=gpu_target(self._target), options=dict(request.options))
        return bytes(built.kernel)

    def _kernel(self, name: str, *, is_entry: bool = False, is_gluon: bool = False) -> Any:
        """Return a kernel that was taken, by `module:name`."""
        module, _, function = name.partition(":")
        module = next((known for (said, _), known in self._names.items() if said == module), module)
        if (why := self._failed.get(module, "")).startswith("body: "):
            raise _RefusedError(Refused("body", why.removeprefix("body: ")))
        found = getattr(self._modules.get(module), function, None)
        if found is None:
            raise _RefusedError(self._why(module, None, f"{function} could not be taken"))
        if is_entry and is_gluon != bool(getattr(found, "is_gluon", lambda: False)()):
            return (gluon.jit if is_gluon else triton.jit)(found.fn)
        return found

    def _why(self, module: str, error: BaseException | None, text: str = "") -> Refused:
        """Return why a kernel could not be made: what could not be taken of its source, else what the compiler said."""
        below = self._taken.below(module)
        if refused := [each for one in below for each in one.refused]:
            return refused[0]
        failed = [self._failed[one.place.name] for one in below if one.place.name in self._failed]
        while error is not None and error.__cause__ is not None:
            error = error.__cause__
        said = " ".join(str(error).split())[-250:] if error is not None else text
        return Refused("compiler", (failed[0] if failed else said)[:300])


def _kernels_in(request: CodeRequest) -> list[tuple[str, str]]:
    """Return module and name of the kernels among a request's constants."""
    found: list[tuple[str, str]] = []
    waiting: list[object] = list(request.constants.values())
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            named = one.get("kernel")
            if isinstance(named, str):
                module, _, name = named.partition(":")
                found.append((module, name))
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return found


def _path(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split("."))


def _tupled(value: object) -> Any:
    return tuple(_tupled(one) for one in value) if isinstance(value, list | tuple) else value


def _loaded(taken: TakenModule, path: Path) -> ModuleType:
    """Run what was taken of a module under the module's own name, its packages as folders without files."""
    name = taken.place.name
    _parents(name)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    helpers = {
        TRITON: triton.jit, GLUON: gluon.jit, CONSTANT: getattr(triton, "constexpr_function", None),
        VALUE: core.constexpr, STRUCTURE: getattr(core, "_aggregate", None),
    }  # fmt: skip
    vars(module).update(helpers)
    before = sys.modules.get(name, module)
    if taken.place.is_package:
        module.__path__ = []
        vars(module).update({one: part for one, part in vars(before).items() if isinstance(part, ModuleType)})
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    spec.loader.exec_module(module)
    return module


def _parents(name: str) -> None:
    """Put packages above a module in place; what was taken of one already stays."""
    parts = name.split(".")[:-1]
    for count in range(1, len(parts) + 1):
        one = ".".join(parts[:count])
        if one not in sys.modules:
            made = ModuleType(one)
            made.__path__ = []
            sys.modules[one] = made
            if count > 1:
                setattr(sys.modules[".".join(parts[: count - 1])], parts[count - 1], made)
