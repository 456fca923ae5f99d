"""The clock's parts: flush, probe, known work."""

from __future__ import annotations

from types import ModuleType

import pytest

from kopt_kb.launch.record.clock import DeviceBench


def test_known_work_takes_its_time(fake: ModuleType) -> None:
    """The same again, unless the clock changed."""
    world = fake.World()
    bench = DeviceBench(fake.FakeDriver(world))
    first = bench.known(5)
    assert len(first.times_s) == 5
    assert first.times_s == pytest.approx((1e-6,) * 5)
    assert first.clocks_hz == pytest.approx((1.7e9,) * 5, rel=1e-3)
    world.steps = ((0.0, 1.25),)
    world.throttle = ("power brake",)
    second = bench.known(5)
    assert second.times_s == pytest.approx((1.25e-6,) * 5)
    assert second.clocks_hz == pytest.approx((1.36e9,) * 5, rel=1e-3)
    assert second.throttle == ("power brake",)


def test_no_probe_is_zero(fake: ModuleType) -> None:
    """And neither is a probe whose timer stood still."""
    assert DeviceBench(fake.FakeDriver(probe=False)).known(1).clocks_hz == (0.0,)
    bench = DeviceBench(fake.FakeDriver())
    bench.driver.write(bench.small, bytes(16))
    assert bench.clock_hz() == 0.0
