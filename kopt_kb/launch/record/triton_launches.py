"""Launches of Triton and Gluon kernels, recorded: compiled without a GPU by Triton's own launch path, never run.

While `recording` is entered, `JITFunction.run` compiles for the target and appends a `Launch`; `Autotuner.run` takes
the first configuration that fits instead of timing them all.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from triton.compiler.compiler import CompiledKernel
from triton.runtime.autotuner import Autotuner
from triton.runtime.errors import OutOfResources
from triton.runtime.jit import JITFunction

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.base.wire import canonical, plain
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.build import failure as _failure
from kopt_kb.launch.compile.build import result_of
from kopt_kb.launch.compile.decorated import described
from kopt_kb.launch.compile.request import CompileFailed
from kopt_kb.launch.compile.stub import argument
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.record.code_request import CodeRequest
from kopt_kb.launch.record.launch_arguments import all_given, arguments_of, run_time
from kopt_kb.launch.record.model import Keywords, Launch
from kopt_kb.launch.record.request import MakerRequest
from kopt_kb.launch.record.statics import StaticLaunch
from kopt_kb.launch.record.trace import CallTrace
from kopt_kb.launch.record.triton_request import request_of
from kopt_kb.launch.record.written import written_parameters

__all__ = ["Launches"]


_SAID = {
    "n_regs": r"Used (\d+) registers|\.vgpr_count:\s+(\d+)",
    "n_spills": r"(\d+) bytes spill stores|\.vgpr_spill_count:\s+(\d+)",
}
"""What Triton calls a resource → where ptxas or LLVM says it."""


class Launches:
    """Collects the launches of a call into a trace's steps.

    Args:
        trace: Where the steps go.
        folder: Where code objects are written, one file each, named by sha256.
        request: The target, which configuration of an autotuned kernel is recorded, and whether IR is kept.
    """

    def __init__(self, trace: CallTrace, folder: Path, request: MakerRequest) -> None:
        self._trace, self._folder, self._autotune = trace, folder, request.autotune
        self._statics, self._target = request.statics, CompileTarget.parse(request.target)
        self._facts, self._strict = request.facts, request.strict
        self._fresh: set[int] = set()
        self._logs: dict[int, str] = {}
        self._options: dict[int, Any] = {}
        self._writes: dict[int, set[str]] = {}
        self._told: dict[bytes, StaticLaunch] = {}
        self.codes: dict[str, int] = {}
        self.requests: dict[str, CodeRequest] = {}
        self.versions: dict[str, str] = {}
        self.tuned: dict[str, tuple[dict[str, bool | int | float | str], ...]] = {}
        self.assumed: dict[str, None] = {}

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record instead of launching; the stub driver of the target has to be active."""
        plain_run = JITFunction.run

        def run(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            compiled = self._compiled(plain_run, kernel, args, kwargs)
            if not warmup:
                self._append(compiled, grid, _bound(kernel, args, kwargs))
                compiled._init_handles()  # a launch does, and what it finds may be read afterwards
            return compiled

        def tuned(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            return self._tuned(tuner, args, kwargs)

        def again(compiled: Any, grid: Any) -> Any:
            return lambda *args, **_: self._append(compiled, grid, _all_bound(compiled, args))

        with ExitStack() as stack:
            stack.enter_context(self._noting_options())
            stack.enter_context(mock.patch.object(JITFunction, "run", run))
            stack.enter_context(mock.patch.object(CompiledKernel, "__getitem__", again))
            stack.enter_context(mock.patch.object(CompiledKernel, "_init_handles", self._init_handles))
            for kind in _tuners(Autotuner):
                stack.enter_context(mock.patch.object(kind, "run", tuned))
            yield

    def _noting_options(self) -> Any:
        """Keep the options of each compilation: what the compiler changes of them is in its metadata afterwards."""
        plain_compile = JITFunction._do_compile

        def compiling(kernel: Any, *given: Any) -> Any:
            compiled = plain_compile(kernel, *given)
            self._options[id(compiled)] = next((one for one in given if hasattr(one, "num_warps")), None)
            return compiled

        return mock.patch.object(JITFunction, "_do_compile", compiling)

    @property
    def _init_handles(self) -> Any:
        """What a launcher that asks for registers and spills finds, as the compiler said them; nothing is loaded."""
        launches = self

        def init_handles(compiled: Any) -> None:
            log = launches._logs.get(id(compiled), "") + compiled.asm.get("amdgcn", "")
            for name, words in _SAID.items():
                found = re.search(words, log)
                setattr(compiled, name, int(next(filter(None, found.groups()))) if found else 0)
            compiled.n_max_threads = launches._facts.get("max_threads_per_block", 0)
            compiled.module = compiled.function = 0

        return init_handles

    def _tuned(self, tuner: Any, args: Any, kwargs: Keywords) -> Any:
        """Launch with the first configuration at or behind the one asked for that compiles and fits the device."""
        self.tuned[tuner.base_fn.__name__] = tuple(map(described, tuner.configs))
        refused: Exception | None = None
        for config in self._candidates(tuner, args, kwargs):
            tuner.best_config = config
            if config.pre_hook is not None:
                config.pre_hook({**dict(zip(tuner.arg_names, args, strict=False)), **kwargs, **config.all_kwargs()})
            try:
                return tuner.fn.run(*args, **kwargs, **config.all_kwargs())
            except (CompileFailed, OutOfResources) as error:
                refused = refused or error
        where = tuner.base_fn.__name__
        if self._strict and isinstance(refused, OutOfResources):
            what = f"needs {refused.required} B of shared memory, a block may use {refused.limit} B"
            raise CompileFailed.of("shared_memory", what, where=where, fix="smaller tiles or fewer stages")
        raise refused or BadInput("the kernel prunes all of its configurations", where=where, code="KB082")

    def _candidates(self, tuner: Any, args: Any, kwargs: Keywords) -> list[Any]:
        """Return the configurations that may be taken, without those that the kernel's own rule leaves out.

        Raises:
            BadInput: The kernel has none of the number asked for, or its rule leaves out the one that has to be taken.
        """
        has_it = 0 <= self._autotune < len(tuner.configs)
        if not has_it and not self._strict:
            what, fix = f"no autotune configuration {self._autotune}", f"the kernel has {len(tuner.configs)}"
            raise BadInput(what, where=tuner.base_fn.__name__, fix=fix, code="KB082")
        is_bound = has_it and self._strict
        wanted: list[Any] = list(tuner.configs)[self._autotune if has_it else 0 :][: 1 if is_bound else None]
        rule = getattr(tuner, "early_config_prune", None)
        tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
        if rule is None:
            return wanted
        try:
            kept = {id(one) for one in rule(list(tuner.configs), tuner.nargs, **kwargs)}
        except KoptError:
            raise
        except Exception:  # noqa: BLE001 - a rule that asks for a device leaves the choice to the compiler
            return wanted
        left = [one for one in wanted if id(one) in kept]
        if is_bound and not left:
            raise BadInput("the kernel's own rule leaves it out", where=tuner.base_fn.__name__, code="KB082")
        return left or wanted

    def _compiled(self, run: Any, kernel: Any, args: Any, kwargs: Keywords) -> Any:
        if id(kernel) not in self._fresh:  # what it was compiled to before may be for another target
            kernel.device_caches.clear()
            self._fresh.add(id(kernel))
        stubs = [_stub(one) for one in args]
        named = {name: _stub(one) for name, one in kwargs.items()}
        log = io.StringIO()
        try:
            with redirect_stdout(log):
                compiled = run(kernel, *stubs, grid=(1,), warmup=True, **named)
        except KoptError:
            raise
        except Exception as error:
            raise _failure(error, kernel.__name__) from error
        self._logs.setdefault(id(compiled), log.getvalue())
        return compiled

    def _append(self, compiled: Any, grid: Any, bound: Keywords) -> None:
        metadata = compiled.metadata
        most = self._facts.get("shared_memory_per_block_optin")
        if most is not None and int(metadata.shared) > most:
            raise OutOfResources(int(metadata.shared), most, "shared memory")
        code = compiled.kernel
        digest = hashlib.sha256(code).hexdigest()
        (self._folder / digest).write_bytes(code)
        self.codes[digest] = len(code)
        if digest not in self.requests or self.requests[digest].refused:  # the same code by options that none doubts
            self.requests[digest] = request_of(compiled, self._options.get(id(compiled)), self._target)
        self.versions["triton"] = str(metadata.triton_version)
        self._assume(compiled)
        blocks = grid(bound) if callable(grid) else grid
        sizes = [int(one) for one in (*blocks, 1, 1)][:3]
        ctas = int(metadata.num_ctas)
        arguments = arguments_of(self._trace, compiled, bound, sizes)
        if self._statics:
            self._tell(compiled, digest, bound, sizes)
        self._forget(compiled, bound)
        self._trace.steps.append(
            Launch(
                code=digest,
                entry=str(metadata.name),
                grid=(sizes[0] * ctas, sizes[1], sizes[2]),
                block=(int(metadata.num_warps) * int(getattr(metadata, "warp_size", 32) or 32), 1, 1),
                cluster=(ctas, 1, 1),
                shared_bytes=int(metadata.shared),
                arguments=arguments,
                cooperative=bool(getattr(metadata, "launch_cooperative_grid", False)),
                overlap=bool(getattr(metadata, "launch_pdl", False)),
            )
        )

    def _forget(self, compiled: Any, bound: Keywords) -> None:
        """Know no more what the kernel may have written."""
        if id(compiled) not in self._writes:
            self._writes[id(compiled)] = written_parameters(compiled.asm.get("ttir", ""))
        for name, kind, value in run_time(compiled.src.signature, bound):
            tensor = value if isinstance(value, torch.Tensor) else None
            if tensor is not None and (name in self._writes[id(compiled)] or "." in name or not kind.startswith("*")):
                self._trace.known.forget(tensor)

    @property
    def told(self) -> tuple[StaticLaunch, ...]:
        """What the compiler said of each different launch."""
        return tuple(self._told.values())

    def _tell(self, compiled: Any, digest: str, bound: Keywords, grid: list[int]) -> None:
        """Keep IR and resources of a launch, once for the same code, arguments and grid."""
        log = self._logs.get(id(compiled), "")
        made = result_of(compiled, self._target, compiled.asm.get("amdgcn", ""), log, {}, tuple(grid))
        given = all_given(self._trace, ((name, one) for name, _, one in run_time(compiled.src.signature, bound)))
        known = dataclasses.replace(made, arguments=given, binary=b"", ptx="")
        key = canonical((digest, list(grid), [plain(one) for one in given]))
        before = self._told.get(key)
        self._told[key] = StaticLaunch(digest, before.times + 1 if before else 1, known)

    def _assume(self, compiled: Any) -> None:
        source = compiled.src
        names = list(source.fn.arg_names)
        for key, pairs in source.attrs.items():
            for name, value in pairs:
                if name == "tt.divisibility":
                    self.assumed[f"{source.fn.__name__}.{names[key[0]]} is divisible by {value}"] = None
        for key, value in source.constants.items():
            if len(key) == 1 and source.signature.get(names[key[0]]) == "constexpr" and value == 1:
                self.assumed[f"{source.fn.__name__}.{names[key[0]]} equals 1"] = None


def _bound(kernel: Any, args: Any, kwargs: Keywords) -> Keywords:
    """Return parameter → value of a call, defaults included."""
    names = [param.name for param in kernel.params]
    given = dict(zip(names, args, strict=False)) | {name: one for name, one in kwargs.items() if name in names}
    return {param.name: given.get(param.name, param.default) for param in kernel.params}


def _all_bound(compiled: Any, args: Any) -> Keywords:
    """Return parameter → value of a launch of a compiled kernel, which takes all of them, constants too."""
    names = list(compiled.src.fn.arg_names)
    if len(args) != len(names):
        raise BadInput(
            f"a compiled kernel is launched with {len(args)} arguments, it has {len(names)}",
            where=compiled.src.fn.__name__,
            fix="launch the kernel itself",
            code="KB444",
        )
    return dict(zip(names, args, strict=True))


def _tuners(kind: Any) -> list[Any]:
    """Return a class and those below it that have a `run` of their own."""
    below = [one for made in kind.__subclasses__() for one in _tuners(made)]
    return [kind, *below] if "run" in vars(kind) else below


def _stub(value: Any) -> Any:
    """Return what stands in for an argument while Triton specialises: the layout of a tensor without memory."""
    if isinstance(value, tuple) and not hasattr(value, "base"):
        parts = [_stub(one) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, torch.Tensor):
        strides = tuple(map(int, value.stride()))
        spec = TensorSpec(tuple(map(int, value.shape)), str(value.dtype), strides)
        return argument(spec, offset_bytes=int(value.storage_offset()) * value.element_size())
    if dataclasses.is_dataclass(value) and hasattr(value, "base") and hasattr(value, "block_shape"):
        return dataclasses.replace(value, base=_stub(value.base))  # type: ignore[type-var]
    return value
