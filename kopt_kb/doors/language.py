"""The door `Language`: what is known of a kernel language, and what its pack does with a file in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from kopt_kb.analysis.ir.triton import IrCount
    from kopt_kb.launch.compile.request import Compilation, CompileRequest, OpCase
    from kopt_kb.launch.compile.target import CompileTarget
    from kopt_kb.launch.cuda.languages import FunctionCode, FunctionJob
    from kopt_kb.launch.recompile.job import Outcomes, RecompileJob
    from kopt_kb.launch.record.request import MakerRequest
    from kopt_kb.launch.record.statics import StaticLaunch
    from kopt_kb.launch.record.trace import CallTrace

__all__ = ["Language", "LaunchRecorder", "plain_name"]


class LaunchRecorder(Protocol):
    """Collects the launches of a language into a trace's steps while a launcher runs.

    Attributes:
        codes: sha256 of each code object that it wrote → bytes.
        versions: Package → version.
        assumed: What the compiler specialised on, as keys.
    """

    codes: dict[str, int]
    versions: dict[str, str]
    assumed: dict[str, None]

    def recording(self) -> AbstractContextManager[None]:
        """Record instead of launching; entered before the user's file is imported."""

    def told(self, target: CompileTarget) -> tuple[StaticLaunch, ...]:
        """Return what the compiler said of each different launch."""


@dataclass(frozen=True, slots=True)
class Language:
    """A kernel language. It brings as many of the functions as it has; a file is read for all else and never run.

    Attributes:
        name: As `--framework` takes it; case, spaces and dashes do not matter.
        what: The same in a reader's words, for messages.
        spellings: Other names that users give it.
        vendors: Whose devices its compiler builds for; none: every vendor's.
        backends: What projects call it, in capitals, its usual word first.
        topics: Words of `backend:` in pages of the wiki, where none of its pages says them.
        mark: Dotted name of the decorator that makes a function a kernel; empty: kernels can't be recognised in Python.
        start: `subscript` for `kernel[grid](...)`, `launch` for a call of something's `launch`.
        inner_marks: Decorators of functions that only kernels call.
        suffixes: Of files that are in it by their name.
        kernels: Folder of the package's kernels in it, below `kernels/`; None: there are none.
        variables: First letters of the environment variables that its compiler reads.
        dumps: Variables that make a program keep its machine code; `{folder}` stands for where.
        package: Distribution that compiles it; empty: none is needed.
        modules: What files in it import → extra that brings it.
        header: Its word in `language = "…"` of a header; empty: `function_code` is not there.
        function_code: Returns the machine code of a function of a Python file that a header names.
        recognises: Whether `compile` is for the file of this path; it reads the file and never runs it.
        compile: Returns what an op file in it launches for a shape, compiled.
        recorder: Returns what collects its launches, for a trace, a folder for code objects, and the request.
        recompile: Makes code objects of it again, for a job and the numbers of its requests: from the text of the
            source, none of which it runs. None: its code objects are never bound to their source.
        dialect: Name of its IR in `Compilation.dialects`; empty: it has none, or Triton's.
        count: Returns the work of a compilation with IR of that dialect, for a grid.
    """

    name: str
    what: str
    spellings: tuple[str, ...] = ()
    vendors: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    mark: str = ""
    start: Literal["subscript", "launch"] = "launch"
    inner_marks: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    kernels: str | None = None
    variables: tuple[str, ...] = ()
    dumps: Mapping[str, str] = field(default_factory=dict)
    package: str = ""
    modules: Mapping[str, str] = field(default_factory=dict)
    header: str = ""
    function_code: Callable[[FunctionJob], FunctionCode] | None = None
    recognises: Callable[[str], bool] | None = None
    compile: Callable[[CompileRequest, OpCase, CompileTarget], list[Compilation]] | None = None
    recorder: Callable[[CallTrace, Path, MakerRequest], LaunchRecorder] | None = None
    recompile: Callable[[RecompileJob, Sequence[int]], Outcomes] | None = None
    dialect: str = ""
    count: Callable[[Compilation, tuple[int, ...]], IrCount] | None = None

    @property
    def names(self) -> frozenset[str]:
        """Every name that users give it, plain."""
        return frozenset(map(plain_name, (self.name, *self.spellings)))


def plain_name(name: str) -> str:
    """Return a language's name without case, spaces and dashes."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())
