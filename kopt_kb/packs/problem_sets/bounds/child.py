"""The main program of a child that establishes facts of many problems: torch is loaded once, each problem is a fork.

Gets one path a line on stdin and answers with one `FoundFacts` a line, in that order. What a problem's own code does to
its process ends with the fork; the answer comes through a pipe of its own.
"""

from __future__ import annotations

import logging
import os
import resource
import select
import signal
import sys
import time
import warnings
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import canonical
from kopt_kb.packs.problem_sets.bounds.established import established
from kopt_kb.packs.problem_sets.bounds.facts import FoundFacts

__all__ = ["fact_of", "main"]

_WALL_S, _CPU_S = 900.0, 150
"""Of one problem: seconds of the clock, and of a processor, which a busy machine does not shorten."""
_MOST_BYTES = 16 << 20


def main() -> None:
    """Answer for each path on stdin."""
    _warm()
    for line in sys.stdin.read().splitlines():
        sys.stdout.write(_forked(line) + "\n")
        sys.stdout.flush()


def _warm() -> None:
    """Load what torch loads at its first trace, once for all forks; nothing is computed, so that no thread starts."""
    with FakeTensorMode():
        make_fx(lambda x: x.exp(), tracing_mode="real")(torch.empty(2))


def _forked(file: str) -> str:
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        _answer(file, writing)
    os.close(writing)
    said, until = bytearray(), time.monotonic() + _WALL_S
    while (left := until - time.monotonic()) > 0 and len(said) < _MOST_BYTES:
        if not select.select([reading], [], [], left)[0]:
            break
        part = os.read(reading, 1 << 16)
        if not part:
            break
        said += part
    os.close(reading)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    text = bytes(said).decode(errors="replace")
    if text.endswith("\n") and text.count("\n") == 1:
        return text.rstrip("\n")
    what = "the problem ends the process that runs it"
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        what = f"tracing it takes more than {_CPU_S} s of a processor"
    elif time.monotonic() >= until:
        what = f"tracing it takes more than {_WALL_S:g} s"
    return canonical(FoundFacts(file, None, "KB086", what).to_json()).decode()


def _answer(file: str, writing: int) -> None:
    """Write the answer of one problem and end this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S + 5))
    devnull = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(devnull, number)
    try:
        text = canonical(fact_of(file).to_json()) + b"\n"
        while text:
            text = text[os.write(writing, text) :]
    finally:
        os._exit(0)


def fact_of(file: str) -> FoundFacts:
    """Return the facts of a file, or why there are none; what its own code raises is an answer."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    try:
        return FoundFacts(file, established(Path(file)))
    except KoptError as error:
        return FoundFacts(file, None, error.error_code, error.what)
    except ImportError as error:
        return FoundFacts(file, None, "KB120", f"the problem imports {error.name or error}, which is not installed")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's file may raise anything
        text = " ".join(str(error).split())[:300]
        return FoundFacts(file, None, "KB084", f"it can't be traced: {type(error).__name__}: {text}")


if __name__ == "__main__":
    main()
