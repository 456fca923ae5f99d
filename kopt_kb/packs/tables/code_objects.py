"""Code objects of an engine's kernels, each compiled once and remembered: what it uses, or why the compiler refuses it.

Rows are compiled as the engine's launcher calls its kernel. Two rows share a code object where Triton would: extents
count by what it specialises on, and the group size, which orders tiles and uses nothing, is left out.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kopt_kb.analysis.occupancy.limits import Resources
from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.base.wire import Wire, canonical, read
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import CompileFailed, CompileRequest, Given, KernelCase
from kopt_kb.launch.counts.static_profile import profile_of
from kopt_kb.packs.tables.kernel_source import standalone
from kopt_kb.wiki.cache import load, store

__all__ = ["PASSING", "CodeFacts", "CodeMade", "PlannedCode", "Workbench", "code_facts"]

PASSING = frozenset({"time_limit", "memory_limit", "crash"})
"""Refusals that another run may not give, so that they are not remembered."""

_FORM = 1
_GROUP, _ANY_GROUP = "GROUP_SIZE_M", 8
_DIVISOR, _LARGE = 16, 1 << 31


@dataclass(frozen=True, slots=True)
class CodeFacts(Wire):
    """What became of one code object.

    Attributes:
        refusal: Why the compiler refuses it, in one line; empty where it made one.
        kind: Class of the refusal, such as compiler or time_limit; empty without one.
        threads: Threads of a block.
        registers: Registers of a thread; on AMD architectural vector registers.
        accumulation_registers: AMD's accumulation registers of a thread.
        scalar_registers: AMD's scalar registers of a wave.
        shared_static_bytes: Shared memory or LDS that the binary names, in bytes a block.
        shared_dynamic_bytes: Shared memory or LDS asked for at launch, in bytes a block.
        tensor_memory_bytes: Tensor memory of a block, in bytes.
        blocks_per_cluster: Blocks that are launched together.
        spill_bytes: Bytes that a thread spills.
        is_serialised: Whether ptxas says that warpgroup matrix instructions lost their overlap.
        seconds: Time that compiling took, in seconds.
    """

    refusal: str = ""
    kind: str = ""
    threads: int = 0
    registers: int = 0
    accumulation_registers: int = 0
    scalar_registers: int = 0
    shared_static_bytes: int = 0
    shared_dynamic_bytes: int = 0
    tensor_memory_bytes: int = 0
    blocks_per_cluster: int = 1
    spill_bytes: int = 0
    is_serialised: bool = False
    seconds: float = 0.0

    @property
    def shared_bytes(self) -> int:
        """Shared memory or LDS of a block, in bytes."""
        return self.shared_static_bytes + self.shared_dynamic_bytes

    @property
    def resources(self) -> Resources:
        """What one block uses, for an occupancy calculation."""
        return Resources(
            threads_per_block=self.threads,
            registers_per_thread=self.registers,
            accumulation_registers_per_thread=self.accumulation_registers,
            scalar_registers_per_warp=self.scalar_registers,
            shared_static_bytes=self.shared_static_bytes,
            shared_dynamic_bytes=self.shared_dynamic_bytes,
            tensor_memory_bytes=self.tensor_memory_bytes,
            blocks_per_cluster=self.blocks_per_cluster,
        )


@dataclass(frozen=True, slots=True)
class PlannedCode:
    """A code object to be made: a launch, the target, and the name under which its facts are remembered."""

    key: str
    case: KernelCase
    target: str


@dataclass(frozen=True, slots=True)
class CodeMade:
    """The facts of a code object by its key, and whether it was compiled now."""

    key: str
    facts: CodeFacts
    is_new: bool


@dataclass(frozen=True)
class _Kernel:
    """A kernel that stands alone, in a file of its own."""

    path: Path
    digest: str
    parameters: frozenset[str]
    needed: tuple[str, ...]
    constexprs: frozenset[str]


@dataclass
class Workbench:
    """Prepares the kernels of an engine.

    Attributes:
        root: Folder that the engine's imports start from.
        folder: Where kernels are put while they are compiled.
        triton: Version of the compiler.
    """

    root: Path
    folder: Path
    triton: str
    _kernels: dict[tuple[str, str], _Kernel] = field(default_factory=dict)

    def code_object(self, case: KernelCase, settings: frozenset[str], target: str) -> PlannedCode:
        """Return the code object of a launch.

        Args:
            case: The launch, with arguments of any version of the kernel; those that this one lacks are left out.
            settings: Names of the row's settings, none of which may be left out.
            target: Public target name.

        Raises:
            BadInput: A setting is none of the kernel's, or the kernel has a parameter that is not known here.
        """
        kernel = self._kernel(case.file, case.kernel)
        strange = sorted(name for name in settings & set(case.constexprs) if name not in kernel.parameters)
        if strange:
            what = f"{case.kernel} has no parameter {', '.join(strange)}: the launch fails"
            raise BadInput(what, where=case.file, fix="leave the setting out", code="KB081")
        given: dict[str, object] = {**_by_name(case.args), **case.constexprs}
        missing = [name for name in kernel.needed if name not in given]
        if missing:
            what = f"{case.kernel} has a parameter {missing[0]} that is not known here"
            raise BadInput(what, where=case.file, fix="name a version of the engine that is known", code="KB082")
        arguments = {name: _class_of(one) for name, one in _by_name(case.args).items() if name in kernel.parameters}
        constants = {name: one for name, one in case.constexprs.items() if name in kernel.parameters}
        if _GROUP in constants:
            constants[_GROUP] = _ANY_GROUP
        moved = {name: constants.pop(name) for name in list(constants) if name not in kernel.constexprs}
        arguments |= {name: _class_of(one) for name, one in moved.items() if isinstance(one, int | float)}
        made = replace(case, file=str(kernel.path), args=arguments, constexprs=constants)
        named = replace(made, file=kernel.digest)
        parts = canonical([_FORM, named.to_json(), target, self.triton])
        return PlannedCode(f"table-code-{hashlib.sha256(parts).hexdigest()}", made, target)

    def _kernel(self, file: str, name: str) -> _Kernel:
        known = self._kernels.get((file, name))
        if known is None:
            text = standalone(Path(file), name, self.root)
            digest = hashlib.sha256(text.encode()).hexdigest()
            path = self.folder / f"{name}_{digest[:12]}.py"
            path.write_text(text, encoding="utf-8")
            known = self._kernels[file, name] = _signature(text, name, path, digest)
        return known


def code_facts(objects: Sequence[PlannedCode], workers: int) -> Iterator[CodeMade]:
    """Yield what becomes of each code object, those that are remembered first; each once.

    Raises:
        MissingTool: Triton is not installed.
    """
    waiting: dict[str, PlannedCode] = {}
    for one in {one.key: one for one in objects}.values():
        kept = _remembered(one.key)
        if kept is None:
            waiting[one.key] = one
        else:
            yield CodeMade(one.key, kept, is_new=False)
    todo = list(waiting.values())
    if not todo:
        return
    with CompilePool(min(workers, len(todo))) as pool:
        requests = [CompileRequest(one.case, one.target, disassemble=False) for one in todo]
        for position, outcome in pool.compile_all(requests):
            if isinstance(outcome, MissingTool):
                raise outcome
            found = _said(outcome)
            if found.kind not in PASSING:
                store(todo[position].key, found.to_json())
            yield CodeMade(todo[position].key, found, is_new=True)


def _said(outcome: Any) -> CodeFacts:
    if isinstance(outcome, KoptError):
        return CodeFacts(outcome.what, outcome.kind if isinstance(outcome, CompileFailed) else "arguments")
    made = profile_of(outcome[0])
    use = made.resources
    return CodeFacts(
        threads=use.threads_per_block,
        registers=use.registers_per_thread,
        accumulation_registers=use.accumulation_registers_per_thread,
        scalar_registers=use.scalar_registers_per_warp,
        shared_static_bytes=use.shared_static_bytes,
        shared_dynamic_bytes=use.shared_dynamic_bytes,
        tensor_memory_bytes=use.tensor_memory_bytes,
        blocks_per_cluster=use.blocks_per_cluster,
        spill_bytes=made.spill_bytes or 0,
        is_serialised=made.wgmma_serialised,
        seconds=made.compilation.seconds.get("compile", 0.0),
    )


def _remembered(key: str) -> CodeFacts | None:
    document = load(key)
    if document is None:
        return None
    try:
        return read(CodeFacts, document)
    except BadInput:
        return None


def _signature(text: str, name: str, path: Path, digest: str) -> _Kernel:
    nodes = (one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef) and one.name == name)
    arguments = next(nodes).args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = len(arguments.defaults)
    needed = [one.arg for one in positional[: len(positional) - defaults]]
    needed += [one.arg for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value is None]
    constants = {one.arg for one in every if one.annotation is not None and "constexpr" in ast.unparse(one.annotation)}
    return _Kernel(path, digest, frozenset(one.arg for one in every), tuple(needed), frozenset(constants))


def _by_name(arguments: tuple[Given, ...] | Mapping[str, Given]) -> dict[str, Given]:
    return dict(arguments) if isinstance(arguments, Mapping) else {}


def _class_of(value: Any) -> Given:
    """Return an argument that Triton compiles for as for this one: 1, what 16 divides, what needs 64 bits."""
    if isinstance(value, TensorSpec):
        if value.block_shape is not None:
            return value
        count = 1
        for extent in value.shape:
            count *= extent
        large = count * value.element_bytes >= _LARGE
        return TensorSpec((_LARGE if large else _DIVISOR,), value.dtype)
    if isinstance(value, bool) or not isinstance(value, int) or value == 1:
        return value if isinstance(value, int | float) else None
    base = _LARGE * 2 if value >= _LARGE else 0
    return base + (_DIVISOR if value % _DIVISOR == 0 else 3)
