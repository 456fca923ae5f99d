"""The caged process that calls a launcher, as its judge sees it: it waits with its imports done, then is asked.

It is started before there is a kernel file: what a program loads before its first kernel, torch and Triton, is loaded
while something else is done. A process calls the launcher of one file, and ends with it.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.base.wire import Wire, WireError, parse, read
from kopt_kb.launch.project.surroundings import cage_of, home_of, passed_on
from kopt_kb.sandbox.caged import caged
from kopt_kb.sandbox.process import ChildLimits, environment
from kopt_kb.sandbox.talk import Silent, Talk

__all__ = ["LauncherProgram", "Otherwise", "Said", "launcher_program"]

_ANSWER_S, _ANSWER_BYTES = 120.0, 1 << 16
_RECORDING = ("TRITON_ALWAYS_COMPILE", "TRITON_DUMP_PTXAS_LOG", "TRITON_CACHE_DIR")
"""Variables that recorders set, and this package's caches; the process has none of them."""


class Otherwise(Exception):
    """The launcher does something else than its record; the text says what."""


@dataclass(frozen=True, slots=True)
class Said(Wire):
    """What the launcher's process answers to one line; times are seconds of the device, `kernels` entry → launches."""

    error: str = ""
    calls_s: tuple[float, ...] = ()
    empty_s: tuple[float, ...] = ()
    kernels: Mapping[str, int] = field(default_factory=dict)
    by: str = ""


class LauncherProgram:
    """The process and the folder that it sees; made by `launcher_program`.

    Attributes:
        folder: Where its inputs and results lie.
        report: File for what held it.
    """

    def __init__(self, talk: Talk, folder: Path, report: Path) -> None:
        self._talk, self.folder, self.report = talk, folder, report

    def give(self, candidate: Path, problem: Path | None) -> None:
        """Put the kernel file into its folder, and the file that says how candidates are called, if there is one."""
        shutil.copy(candidate, self.folder / "kernel.py")
        if problem is not None:
            shutil.copy(problem, self.folder / "problem.py")

    def begin(self, what: str, **words: object) -> None:
        """Ask for something without waiting for the answer, which `ended` takes."""
        try:
            self._talk.say(json.dumps({"do": what, **words}).encode() + b"\n", _ANSWER_S)
        except Silent as error:
            raise Otherwise(f"its process {error}") from error

    def ended(self) -> Said:
        """Return the answer to what was begun; raises `Otherwise` where the launcher fails or ends its process."""
        try:
            said = read(Said, parse(self._talk.line(_ANSWER_BYTES, _ANSWER_S), where="answer"), where="answer")
        except Silent as error:
            raise Otherwise(f"its process {error}") from error
        except WireError as error:
            raise Otherwise("its process answers with what is no answer") from error
        if said.error:
            raise Otherwise(f"it fails where it is used: {said.error[:300]}")
        return said

    def ask(self, what: str, **words: object) -> Said:
        """Return the answer to one line; raises `Otherwise` as `ended` does."""
        self.begin(what, **words)
        return self.ended()

    def timed(self, what: str, **words: object) -> float:
        """Return the seconds until the answer, by this process's clock."""
        begin = time.monotonic()
        self.ask(what, **words)
        return time.monotonic() - begin


@contextmanager
def launcher_program(parent: Path, device: str) -> Iterator[LauncherProgram]:
    """Start the process, in a cage below this one; it ends with the block.

    Args:
        parent: Folder of this process's own, in which it gets one.
        device: Where launchers run, as torch names it.
    """
    with tempfile.TemporaryDirectory(prefix="program-", dir=parent, ignore_cleanup_errors=True) as name:
        inner, report = Path(name) / "work", parent / "cage.json"
        inner.mkdir()
        shutil.copy(Path(__file__).with_name("launcher_script.py"), inner / "main.py")
        own = {"PYTHONPATH": environment(ours=True)["PYTHONPATH"]}
        kept = {name: value for name, value in passed_on(()).items() if name not in _RECORDING}
        words = caged([sys.executable, str(inner / "main.py"), device], cage_of(inner, report, None, network=False))
        env = {**kept, **own, **home_of(inner), "PYTHONDONTWRITEBYTECODE": "1"}
        talk = Talk(words, env=env, stderr=sys.stderr.fileno(), limits=ChildLimits(joined=True))
        try:
            yield LauncherProgram(talk, inner, report)
        finally:
            talk.end()
