"""GPUs of a Ray cluster that rank records: one actor a GPU, which is pinned to it and judges as a process here does.

A record is plain data, so its bytes travel; nothing has to be shared but this package. No candidate's Python runs on
the cluster. An actor that dies is started anew once, its record is tried again; one that dies again takes no more.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import BadInput, FindingError, KoptError, MissingTool
from kopt_kb.launch.judge.device import DeviceJudging
from kopt_kb.launch.judge.judging import JudgeDevice, Timed
from kopt_kb.launch.judge.ranking import RankingWorker, WorkerGoneError
from kopt_kb.launch.record.judge import OBJECTS, RECORD
from kopt_kb.sandbox.deadline import LATE_S, left_s
from kopt_kb.sandbox.owned import owned_folder

__all__ = ["RayWorker", "ray_workers"]

_STARTS = 2
_ANSWER_S = 30.0
"""Seconds that an answer may be late: bytes travel."""
_START_S = 300.0

Bytes = Mapping[str, bytes]
"""Name → content of the files of one record."""


class _Actor:
    """What runs on a GPU of the cluster."""

    def __init__(self, made: Callable[[], RankingWorker]) -> None:
        self._worker = made()
        self._held = owned_folder("kb-cluster-")
        self._folder = self._held.__enter__()

    def machine(self) -> tuple[str, str, str]:
        found = self._worker.machine()
        return found.name, found.uuid, found.driver

    def time(
        self, records: Sequence[Bytes], reference: bytes, launches: int, seconds: float, again: bool
    ) -> tuple[list[tuple[tuple[float, ...], str]], int]:
        """Return times and problem of each record, and how many children went so far."""
        folders = [self._stored(one) for one in records]
        file = self._folder / hashlib.sha256(reference).hexdigest() / "reference.py"
        if not file.is_file():
            file.parent.mkdir()
            file.write_bytes(reference)
        found = self._worker.time(folders, file, launches, time.monotonic() + seconds, again=again)
        return [(one.times_s, one.problem) for one in found], self._worker.faults

    def _stored(self, files: Bytes) -> Path:
        folder = self._folder / hashlib.sha256(files[RECORD]).hexdigest()
        if not folder.is_dir():
            (folder / OBJECTS).mkdir(parents=True)
            for name, data in files.items():
                (folder / name).write_bytes(data)
        return folder

    def close(self) -> None:
        self._worker.close()
        self._held.__exit__(None, None, None)


class RayWorker:
    """One GPU of a cluster, as `Ranking` knows it.

    Args:
        start: Starts an actor and returns its handle.
        ray: The module.
    """

    def __init__(self, start: Callable[[], Any], ray: Any) -> None:
        self._start, self._ray = start, ray
        self._actor: Any = None
        self._starts = 0
        self.faults = 0

    def machine(self, ends_at: float = math.inf) -> JudgeDevice:
        """Return the device, on an actor that is started where none is there."""
        return JudgeDevice(*self._asked("machine", left_s(ends_at, _START_S)))

    def time(
        self, records: Sequence[Path], reference: Path, launches: int, ends_at: float, *, again: bool = False
    ) -> list[Timed]:
        """Time records there; see `RankingWorker.time`."""
        files, limit_s = [_bytes_of(one) for one in records], left_s(ends_at)
        found, self.faults = self._asked(
            "time", limit_s + LATE_S, files, reference.read_bytes(), launches, limit_s, again
        )
        return [Timed(tuple(times_s), problem) for times_s, problem in found]

    def _asked(self, method: str, limit_s: float, *words: object) -> Any:
        actor, errors = self._running(), self._ray.exceptions
        try:
            return self._ray.get(getattr(actor, method).remote(*words), timeout=limit_s)
        except errors.GetTimeoutError as error:
            self._ended()
            raise WorkerGoneError(f"no answer in {limit_s:.0f} s", where="cluster") from error
        except errors.RayTaskError as error:
            raise _cause(error) from error
        except errors.RayError as error:
            self._ended()
            raise WorkerGoneError(f"the actor is gone: {type(error).__name__}", where="cluster") from error

    def _running(self) -> Any:
        if self._actor is None:
            if self._starts >= _STARTS:
                raise FindingError(f"the actor went {_STARTS} times", where="cluster", code="KB457")
            self._starts += 1
            self._actor = self._start()
        return self._actor

    def _ended(self) -> None:
        actor, self._actor = self._actor, None
        if actor is not None:
            self._ray.kill(actor)

    def close(self) -> None:
        """End the actor with its judges."""
        if self._actor is not None:
            with suppress(self._ray.exceptions.RayError):
                self._ray.get(self._actor.close.remote(), timeout=_ANSWER_S)
            self._ended()


def _bytes_of(folder: Path) -> dict[str, bytes]:
    names = [RECORD, *(f"{OBJECTS}/{one.name}" for one in sorted((folder / OBJECTS).iterdir()))]
    return {name: (folder / name).read_bytes() for name in names}


def _cause(error: Any) -> Exception:
    """Return what an actor raised, as this process would have."""
    cause = error.cause
    if isinstance(cause, KoptError | TimeoutError):
        return cause
    return WorkerGoneError(str(cause).splitlines()[-1][:200] if str(cause) else "failed", where="cluster")


def ray_workers(address: str, made: Callable[[], RankingWorker] = DeviceJudging, gpus: int = 0) -> list[RayWorker]:
    """Return a worker for each GPU of a cluster.

    Args:
        address: `local` starts one on this machine, `auto` takes the one that runs here, else its address.
        made: Makes the judge of an actor.
        gpus: How many; 0: as many as the cluster has.

    Raises:
        MissingTool: Ray is not installed, or the cluster has no GPU.
        BadInput: There is no cluster at that address.
    """
    try:
        import ray
    except ImportError as error:
        fix = "install kopt-kb with its extra [cluster], or ray"
        raise MissingTool("ray is not installed", where="kb tune", fix=fix, code="KB120") from error
    if not ray.is_initialized():
        where = {} if address == "local" else {"address": address}
        try:
            ray.init(**where, log_to_driver=False, include_dashboard=False, configure_logging=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            what = f"no cluster at {address}: {str(error).splitlines()[0][:200]}"
            raise BadInput(what, where="kb tune", fix="start one with ray start --head", code="KB104") from error
    count = gpus or int(ray.cluster_resources().get("GPU", 0))
    if not count:
        raise MissingTool("the cluster has no GPU", where="kb tune", fix="add a node with one", code="KB122")
    actor: Any = ray.remote(num_gpus=1, max_restarts=0)(_Actor)
    return [RayWorker(partial(actor.remote, made), ray) for _ in range(count)]
