"""Makers of launch records: warm children that import torch and triton once and fork for each request.

A maker runs the user's code and is trusted with nothing: it answers with bytes in the record's schema, under limits of
size, time and memory, and the code objects it leaves are hashed again before they are kept.
"""

from __future__ import annotations

import hashlib
import os
import queue
import secrets
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType

from kopt_kb.base.error_codes import Code, PackCode
from kopt_kb.base.errors import BadInput, FindingError, KoptError, MissingTool
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.doors.causes import known_code
from kopt_kb.launch.compile.pool import elsewhere
from kopt_kb.launch.record.bounds import MAX_CODE_BYTES, check_code, check_record
from kopt_kb.launch.record.judge import OBJECTS, RECORD
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.launch.record.request import MakerAnswer, MakerRequest, OpRequest
from kopt_kb.launch.record.serve import MAX_ANSWER_BYTES, READY, MakerJob, Reply
from kopt_kb.launch.record.statics import STATICS, Statics
from kopt_kb.sandbox.isolation import Isolation
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.sandbox.process import environment
from kopt_kb.sandbox.talk import Silent, Talk

__all__ = ["Made", "Makers", "NotRecordedError", "make_record", "make_records"]

_MODULE = "kopt_kb.launch.record.maker"
_MAKER = (sys.executable, "-P", "-m", _MODULE)
_MAKER_S, _START_S, _GRACE_S = 300.0, 120.0, 10.0
"""Seconds for one record, for a maker's imports, and that a maker may be late with what it has measured itself."""
_MEMORY_BYTES = 16 << 30
_MOST, _NICE, _STEP_S = 16, 5, 0.1
"""Most makers; by how much those that make records ahead give way to judges; seconds between looks at the first."""
_REPLY_BYTES, _STATICS_BYTES = 1 << 16, 1 << 28

_KEPT = frozenset(
    {
        "CUDA_HOME", "CUDA_PATH", "KOPT_CODE", "KOPT_READABLE", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH",
        "PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "ROCM_PATH",
        "TRITON_CUOBJDUMP_PATH", "TRITON_NVDISASM_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "TRITON_PTXAS_PATH", "TZ",
        "VIRTUAL_ENV",
    }
)  # fmt: skip
"""Variables that a maker is given; the shell of whoever runs this may hold secrets."""


class NotRecordedError(FindingError):
    """The launcher could not be recorded; `what` is the launcher's own trouble."""

    code = "KB445"


@dataclass(frozen=True, slots=True)
class Made:
    """What became of one request.

    Attributes:
        record: The record, stored in `folder`; None when there is none.
        error: Why there is none.
        folder: Where it was to be stored.
        seconds: Wall time without waiting for a maker.
        isolation: What the process that imported the candidate was held by.
    """

    folder: Path
    record: LaunchRecord | None = None
    error: KoptError | None = None
    seconds: float = 0.0
    isolation: Isolation = field(default_factory=Isolation)

    def stored(self) -> LaunchRecord:
        """Return the record, or raise why there is none."""
        if self.record is None:
            raise self.error or NotRecordedError("the maker answered nothing", where="kb record")
        return self.record


class Makers:
    """A few warm makers; a context manager. They start with their first request, or with `warm`.

    Args:
        count: How many; 0: as many as there are cores, at most sixteen.
        wall_s: Seconds for one record.
        memory_bytes: Memory of all processes of one request together.
        python: Their interpreter, whose own packages come first; empty: this one.
    """

    def __init__(
        self, count: int = 0, *, wall_s: float = 0.0, memory_bytes: int = _MEMORY_BYTES, python: str = ""
    ) -> None:
        number = count or min(_MOST, len(os.sched_getaffinity(0)))
        self._makers = [_Maker(wall_s or _MAKER_S, memory_bytes, python) for _ in range(number)]
        self._free: queue.LifoQueue[_Maker] = queue.LifoQueue()
        for one in reversed(self._makers):
            self._free.put(one)
        self._ended = threading.Event()
        self._following: threading.Thread | None = None

    def __enter__(self) -> Makers:
        """Return the makers."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End them."""
        self.close()

    def close(self) -> None:
        """End all makers, what they are doing included."""
        self._ended.set()
        if self._following is not None:
            self._following.join()
        for one in self._makers:
            one.stop()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._makers)

    def warm(self) -> None:
        """Start them now; they import while this process does something else.

        The first alone, and the others once it is warm: as many imports at once as there are cores take each other
        and the judges twice their time, and nothing can be judged before the first record is there.
        """
        self._makers[0].start()
        self._following = threading.Thread(target=self._follow, daemon=True)
        self._following.start()

    def _follow(self) -> None:
        end = time.monotonic() + _START_S
        while not self._makers[0].is_warm(_STEP_S) and time.monotonic() < end and not self._ended.is_set():
            pass
        for one in self._makers[1:]:
            if self._ended.is_set():
                return
            with suppress(OSError):  # whoever asks it for a record says so
                one.start(_NICE)

    def make(self, request: MakerRequest, out: Path) -> Made:
        """Record one launcher into a folder that does not exist; a failure is a result."""
        maker = self._free.get()
        try:
            return maker.make(request, out)
        finally:
            self._free.put(maker)

    def each(self, asked: Sequence[tuple[MakerRequest, Path]]) -> Iterator[tuple[int, Made]]:
        """Yield (position, what became of it) of requests as they end, all makers side by side."""
        jobs: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in range(len(asked)):
            jobs.put(number)
        made: queue.SimpleQueue[tuple[int, Made]] = queue.SimpleQueue()

        def serve() -> None:
            while True:
                try:
                    number = jobs.get_nowait()
                except queue.Empty:
                    return
                made.put((number, self.make(*asked[number])))

        for _ in range(min(len(asked), len(self._makers))):
            threading.Thread(target=serve, daemon=True).start()
        try:
            for _ in asked:
                yield made.get()
        finally:  # whoever stops asking has no use for the rest
            while not jobs.empty():
                jobs.get()

    def make_all(self, asked: Sequence[tuple[MakerRequest, Path]]) -> list[Made]:
        """Return what became of each request, in order."""
        made = dict(self.each(asked))
        return [made[number] for number in range(len(asked))]


class _Maker:
    """One warm child, started when needed, replaced after whatever it did not answer."""

    def __init__(self, wall_s: float, memory_bytes: int, python: str) -> None:
        self._wall_s, self._memory_bytes = wall_s, memory_bytes
        self._python = python
        self._files, self._lock = ExitStack(), threading.Lock()
        self._talk: Talk | None = None
        self._folder = Path()
        self._is_ready = False

    def is_warm(self, timeout_s: float) -> bool:
        """Return whether the child has said that it is warm, or is gone, after waiting for that."""
        with self._lock:
            talk = self._talk
        return talk is None or self._is_ready or talk.is_heard(timeout_s)

    def start(self, nice: int = 0) -> Talk:
        """Return the running child; one that has to be started gives way to others by so much."""
        with self._lock:
            if self._talk is None:
                self._folder = self._files.enter_context(owned_folder("kb-record-"))
                more = {name: str(self._folder) for name in ("HOME", "TMPDIR", "TRITON_CACHE_DIR")}
                env = environment({**more, "CUDA_VISIBLE_DEVICES": ""}, keep=_KEPT, ours=True)
                self._talk, self._is_ready = (
                    Talk(elsewhere(self._python, _MODULE) if self._python else _MAKER, env=env),
                    False,
                )
                if nice:
                    with suppress(OSError):
                        own = os.getpriority(os.PRIO_PROCESS, 0)
                        os.setpriority(os.PRIO_PROCESS, self._talk.child.pid, min(own + nice, 19))
            return self._talk

    def stop(self) -> None:
        """End the child with all it started, and remove its files."""
        with self._lock:
            talk, self._talk = self._talk, None
            if talk is not None:
                talk.end()
                self._files.close()

    def make(self, request: MakerRequest, out: Path) -> Made:
        begin, isolation = time.monotonic(), Isolation()
        folder: Path | None = None
        try:
            if out.exists():
                what, fix = "exists already", "name a new folder; nothing is overwritten"
                raise BadInput(what, where=str(out), fix=fix, code="KB113")
            talk = self.start()
            folder = self._folder / secrets.token_hex(4)
            folder.mkdir()
            reply, body = self._asked(talk, replace(request, folder=str(folder)))
            isolation = reply.isolation
            record = _record_in(reply, body, self._wall_s)
            check_record(record, "the maker's answer")
            _asked_for(record, request)
            _store(record, folder, out)
            return Made(out, record, None, reply.seconds, isolation)
        except KoptError as error:
            return Made(out, None, error, time.monotonic() - begin, isolation)
        except OSError as error:
            what = f"nothing could be stored: {error.strerror or error}"
            refused = BadInput(what, where=str(out), code="KB113")
            return Made(out, None, refused, time.monotonic() - begin, isolation)
        finally:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    def _asked(self, talk: Talk, request: MakerRequest) -> tuple[Reply, bytes]:
        """Return the maker's reply; one that does not keep to the protocol is ended."""
        job = MakerJob(request, self._wall_s, self._memory_bytes)
        try:
            if not self._is_ready:
                said = talk.line(len(READY), _START_S)
                if said + b"\n" != READY:
                    raise Silent(f"begins with {said[:40]!r}")
                self._is_ready = True
            talk.say(canonical(job.to_json()) + b"\n", _GRACE_S)
            line = talk.line(_REPLY_BYTES, self._wall_s + _GRACE_S)
            reply = read(Reply, parse(line, where="the maker's reply"), where="the maker's reply")
            if not 0 <= reply.size <= MAX_ANSWER_BYTES:
                raise Silent(f"says more than {MAX_ANSWER_BYTES} bytes")
            return reply, talk.exactly(reply.size, _GRACE_S)
        except Silent as error:
            self.stop()
            raise NotRecordedError(f"the maker {error}", where="kb record") from error
        except KoptError:
            self.stop()
            raise


def _record_in(reply: Reply, body: bytes, wall_s: float) -> LaunchRecord:
    """Return the record of an answer; raises why there is none."""
    if reply.ended == "hang":
        what = f"the launcher ran longer than {wall_s:g} s, compilation included"
        raise NotRecordedError(what, where="kb record", fix="raise the limit of time (--run-s)")
    why = {"limit": f"more than {MAX_ANSWER_BYTES} bytes", "oom": "more memory than it may use", "crash": "no answer"}
    if reply.ended != "ok":
        raise NotRecordedError(f"the maker ended with {reply.status}: {why[reply.ended]}", where="kb record")
    answer = read(MakerAnswer, parse(body, where="the maker's answer"), where="the maker's answer")
    refusal = answer.refusal
    if refusal is not None:
        kind = MissingTool if refusal.code == "KB120" else NotRecordedError
        raise kind(refusal.what, where=refusal.where, fix=refusal.fix, code=_cause(refusal.code))
    if answer.record is None:
        raise NotRecordedError("the maker answered nothing", where="kb record")
    return answer.record


def make_record(request: MakerRequest, out: Path, wall_s: float = 0.0) -> LaunchRecord:
    """Record a launcher in a child process and store the record; the folder must not exist.

    Args:
        request: What to record; its `folder` is replaced by one of the maker's own.
        out: Where `record.json` and `objects/` go.
        wall_s: Most seconds that the launcher may take, compilation included; 0: five minutes.

    Raises:
        BadInput: `out` exists, or the request names something that is not there.
        NotRecordedError: The launcher fails, launches nothing, or answers with what is no record.
        MissingTool: Triton or torch is not installed.
    """
    with Makers(1, wall_s=wall_s) as makers:
        return makers.make(request, out).stored()


def make_records(asked: Sequence[tuple[MakerRequest, Path]], makers: Makers | None = None) -> list[Made]:
    """Record several launchers side by side, each into a folder of its own; one that fails is a result.

    Args:
        asked: Requests and where their records go.
        makers: Warm ones; None: new ones, for these requests alone.
    """
    if makers is not None:
        return makers.make_all(asked)
    with Makers(min(len(asked), _MOST, len(os.sched_getaffinity(0)))) as own:
        return own.make_all(asked)


def _asked_for(record: LaunchRecord, request: MakerRequest) -> None:
    """Refuse a record that claims another problem than the one that was asked for."""
    what = request.what
    asked = (what.shape, what.dtype) if isinstance(what, OpRequest) else ((), "")
    op_of_a_call = bool(record.op) and not isinstance(what, OpRequest)
    if (record.shape, record.dtype) != asked or record.target != request.target or op_of_a_call:
        claimed = f"{record.op} {record.shape} {record.dtype} for {record.target}".strip()
        raise NotRecordedError(f"the maker answers for another problem: {claimed}", where="kb record")


def _cause(word: str) -> Code | PackCode:
    """Return the code that a maker gave as the cause; one that does not exist is the launcher's failure too."""
    try:
        return known_code(word)
    except ValueError:
        return NotRecordedError.code


def _store(record: LaunchRecord, made: Path, out: Path) -> None:
    """Write the record with its code objects, whose bytes are hashed again: the maker only claimed their names."""
    partial = out.with_name(f".{out.name}.{secrets.token_hex(4)}")
    (partial / OBJECTS).mkdir(parents=True)
    try:
        for digest, size in record.codes.items():
            source = made / digest
            if source.is_symlink() or not source.is_file() or source.stat().st_size > MAX_CODE_BYTES:
                raise NotRecordedError(f"no code object {digest[:12]}", where="kb record", code="KB455")
            code = source.read_bytes()
            if len(code) != size or hashlib.sha256(code).hexdigest() != digest:
                raise NotRecordedError(
                    f"code object {digest[:12]} is not what its name says", where="kb record", code="KB455"
                )
            check_code(code, record.target, "the maker's answer")
            (partial / OBJECTS / digest).write_bytes(code)
        _store_statics(record, made / STATICS, partial / STATICS)
        (partial / RECORD).write_bytes(canonical(record.to_json()) + b"\n")
        partial.rename(out)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _store_statics(record: LaunchRecord, made: Path, out: Path) -> None:
    """Store what the maker claims of the launches' IR, where it was asked for."""
    if made.is_symlink() or not made.is_file():
        return
    if made.stat().st_size > _STATICS_BYTES:
        raise NotRecordedError(f"more than {_STATICS_BYTES} bytes of IR", where="kb record", code="KB455")
    told = read(Statics, parse(made.read_bytes(), where="the maker's IR"), where="the maker's IR")
    if not {one.code for one in told.launches} <= set(record.codes):
        raise NotRecordedError("the maker's IR is of no recorded code object", where="kb record", code="KB455")
    out.write_bytes(canonical(told.to_json()) + b"\n")
