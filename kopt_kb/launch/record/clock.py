"""What a judge's clock is made of: events, a flush of the last cache, clock probes, and work whose time is known."""

from __future__ import annotations

from dataclasses import dataclass

from kopt_kb.base.wire import Wire
from kopt_kb.launch.record.driver import Driver
from kopt_kb.launch.record.moves import Move

__all__ = ["BLOCK_BYTES", "DeviceBench", "Turn"]

BLOCK_BYTES = 2 << 20
"""Large allocations are multiples of this: below it several share a block, and an IPC handle opens the whole block."""

_PROBE_BYTES = 16
"""Bytes that a clock probe writes."""


@dataclass(frozen=True, slots=True)
class Turn(Wire):
    """What a turn gave, a value a launch.

    Attributes:
        times_s: Device time between the events around each launch; of a chain, of one of its launches.
        clocks_hz: Clock that the probe before each launch counted; 0 where there is no probe.
        whole_s: Device time from the first to the last thing enqueued for each launch.
        host_s: The host's time for the same, from the release to the end.
        touched: Faults: guard zones written, inputs changed that may not, zeroed scratch that is not zero.
        throttle: Why the device was slowed down at the end of the turn.
        empty_s: Device time of one kernel of the empty chain that was subtracted; 0 without a chain.
    """

    times_s: tuple[float, ...]
    clocks_hz: tuple[float, ...]
    whole_s: tuple[float, ...]
    host_s: tuple[float, ...]
    touched: tuple[str, ...] = ()
    throttle: tuple[str, ...] = ()
    empty_s: float = 0.0


class DeviceBench:
    """What all entries of a device share: flush buffer, probe results, flags, events."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.facts = driver.device()
        self._flush_bytes = 2 * self.facts.cache_bytes
        self._flush = driver.allocate(max(self._flush_bytes, BLOCK_BYTES))
        self.small = driver.allocate(4096)
        self.flag = self.small + 2048
        self.events = [driver.event() for _ in range(6)]
        self._warm_up()

    def _warm_up(self) -> None:
        """Do everything once that may stand behind a hold: what loads at its first use could wait for the device."""
        driver, place = self.driver, self.small
        for pattern in (b"\0", b"\0" * 2, b"\0" * 4):
            driver.fill(place, pattern, 8)
        driver.copy(place, place + 64, 64)
        if self.facts.probe:
            driver.probe(place)
            driver.mask(place, place + 64, 19, (1, 2))
            driver.differs(place, place + 64, 19, (1, 2), self.flag)
            driver.idle()
            driver.move(place, place + 64, Move(4, (2, 2), (2, 4), (4, 2), 4, 5))
        for event in self.events:
            driver.record(event)
        self.flush()
        driver.synchronize()

    def flush(self) -> None:
        """Enqueue writing twice the last cache."""
        self.driver.fill(self._flush, b"\0", self._flush_bytes)

    def probe(self) -> None:
        """Enqueue a clock probe, where there is one."""
        if self.facts.probe:
            self.driver.probe(self.small)

    def clock_hz(self) -> float:
        """Return what the last probe counted."""
        if not self.facts.probe:
            return 0.0
        raw = self.driver.read(self.small, _PROBE_BYTES)
        cycles, ns = (int.from_bytes(raw[at : at + 8], "little") for at in (0, 8))
        return cycles / ns * 1e9 if ns else 0.0

    def known(self, times: int) -> Turn:
        """Time the flush, whose work is known: after a fault it has to take what it took before."""
        driver, seconds, clocks, whole = self.driver, [], [], []
        for _ in range(times):
            begin = driver.now_s()
            self.probe()
            driver.record(self.events[0])
            self.flush()
            driver.record(self.events[1])
            driver.synchronize()
            whole.append(driver.now_s() - begin)
            seconds.append(driver.elapsed_s(*self.events[:2]))
            clocks.append(self.clock_hz())
        return Turn(tuple(seconds), tuple(clocks), tuple(whole), tuple(whole), throttle=driver.throttle())
