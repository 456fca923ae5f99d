"""Launches of Triton and Gluon kernels, recorded: compiled without a GPU by Triton's own launch path, never run.

While `recording` is entered, `JITFunction.run` compiles for the target and appends a `Launch`; `Autotuner.run` takes
one configuration instead of timing them all. The arguments follow Triton's launcher (read in versions 3.6 to 3.9):
run-time parameters in the order of the signature, a host descriptor as a tensor map with its shape as i32 and strides
as i64 behind it, then pointers that the compiler added, global scratch first. How many those are is read from the
parameters of the PTX entry itself, not from a version number.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from triton.compiler.compiler import CompiledKernel
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from kopt_kb.errors import BadInput, KoptError
from kopt_kb.kernels.compile.build import failure as _failure
from kopt_kb.kernels.compile.stub import argument
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.kernels.record.model import Argument, Keywords, Launch, NullArg, ScalarArg, TensorArg, TensorMapArg
from kopt_kb.kernels.record.stand_ins import ADDRESSES
from kopt_kb.kernels.record.trace import Trace, on_device

__all__ = ["Launches"]

_ELEMENT_TYPES = {8: 10, 9: 8, 10: 9}
"""Triton's numbers of element types that CUtensorMapDataType counts otherwise (driver.c of Triton 3.6)."""


class Launches:
    """Collects the launches of a call into a trace's steps.

    Args:
        trace: Where the steps go.
        folder: Where code objects are written, one file each, named by sha256.
        autotune: Which configuration of an autotuned kernel is recorded.
    """

    def __init__(self, trace: Trace, folder: Path, *, autotune: int = 0) -> None:
        self._trace, self._folder, self._autotune = trace, folder, autotune
        self.codes: dict[str, int] = {}
        self.versions: dict[str, str] = {}
        self.assumed: dict[str, None] = {}

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record instead of launching; the stub driver of the target has to be active."""
        plain_run = JITFunction.run

        def run(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            compiled = self._compiled(plain_run, kernel, args, kwargs)
            if not warmup:
                self._append(compiled, grid, _bound(kernel, args, kwargs))
            return compiled

        def tuned(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            return self._tuned(tuner, args, kwargs)

        def again(compiled: Any, grid: Any) -> Any:
            return lambda *args, **_: self._append(compiled, grid, _all_bound(compiled, args))

        with ExitStack() as stack:
            stack.enter_context(mock.patch.object(JITFunction, "run", run))
            stack.enter_context(mock.patch.object(CompiledKernel, "__getitem__", again))
            for kind in _tuners(Autotuner):
                stack.enter_context(mock.patch.object(kind, "run", tuned))
            yield

    def _tuned(self, tuner: Any, args: Any, kwargs: Keywords) -> Any:
        if not 0 <= self._autotune < len(tuner.configs):
            raise BadInput(
                f"no autotune configuration {self._autotune}",
                where=tuner.base_fn.__name__,
                fix=f"the kernel has {len(tuner.configs)}",
                code="KB082",
            )
        config = tuner.configs[self._autotune]
        tuner.best_config = config
        if config.pre_hook is not None:
            config.pre_hook({**dict(zip(tuner.arg_names, args, strict=False)), **kwargs, **config.all_kwargs()})
        return tuner.fn.run(*args, **kwargs, **config.all_kwargs())

    def _compiled(self, run: Any, kernel: Any, args: Any, kwargs: Keywords) -> Any:
        kernel.device_caches.clear()
        stubs = [_stub(one) for one in args]
        try:
            return run(kernel, *stubs, grid=(1,), warmup=True, **{name: _stub(one) for name, one in kwargs.items()})
        except KoptError:
            raise
        except Exception as error:
            raise _failure(error, kernel.__name__) from error

    def _append(self, compiled: Any, grid: Any, bound: Keywords) -> None:
        metadata = compiled.metadata
        code = compiled.kernel
        digest = hashlib.sha256(code).hexdigest()
        (self._folder / digest).write_bytes(code)
        self.codes[digest] = len(code)
        self.versions["triton"] = str(metadata.triton_version)
        self._assume(compiled)
        blocks = grid(bound) if callable(grid) else grid
        sizes = [int(one) for one in (*blocks, 1, 1)][:3]
        ctas = int(metadata.num_ctas)
        arguments = self._arguments(compiled, bound, sizes)
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

    def _arguments(self, compiled: Any, bound: Keywords, grid: list[int]) -> tuple[Argument, ...]:
        metadata, made = compiled.metadata, list[Argument]()
        descriptors = iter(getattr(metadata, "tensordesc_meta", None) or ())
        for name, kind in compiled.src.signature.items():
            if kind == "constexpr":
                continue
            if str(kind).startswith("tensordesc"):
                made += self._descriptor(name, bound[name], next(descriptors, None))
            elif str(kind).startswith("*"):
                made.append(self._pointer(name, bound[name]))
            else:
                if isinstance(bound[name], int) and abs(bound[name]) >= ADDRESSES:
                    self._trace.reasons.append(f"{name} of a launch may be an address, which a replay does not have")
                made.append(_scalar(name, str(kind), bound[name]))
        return (*made, *self._added(compiled, len(made), grid))

    def _pointer(self, name: str, value: Any) -> Argument:
        if value is None:
            return NullArg(name)
        if not on_device(_tensor(value)):
            self._trace.reasons.append(f"{name} of a launch is no tensor on the device")
            return NullArg(name)
        view = self._trace.view(_tensor(value))
        self._trace.used(view)
        return TensorArg(view, name)

    def _descriptor(self, name: str, value: Any, meta: Any) -> list[Argument]:
        view = self._trace.view(value.base)
        view = dataclasses.replace(view, shape=tuple(map(int, value.shape)), strides=tuple(map(int, value.strides)))
        self._trace.used(view)
        sizes = [ScalarArg("i32", one, f"{name}.shape") for one in view.shape]
        steps = [ScalarArg("i64", one, f"{name}.strides") for one in view.strides]
        if meta is None:  # without TMA Triton passes the pointer, and shape and strides twice
            wide = [ScalarArg("i64", one, f"{name}.shape") for one in view.shape]
            padding = ScalarArg("i1", getattr(value, "padding", "zero") == "nan", f"{name}.padding")
            return [TensorArg(view, name), *wide, *steps, padding, *sizes, *steps]
        element = int(meta["elem_type"])
        first = TensorMapArg(
            view=view,
            box=tuple(map(int, meta["block_size"])),
            element_type=_ELEMENT_TYPES.get(element, element),
            swizzle=int(meta["swizzle"]),
            fp4_padded=bool(meta.get("fp4_padded", False)),
            nan_fill=getattr(value, "padding", "zero") == "nan",
            name=name,
        )
        return [first, *sizes, *steps]

    def _added(self, compiled: Any, given: int, grid: list[int]) -> list[Argument]:
        """Return the pointers that the compiler added: global scratch, profile scratch, then nothing that is used."""
        metadata, ptx = compiled.metadata, compiled.asm.get("ptx", "")
        count = entry_parameters(ptx, str(metadata.name)) - given if ptx else 2
        if not 0 <= count <= 8:
            raise BadInput(
                f"the entry takes {given + count} parameters, {given} are known",
                where=str(metadata.name),
                fix="this version of Triton passes arguments in a way that is not known here",
                code="KB444",
            )
        blocks = grid[0] * grid[1] * grid[2] * int(metadata.num_ctas)
        sizes = [int(getattr(metadata, f"{one}_scratch_size", 0) or 0) * blocks for one in ("global", "profile")]
        made: list[Argument] = []
        for number in range(count):
            size = sizes[number] if number < len(sizes) else 0
            if size:
                view = self._trace.scratch(size)
                self._trace.used(view)
                made.append(TensorArg(view, f"scratch.{number}"))
            else:
                made.append(NullArg(f"scratch.{number}"))
        return made


def entry_parameters(ptx: str, entry: str) -> int:
    """Return how many parameters an entry of a PTX text has; 0 when the text has no such entry."""
    head = re.search(rf"\.entry\s+{re.escape(entry)}\s*\((.*?)\)", ptx, re.DOTALL)
    return len(re.findall(r"\.param\b", head[1])) if head else 0


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


def _tensor(value: Any) -> torch.Tensor:
    """Return the tensor of an argument: itself, or the base of a wrapper that begins where its base does."""
    if isinstance(value, torch.Tensor):
        return value
    for name in ("base", "_base"):
        base = getattr(value, name, None)
        if isinstance(base, torch.Tensor) and (name == "base" or value.data_ptr() == base.data_ptr()):
            return base
    raise BadInput(
        f"a kernel is given a {type(value).__name__} where it takes a tensor",
        where="record",
        fix="give it the tensor itself",
        code="KB444",
    )


def _stub(value: Any) -> Any:
    """Return what stands in for an argument while Triton specialises: the layout of a tensor without memory."""
    if isinstance(value, torch.Tensor):
        strides = tuple(map(int, value.stride()))
        spec = TensorSpec(tuple(map(int, value.shape)), str(value.dtype), strides)
        return argument(spec, offset_bytes=int(value.storage_offset()) * value.element_size())
    if dataclasses.is_dataclass(value) and hasattr(value, "base") and hasattr(value, "block_shape"):
        return dataclasses.replace(value, base=_stub(value.base))  # type: ignore[type-var]
    return value


def _scalar(name: str, kind: str, value: Any) -> ScalarArg:
    if isinstance(value, float) and not math.isfinite(value):
        return ScalarArg(kind, "nan" if math.isnan(value) else "inf" if value > 0 else "-inf", name)
    return ScalarArg(kind, value, name)
