"""Facts of many problems: those of earlier runs from the cache, the others by a child."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kopt_kb.base.errors import KoptError, MissingTool
from kopt_kb.base.files import read_input
from kopt_kb.base.wire import parse, read
from kopt_kb.packs.problem_sets.bounds.facts import FoundFacts
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.sandbox.process import ChildLimits, environment, run
from kopt_kb.wiki import cache

__all__ = ["facts_of", "key_of", "torch_version"]

_AT_ONCE, _MOST_CHILDREN = 10, 4
"""Problems that one child takes: what is done is kept when the command is ended. Children beside each other."""
_KEPT = {"KB084", "KB086"}
"""Reasons that follow from content, torch and code; a package that a problem imports may be installed by then."""
_FINDERS = ("child", "drawn", "established", "facts", "masks", "needed", "products", "recurrent", "reduced", "traced",
            "witness")  # fmt: skip
"""Modules that facts depend on."""
_POLL_S = 0.05
_WALL_S, _MEMORY_BYTES, _SAID_BYTES = 7200.0, 10 << 30, 64 << 20


def torch_version() -> str:
    """Return the version of torch; raises `MissingTool` where it is not installed."""
    try:
        return version("torch")
    except PackageNotFoundError as error:
        raise MissingTool("torch is not installed", fix="install kopt-kb[gpu]", code="KB120") from error


def key_of(file: Path, torch: str) -> str:
    """Return the key of a problem's facts: its content, torch's version and this project's code that finds them."""
    total = sha256(_code())
    for one in (read_input(file), torch.encode()):
        total.update(len(one).to_bytes(8, "big") + one)
    return f"facts-{total.hexdigest()}"


def _code() -> bytes:
    """Return the hash of the code that finds facts."""
    here = Path(__file__).parent
    files = [*(here / f"{name}.py" for name in _FINDERS), *sorted(here.parent.glob("torch_*.py"))]
    return sha256(b"".join(one.read_bytes() for one in files)).digest()


def facts_of(files: Sequence[Path], say: Callable[[str], None]) -> list[FoundFacts]:
    """Return the facts of each file, in order; one that has none says why, and is not tried again either.

    Args:
        files: Problems with a `Model`.
        say: Takes a line while facts are found anew.

    Raises:
        MissingTool: torch is not installed, and facts are not remembered.
    """
    torch = torch_version()
    keys = {file: key_of(file, torch) for file in files}
    found = {file: _remembered(keys[file]) for file in files}
    lacking, done = [file for file in files if found[file] is None], 0
    parts = [lacking[begin : begin + _AT_ONCE] for begin in range(0, len(lacking), _AT_ONCE)]
    if parts:
        say(f"counting {len(lacking)} problem{'s' if len(lacking) > 1 else ''}")
    running: set[int] = set()
    with ThreadPoolExecutor(min(_MOST_CHILDREN, os.cpu_count() or 1)) as children:
        begun = {children.submit(_fresh, part, running): part for part in parts}
        try:
            for one in as_completed(begun):
                for file, fact in zip(begun[one], one.result(), strict=True):
                    found[file] = fact
                    if fact.facts is not None or fact.cause in _KEPT:
                        cache.store(keys[file], fact.to_json())
                done += len(begun[one])
                say(f"counted {done} of {len(lacking)}")
        except BaseException:  # Ctrl-C among them: nobody waits for what was begun
            children.shutdown(wait=False, cancel_futures=True)
            while not all(one.done() for one in begun):
                for child in tuple(running):
                    with suppress(ProcessLookupError):
                        os.killpg(child, signal.SIGKILL)
                time.sleep(_POLL_S)  # one that began just now has no child yet
            raise
    return [replace(fact or FoundFacts(""), file=str(file.resolve())) for file, fact in found.items()]


def _remembered(key: str) -> FoundFacts | None:
    held = cache.load(key)
    if held is None:
        return None
    try:
        return read(FoundFacts, held, where="the cache")
    except KoptError:
        return None


def _fresh(files: Sequence[Path], running: set[int]) -> list[FoundFacts]:
    """Return the facts of a few files, found by a child whose id is in `running` meanwhile."""
    own: list[int] = []

    def started(_argv: tuple[str, ...], child: int, _ticks: int | None) -> None:
        own.append(child)
        running.add(child)

    with owned_folder("kb-bounds-") as folder:
        command = [sys.executable, "-P", "-m", "kopt_kb.packs.problem_sets.bounds.child"]
        limits = ChildLimits(wall_s=_WALL_S, resident_bytes=_MEMORY_BYTES, printed_bytes=_SAID_BYTES)
        env = environment({"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}, ours=True)
        feed = "".join(f"{one.resolve()}\n" for one in files).encode()
        try:
            done = run(command, env=env, folder=folder, limits=limits, feed=feed, started=started)
        finally:
            running.difference_update(own)
    lines = done.stdout.splitlines()
    answers = []
    for at, file in enumerate(files):
        try:
            answers.append(read(FoundFacts, parse(lines[at], where="the problem"), where="the problem"))
        except (KoptError, IndexError):
            answers.append(FoundFacts(str(file), None, "", f"the process that counts it ended: {done.last_line[:200]}"))
    return answers
