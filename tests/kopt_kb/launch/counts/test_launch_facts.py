"""What recorded launches take of a device, read from their code objects."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.launch.counts import launch_facts as module
from kopt_kb.launch.counts.launch_facts import LaunchFacts, launch_facts
from kopt_kb.launch.cuda.cubin import Cubin, CubinKernel
from tests.kopt_kb.launch.counts.test_launch_limits import LIMITS
from tests.kopt_kb.launch.small_record import small_record

SMS = 132


@pytest.fixture
def cubin(monkeypatch: pytest.MonkeyPatch) -> dict[str, CubinKernel]:
    """Returns the kernels that every code object is said to hold."""
    entries = {
        "k": CubinKernel("k", registers=168, stack_bytes=8, shared_bytes=1024),
        "light": CubinKernel("light", registers=32),
    }
    monkeypatch.setattr(module, "read_cubin", lambda *_: Cubin(entries, ()))
    return entries


def facts(*launches: dict[str, object]) -> LaunchFacts | None:
    """Return the facts of a record with such launches."""
    record = small_record()
    (first,) = record.launches
    steps = tuple(replace(first, **one) for one in launches)  # type: ignore[arg-type]
    return launch_facts(replace(record, steps=steps), lambda _: b"", LIMITS)


def test_a_launch_by_its_code_object_and_the_limits(cubin: dict[str, CubinKernel]) -> None:
    """168 registers x 256 threads fit once into 65536: 8 of 64 warps; 300 blocks are 2.27 waves of 132."""
    found = facts({"block": (256, 1, 1), "grid": (100, 3, 1), "shared_bytes": 2048})
    assert found is not None
    assert (found.registers, found.stack_bytes, found.shared_bytes) == (168, 8, 3072)
    assert (found.blocks_per_sm, found.occupancy_pct, found.blocks) == (1, 12.5, 300)
    assert found.waves(SMS) == pytest.approx(300 / 132)
    assert found.grid_loss_pct(SMS) == pytest.approx(100 * (1 - 300 / 132 / 3))
    assert any("registers_per_sm=65536" in one for one in found.limits)


def test_of_several_launches_the_worst(cubin: dict[str, CubinKernel]) -> None:
    found = facts({"block": (256, 1, 1), "grid": (4, 1, 1)}, {"entry": "light", "grid": (900, 1, 1)})
    assert found is not None
    assert (found.registers, found.blocks_per_sm, found.occupancy_pct, found.blocks) == (168, 1, 12.5, 900)


def test_what_is_not_known_is_none(cubin: dict[str, CubinKernel]) -> None:
    """No launch, a kernel that its code does not hold, another vendor's code; no SMs, no residency."""
    assert facts() is None
    assert facts({"entry": "other"}) is None
    assert launch_facts(replace(small_record(), target="gfx942"), lambda _: b"", LIMITS) is None
    unfit = facts({"block": (1024, 1, 1)})
    assert unfit is not None
    assert (unfit.blocks_per_sm, unfit.waves(SMS), unfit.grid_loss_pct(SMS)) == (0, None, None)
    found = facts({})
    assert found is not None
    assert found.waves(None) is None
