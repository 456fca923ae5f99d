"""Profile a Python function and get the verdict: a decorator around it, a context manager for the part that counts.

The function is called in a child under the profiler, never in this process: the file that defines it is imported
there, so a notebook's cell or a local function can't be profiled. What is at its module level runs there too; a script
keeps its own calls behind `if __name__ == "__main__":`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.judged import judge_reports
from kopt_kb.cli.kit.judged_text import render
from kopt_kb.launch.machine.profile import Options, ProfilerFailed, choose_tool, execute, plan
from kopt_kb.wiki.registry import Registry

if TYPE_CHECKING:
    from kopt_kb.analysis.rules.verdict import Verdict
    from kopt_kb.cli.kit.judged import JudgedReports
    from kopt_kb.cli.kit.judged_text import JudgedKernel

__all__ = ["ProfiledCall", "ProfiledFunction", "Recording", "annotate", "profiled"]

IN_CHILD = "KOPT_PROFILED"
"""Set in the child: there a profiled function is called as it is."""

_CHILD = Path(__file__).with_name("child.py")
_NO_FILE = "put it at the top level of a file, such as bench.py, and import or run that"


@dataclass(frozen=True, slots=True)
class Recording:
    """How a function is recorded.

    Attributes:
        platform: The product, where the report does not name it.
        kernel: Regular expression of the kernels to record; None for all.
        ranges: Names of `annotate` parts to record; empty: all parts, or the whole call where it has none (ncu).
        tool: `ncu` or `rocprofv3`; None for the one that is installed.
        warmup: Calls before the recorded one; they show which parts there are, so that 0 records the whole call.
        output: Folder that keeps the reports; None: they are deleted after reading.
        section_set: Set of sections (ncu); the verdict needs `full`.
        target: Compiler target that decides the counters (rocprofv3).
    """

    platform: str | None = None
    kernel: str | None = None
    ranges: tuple[str, ...] = ()
    tool: str | None = None
    warmup: int = 1
    output: str | Path | None = None
    section_set: str = "full"
    target: str = ""


@dataclass(frozen=True, slots=True)
class ProfiledCall:
    """What the profiler saw of one call.

    Attributes:
        config: Positional arguments of the call.
        reports: The reports that were read, with a verdict for each kernel.
    """

    config: tuple[object, ...]
    reports: JudgedReports

    @property
    def kernels(self) -> tuple[JudgedKernel, ...]:
        """The kernels, by falling time."""
        return self.reports.kernels

    @property
    def verdict(self) -> Verdict:
        """What limits the kernel that took longest."""
        return self.kernels[0].verdict

    @property
    def limiter(self) -> str:
        """Its word, such as `dram`."""
        return str(self.verdict.limiter)

    def __str__(self) -> str:
        """The table of kernels and each verdict's proof, as `kb profile read` prints it."""
        return render(self.kernels)


class Parts:
    """The parts of the child's calls: a function that has some is recorded in them alone, its setup is not."""

    open: int = 0
    """How many are open, one inside the other."""
    seen: int = 0
    """How many were entered."""
    alone: bool = False
    """Set before the recorded call, when the calls before it had parts: each lets the profiler record."""


class annotate(contextlib.ContextDecorator):  # noqa: N801 - a word of a sentence, as in `with annotate("matmul"):`
    """The part of a profiled function that counts: what it launches is recorded, the setup around it is not.

    In the child it is an NVTX range too; elsewhere it does nothing.

    Args:
        name: What `ranges` of `profiled` may ask for.
    """

    def __init__(self, name: str) -> None:
        if not name or "/" in name or "@" in name:
            raise BadInput(
                f"{name!r} is no name of a range", where="annotate", fix="letters without / and @", code="KB104"
            )
        self.name = name

    def __enter__(self) -> annotate:
        """Begin the range."""
        if (cuda := _cuda()) is not None:
            Parts.seen += 1
            Parts.open += 1
            if Parts.alone and Parts.open == 1:
                cuda.synchronize()
                cuda.cudart().cudaProfilerStart()
            cuda.nvtx.range_push(self.name)
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        if (cuda := _cuda()) is not None:
            cuda.nvtx.range_pop()
            Parts.open -= 1
            if Parts.alone and Parts.open == 0:
                cuda.synchronize()
                cuda.cudart().cudaProfilerStop()


def _cuda() -> Any:
    """Return torch.cuda in a child that has loaded torch and sees a GPU, else None."""
    torch = sys.modules.get("torch") if os.environ.get(IN_CHILD) else None
    return torch.cuda if torch is not None and torch.cuda.is_available() else None


class ProfiledFunction:
    """A function whose calls are recorded by the profiler.

    Args:
        function: At the top level of a file.
        recording: How.
        configs: Arguments of the calls when none are given.
    """

    def __init__(
        self, function: Callable[..., object], recording: Recording, configs: Sequence[Sequence[object]] = ()
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._recording = recording
        self._configs = tuple(map(tuple, configs))

    def __call__(
        self, *args: object, configs: Sequence[Sequence[object]] | None = None, **kwargs: object
    ) -> ProfiledCall | tuple[ProfiledCall, ...] | object:
        """Return what was recorded of one call, or of one call for each configuration.

        In the child, and in whatever a profiled function calls there, this is the plain call.

        Raises:
            BadInput: The function can't be imported from a file, or an argument is no plain value.
            MissingTool: No profiler is installed, or it may not read counters.
            ProfilerFailed: The function raised, or launched no kernel.
        """
        if os.environ.get(IN_CHILD):
            return self._function(*args, **kwargs)
        if configs is None and not args and self._configs:
            configs = self._configs
        if configs is None:
            return self._recorded(tuple(args), kwargs)
        return tuple(self._recorded((*config, *args), kwargs) for config in map(tuple, configs))

    def _recorded(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> ProfiledCall:
        asked = self._recording
        request = _request(self._function, args, kwargs, asked.warmup)
        tool = choose_tool(asked.tool)
        options = Options(
            kernel=asked.kernel, section_set=asked.section_set, target=asked.target, ranges=asked.ranges,
            from_start=tool != "ncu",
        )  # fmt: skip
        registry = Registry.open()
        platform = None if asked.platform is None else registry.platform(asked.platform)
        with _folder(asked.output) as folder:
            file = folder / "request.json"
            file.write_text(request, encoding="utf-8")
            made = plan(tool, (sys.executable, str(_CHILD), str(file)), folder, options)
            try:
                execute(made, folder)
            except ProfilerFailed as error:
                raise _no_kernel(error, self._function) from error
            return ProfiledCall(args, judge_reports([str(one) for one in made.reports], None, registry, platform))


def _no_kernel(error: ProfilerFailed, function: Callable[..., object]) -> ProfilerFailed:
    """Return what an empty record means here: there is no option of a command to look at."""
    if error.error_code != "KB222":
        return error
    what = f"{getattr(function, '__qualname__', function)} launched no kernel where it was recorded"
    fix = (
        "put what counts into `with annotate(NAME):` or leave kernel= and ranges= out; "
        "a copy between tensors of one type is done by the copy engine, which is no kernel"
    )
    return error.restated(what=what, where="kopt_kb.profiled", fix=fix)


@contextlib.contextmanager
def _folder(named: str | Path | None) -> Iterator[Path]:
    if named is not None:
        Path(named).mkdir(parents=True, exist_ok=True)
        yield Path(named)
        return
    with tempfile.TemporaryDirectory(prefix="kb-profiled-") as made:
        yield Path(made)


def _request(
    function: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object], warmup: int
) -> str:
    """Return what the child reads."""
    name = getattr(function, "__qualname__", "")
    try:
        file = inspect.getsourcefile(function)
    except TypeError:
        file = None
    if file is None or "<locals>" in name or not name or not Path(file).is_file():
        what = f"{name or function!r} can't be imported from a file"
        raise BadInput(what, where="kopt_kb.profiled", fix=_NO_FILE, code="KB104")
    module = function.__module__
    known = "" if module == "__main__" or module not in sys.modules else module
    try:
        text = json.dumps(
            {"module": known, "file": str(Path(file).resolve()), "name": name, "args": args, "kwargs": dict(kwargs),
             "warmup": warmup, "path": [one or str(Path.cwd()) for one in sys.path]}
        )  # fmt: skip
    except TypeError as error:
        fix = "give numbers and texts, and make tensors inside the function"
        raise BadInput(
            f"an argument of {name} is no plain value: {error}", where=file, fix=fix, code="KB104"
        ) from error
    return text


@overload
def profiled(function: Callable[..., object], /) -> ProfiledFunction: ...


@overload
def profiled(
    *, configs: Sequence[Sequence[object]] = (), **recording: Any
) -> Callable[[Callable[..., object]], ProfiledFunction]: ...


def profiled(
    function: Callable[..., object] | None = None, /, *, configs: Sequence[Sequence[object]] = (), **recording: Any
) -> ProfiledFunction | Callable[[Callable[..., object]], ProfiledFunction]:
    """Decorate a function so that each call is recorded by the installed profiler and judged.

    Args:
        function: At the top level of a file.
        configs: Arguments of the calls when the function is called without any.
        **recording: Fields of `Recording`.

    Returns:
        A function that returns `ProfiledCall`, or one for each configuration.
    """
    how = Recording(**recording)
    if function is not None:
        return ProfiledFunction(function, how, configs)
    return lambda given: ProfiledFunction(given, how, configs)
