"""A maker that stays warm: it imports what every record needs once, then forks for each request.

Three processes with three roles. The first imports torch and triton and nothing of a candidate. For each request it
forks a keeper, which shares nothing with what comes next and holds the limits; the keeper forks the third, in
namespaces of its own where the machine has them, with a folder of its own as home, cache and temporary folder. That
one alone imports the candidate. When it ends, passes a limit or says too much, everything that it started is ended
before its answer is passed on.

One request a line of stdin (`MakerJob`); the reply is a line (`Reply`) and then as many bytes of the answer as it says.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from kopt_kb.base.wire import Wire, canonical, parse, read
from kopt_kb.launch.record.ended import LIMIT
from kopt_kb.launch.record.reads import read_by
from kopt_kb.launch.record.request import MakerRequest
from kopt_kb.sandbox.cage import Room, adopt_orphans, countable, end_all, enter, settle, unreadable
from kopt_kb.sandbox.canary import Canary
from kopt_kb.sandbox.cgroups import Group, new_group
from kopt_kb.sandbox.isolation import Isolation
from kopt_kb.sandbox.shown import named_by, packages
from kopt_kb.sandbox.watch import COUNTED, over

__all__ = ["MAX_ANSWER_BYTES", "READY", "MakerJob", "Reply", "serve"]

READY = b"ready\n"
"""What a maker says once, when it is warm."""

MAX_ANSWER_BYTES = 4 << 20
"""An answer of more bytes is none."""

_FILE_BYTES = 1 << 28
_STEP_S = 0.1
_CHUNK = 1 << 16
_PLACES = {"HOME": "home", "TMPDIR": "tmp", "TRITON_CACHE_DIR": "cache", "TORCHINDUCTOR_CACHE_DIR": "inductor"}
"""Variables that lead a launcher, and compilers that it asks, to folders of its own."""

Ended = Literal["ok", "crash", "hang", "oom", "limit"]


@dataclass(frozen=True, slots=True)
class MakerJob(Wire):
    """A request with its limits: wall time in seconds; memory in bytes, of all processes together."""

    request: MakerRequest
    wall_s: float
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Reply(Wire):
    """How a request ended.

    Attributes:
        ended: `ok`, or the limit that was passed, or `crash`.
        status: Exit status of the process that imported the candidate; negative: the signal that ended it.
        seconds: Wall time of the request, without waiting for its turn.
        isolation: What the process was held by.
        size: Bytes of the answer that follow.
    """

    ended: Ended
    status: int
    seconds: float
    isolation: Isolation
    size: int


def serve(asked: BinaryIO, answers: int, answer: Callable[[MakerRequest], Wire]) -> None:
    """Answer requests until there are no more.

    Args:
        asked: Requests, one a line.
        answers: Descriptor of the replies.
        answer: What makes an answer, in the process that may import a candidate.
    """
    packages()  # found once, for all requests
    unreadable()
    adopt_orphans()
    for line in asked:
        keeper = os.fork()
        if keeper == 0:
            status = 1
            with suppress(BaseException):
                _keep(read(MakerJob, parse(line, where="job"), where="job"), answers, answer)
                status = 0
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(keeper, 0)[1])
        end_all()
        if status:
            _reply(answers, Reply("crash", status, 0.0, Isolation(), 0), b"")


def _reply(answers: int, reply: Reply, body: bytes) -> None:
    left = memoryview(canonical(reply.to_json()) + b"\n" + body)
    while left:
        left = left[os.write(answers, left) :]


def _keep(job: MakerJob, answers: int, answer: Callable[[MakerRequest], Wire]) -> None:
    """Be the keeper of one request."""
    begin = time.monotonic()
    canary = None
    with suppress(OSError):
        canary = Canary([job.request.folder])
    group = new_group(job.memory_bytes)
    around = enter()
    if job.memory_bytes:
        around += Isolation((COUNTED,))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _confined(job, writing, answer, group, canary)
    os.close(writing)
    ended, said = _attended(child, reading, job, begin)
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    group.end()
    if canary is not None:
        canary.end()
    if not end_all():
        around = Isolation(around.held, {**around.missing, "processes": "some could not be ended"})
    first, _, body = said.partition(b"\n")
    if ended == "ok" and (status or not body):
        ended = "crash"
    with suppress(ValueError):
        inner = read(Isolation, json.loads(first), where="isolation")
        around += inner
    kept = body if ended == "ok" else b""
    _reply(answers, Reply(ended, status, time.monotonic() - begin, around, len(kept)), kept)


def _attended(child: int, reading: int, job: MakerJob, begin: float) -> tuple[Ended, bytes]:
    """Return how the child ended, or which limit it passed, and what it said."""
    os.set_blocking(reading, False)
    ending, said = os.pidfd_open(child), bytearray()
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    poll.register(ending, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll(_STEP_S * 1000)}
        chunk = _chunk(reading) if reading in ready or ending in ready else None
        said += chunk or b""
        if len(said) > MAX_ANSWER_BYTES:
            return "limit", b""
        if chunk == b"" and reading in ready:
            poll.unregister(reading)
        if ending in ready and not chunk:
            return "ok", bytes(said)
        if time.monotonic() - begin > job.wall_s:
            return "hang", b""
        if not ready and over([Path(job.request.folder)], job.memory_bytes, job.memory_bytes):
            return "oom", b""


def _chunk(reading: int) -> bytes | None:
    """Return what a pipe holds; empty at its end, None when it holds nothing now."""
    try:
        return os.read(reading, _CHUNK)
    except BlockingIOError:
        return None


def _confined(
    job: MakerJob, writing: int, answer: Callable[[MakerRequest], Wire], group: Group, canary: Canary | None
) -> None:
    """Be the process that imports the candidate."""
    status = 1
    try:
        os.dup2(writing, 3)
        os.closerange(4, os.sysconf("SC_OPEN_MAX"))
        os.set_inheritable(3, False)
        sys.stdin = open(os.devnull, encoding="ascii")  # noqa: SIM115, PTH123 - its old one holds requests
        os.dup2(sys.stdin.fileno(), 0)
        folder = Path(job.request.folder).resolve()
        for name, inner in _PLACES.items():
            (folder / inner).mkdir(exist_ok=True)
            os.environ[name] = str(folder / inner)
        tempfile.tempdir = None
        shown = (*packages(), *named_by(os.environ), *read_by(job.request))
        room = Room([folder], shown, memory_bytes=job.memory_bytes, file_bytes=_FILE_BYTES)
        countable()
        held = group.join(Isolation()) + settle(room, canary)
        os.write(3, canonical(held.to_json()) + b"\n")
        LIMIT.seconds, here = job.wall_s, os.getpid()
        left = memoryview(canonical(answer(job.request).to_json()))
        if os.getpid() != here:  # a copy that the candidate forked
            return
        while left:
            left = left[os.write(3, left) :]
        status = 0
    finally:
        os._exit(status)
