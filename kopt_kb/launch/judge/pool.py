"""Several devices behind the one judge that the loop knows: all of them rank, the first alone decides."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.judge.channel import JUDGE, REFERENCE, ProcessChannel
from kopt_kb.launch.judge.judges import Starting
from kopt_kb.launch.judge.judging import Checked, Contested, JudgeDevice, Judging, Profile, Timed
from kopt_kb.launch.judge.ranking import RankingWorker

__all__ = ["DevicePool", "pinned", "visible"]

_VISIBLE = "CUDA_VISIBLE_DEVICES"


def visible(device: str) -> str:
    """Return what CUDA calls a device that a user counts among those that this process sees.

    Args:
        device: A number from 0, or a name that CUDA understands, such as `GPU-…`.

    Raises:
        BadInput: This process does not see so many.
    """
    seen = os.environ.get(_VISIBLE)
    if not device.isascii() or not device.isdigit() or seen is None:
        return device
    names = [one.strip() for one in seen.split(",") if one.strip()]
    if int(device) >= len(names):
        fix = f"{_VISIBLE}={seen!r} shows {len(names)}"
        raise BadInput(f"device {device} is not visible", where="kb tune", fix=fix, code="KB104")
    return names[int(device)]


def pinned(device: str) -> Starting:
    """Return how judge and reference of one device are started: processes that see no other."""
    more = {_VISIBLE: visible(device)}
    return Starting(
        lambda: ProcessChannel(JUDGE, f"judge on device {device}", more),
        lambda: ProcessChannel(REFERENCE, f"reference on device {device}", more),
        env=more,
    )


class DevicePool:
    """A judge with helpers: what decides is done by the first device, helpers rank configurations of a search.

    Args:
        first: Checks, times, holds contests, profiles.
        more: Helpers, one a device; they may be on other machines.
    """

    def __init__(self, first: Judging, more: Sequence[RankingWorker]) -> None:
        self._first, self._more = first, tuple(more)
        self._is_known = False

    @property
    def workers(self) -> tuple[RankingWorker, ...]:
        """All devices, the deciding one first."""
        return (self._first, *self._more)

    @property
    def pid(self) -> int:
        """A process of the deciding device."""
        return self._first.pid

    @property
    def faults(self) -> int:
        """Children of the deciding device that went so far."""
        return self._first.faults

    def machine(self, ends_at: float = math.inf) -> JudgeDevice:
        """Return the deciding device; helpers have to be other ones of the same product.

        Raises:
            MissingTool: A device is not there.
            BadInput: A helper is another product, or the same device again.
        """
        if self._is_known:
            return self._first.machine(ends_at)
        with ThreadPoolExecutor(len(self.workers)) as threads:
            found: list[JudgeDevice] = list(threads.map(lambda one: one.machine(ends_at), self.workers))
        first, *more = found
        for number, one in enumerate(more, 1):
            if one.name != first.name:
                what = f"device {number} is a {one.name}, the first a {first.name}: their times rank nothing"
                raise BadInput(what, where="kb tune", fix="name devices of one product", code="KB104")
        uuids = [one.uuid for one in (first, *more)]
        if len(set(uuids)) < len(uuids):
            what = f"{len(uuids)} devices are named, and they are {len(set(uuids))}"
            raise BadInput(what, where="kb tune", fix="name each device once", code="KB104")
        self._is_known = True
        return first

    def check(self, record: Path, reference: Path, checks: int, ends_at: float) -> Checked:
        """Check on the deciding device."""
        return self._first.check(record, reference, checks, ends_at)

    def time(
        self, records: Sequence[Path], reference: Path, launches: int, ends_at: float, *, again: bool = False
    ) -> list[Timed]:
        """Time on the deciding device."""
        return self._first.time(records, reference, launches, ends_at, again=again)

    def contest(
        self, sides: Mapping[str, Mapping[str, Path]], reference: Path, threshold: float, ends_at: float
    ) -> Contested:
        """Hold a contest on the deciding device."""
        return self._first.contest(sides, reference, threshold, ends_at)

    def profile(self, record: Path, reference: Path, ends_at: float) -> Profile:
        """Profile on the deciding device."""
        return self._first.profile(record, reference, ends_at)

    def close(self) -> None:
        """End all devices' processes."""
        for one in self.workers:
            one.close()
