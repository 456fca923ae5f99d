"""A function of a Python file that a header names, made to machine code without a GPU by its language's compiler.

The header says what is launched and on what, as for CUDA C++. The compiler runs the user's Python, so it belongs into a
maker or a compile worker. Where it is not installed, what it made elsewhere is looked for.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.doors.language import Language
from kopt_kb.doors.languages import languages, unknown_language
from kopt_kb.launch.compile.loader import imported
from kopt_kb.launch.cuda.ahead import CODE_FOLDER, code_ahead, code_key
from kopt_kb.launch.cuda.nvrtc import Compiled
from kopt_kb.launch.record.model import TensorView

__all__ = ["FunctionCode", "FunctionJob", "dump_folder", "header_language", "made_of"]

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_FEATURES_FROM = 90
"""From here on a target's own features are asked for: sm_90a."""


@dataclass(frozen=True, slots=True)
class FunctionCode:
    """Machine code of a language's compiler.

    Attributes:
        binary: The code object.
        compiled: What NVRTC gave where it had a part in it.
        versions: Package → version.
        dialects: IR of the compiler as text, by the dialect's name; counted where a language counts it.
    """

    binary: bytes
    compiled: Compiled | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    dialects: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FunctionJob:
    """What a header asks of a language's compiler.

    Attributes:
        file: Python file that has the function.
        function: Its name.
        tensors: Inputs, outputs and scratch in the header's order.
        names: Dimensions, tuning values and what the header computes from them.
        arch: Compute capability such as 90, or a processor such as gfx942.
        entries: Kernels, as the header names them.
    """

    file: Path
    function: str
    tensors: Sequence[TensorView]
    names: Mapping[str, int]
    arch: int | str
    entries: Sequence[str]

    @property
    def target(self) -> str:
        """The architecture in a compiler's words: sm_90a, gfx942."""
        if isinstance(self.arch, int):
            return f"sm_{self.arch}{'a' if self.arch >= _FEATURES_FROM else ''}"
        return self.arch

    def load(self) -> Any:
        """Import the file and return its function; raises `BadInput` where there is none."""
        if self.file.suffix != ".py" or not self.file.is_file():
            raise BadInput("no such Python file", where=str(self.file), fix="put it beside the header", code="KB110")
        function = getattr(imported(self.file.stem, self.file), self.function, None)
        if function is None:
            what = f"no function {self.function}"
            raise BadInput(what, where=str(self.file), fix="name one of the file", code="KB081")
        return function

    def given(self, function: Any) -> dict[str, int]:
        """Return the values of parameters that are called as a dimension or a tuning value."""
        parameters = inspect.signature(function).parameters
        return {name: value for name, value in self.names.items() if name in parameters}


def header_language(word: str, where: str) -> Language:
    """Return the language of a header's word; raises `BadInput` where nobody compiles it."""
    known = {language.header: language for language in languages() if language.header}
    if word not in known:
        words = f"languages of headers: {', '.join(sorted(known))}" if known else "no language of headers is installed"
        raise BadInput(unknown_language(word), where=where, fix=words, code="KB077")
    return known[word]


def made_of(word: str, job: FunctionJob) -> FunctionCode:
    """Return the machine code of a function for tensors of these shapes.

    Args:
        word: The language, as a header names it.
        job: File and function, which takes tensors or parameters as its language wants; parameters that are called as
            one of the names are given its value.

    Raises:
        BadInput: There is no such language or function, or the language refuses it.
        CompileFailed: A compiler behind the language's own refuses what that wrote.
        MissingTool: The language's package is not installed.
    """
    language = header_language(word, str(job.file))
    vendor = "NVIDIA" if isinstance(job.arch, int) else "AMD"
    if language.function_code is None or (language.vendors and vendor not in language.vendors):
        what = f"{word} does not compile for {job.target}"
        raise BadInput(what, where=str(job.file), fix="name another target", code="KB106")
    versions: dict[str, str] = {}
    if language.package:
        try:
            versions[language.package] = metadata.version(language.package)
        except metadata.PackageNotFoundError as error:
            if ahead := _ahead(word, job):
                return ahead
            raise _missing(language, job) from error
    with _complaints(f"{job.file}:{job.function}"):
        made = language.function_code(job)
    return FunctionCode(made.binary, made.compiled, {**versions, **made.versions}, made.dialects)


def _ahead(word: str, job: FunctionJob) -> FunctionCode | None:
    """Return what was compiled elsewhere."""
    if not job.file.is_file():
        return None
    known = code_ahead(code_key(word, job.file, job.function, job.tensors, job.names, job.target))
    return FunctionCode(known[0], None, known[1]) if known else None


def _missing(language: Language, job: FunctionJob) -> MissingTool:
    way = f"pip install {language.package}, in an environment of its own if versions clash"
    what, fix = f"{language.package} is not installed", f"{way}, or name code in {CODE_FOLDER}"
    return MissingTool(what, where=str(job.file), fix=fix, code="KB120")


@contextlib.contextmanager
def dump_folder() -> Iterator[Path]:
    """Make the folder where a compiler leaves files: it may read the name once and answer with a file there."""
    folder = Path(tempfile.gettempdir()) / f"kb-code-{os.getpid()}"
    folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _complaints(where: str) -> Iterator[None]:
    """Make whatever a language raises one line; what it prints is not shown."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    except KoptError:
        raise
    except Exception as error:
        text = " ".join(_COLOUR.sub("", str(error)).split())[:300] or "no words"
        what = f"does not compile: {type(error).__name__}: {text}"
        raise BadInput(what, where=where, fix="compile it by hand first", code="KB081") from error
