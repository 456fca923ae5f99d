"""What launch records of a version say of its gap."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.analysis.gap.account import GapCase, account
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import canonical
from kopt_kb.launch.counts import launch_facts
from kopt_kb.launch.cuda.cubin import Cubin, CubinKernel
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.problem.work import work
from kopt_kb.tuning.recorded import records_of, with_launches
from kopt_kb.wiki.registry import Registry
from tests.kopt_kb.launch.small_record import small_record

REGISTRY = Registry.open()
SHAPE = "4097x4096x4096"
TILES: dict[str, object] = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch) -> LaunchRecord:
    """Returns two launches of 528 blocks of 128 threads with 168 registers: three are resident on an SM."""
    monkeypatch.setattr(launch_facts, "read_cubin", lambda *_: Cubin({"k": CubinKernel("k", registers=168)}, ()))
    made = small_record()
    (step,) = made.launches
    launch = replace(step, grid=(528, 1, 1), block=(128, 1, 1))
    return replace(made, op="gemm", shape=(4097, 4096, 4096), steps=(launch, launch))


def case(platform: str = "H200_SXM", shape: str = SHAPE) -> GapCase:
    """Return the case of a product at 1 ms, without a profile."""
    return GapCase(shape, 1e-3, (), REGISTRY.platform(platform), work("gemm", shape, "bf16"))


def test_grid_tiles_and_launches_with_their_sources(record: LaunchRecord) -> None:
    """528 blocks on 396 places are 1.33 waves, two of which are paid for; 33 x 16 tiles cover 4097 x 4096."""
    found = with_launches(case(), record, TILES, lambda _: b"")
    assert found.waves_loss_pct == pytest.approx(100 * (1 - 528 / 396 / 2))
    assert found.sources["waves_loss_pct"] == "528 blocks of the record, 3 resident on each of 132 SMs"
    assert found.padding == pytest.approx(33 * 128 / 4097)
    assert found.sources["padding"].startswith("33 x 16 tiles of 128x256x64 cover 4097x4096x4096")
    assert found.launches == 2
    assert found.empty_launch_s == pytest.approx(2.85e-6)
    assert "by events on H200_SXM (measured/h200_sxm.md:L" in found.sources["empty_launch_s"]
    gap = account(found)
    assert {"tile", "launch", "tail"} <= {one.cause for one in gap.parts}
    assert sum(one.share_pct for one in gap.parts) == pytest.approx(100.0)
    assert all(one.evidence[0].note for one in gap.parts[:-1])


def test_tiles_that_blocks_walk_have_waves_too(record: LaunchRecord) -> None:
    """528 tiles on 132 blocks that stay are four whole rounds; 561 are paid for as five."""
    steps = tuple(replace(one, grid=(132, 1, 1)) for one in record.launches)
    walked = replace(record, steps=steps)
    assert with_launches(case(shape="4224x4096x4096"), walked, TILES, lambda _: b"").waves_loss_pct == 0.0
    more = with_launches(case(shape="4225x4096x4096"), walked, {**TILES, "BLOCK_N": 256}, lambda _: b"")
    assert more.waves_loss_pct == pytest.approx(100 * (1 - 544 / 132 / 5))
    assert more.sources["waves_loss_pct"] == "544 tiles on 132 blocks of the record"


def test_what_is_not_known_is_left_out(record: LaunchRecord) -> None:
    """No record, no product, no tiles, a code object that was not kept; launches of another product never."""
    bare = with_launches(case(), None, {"BLOCK": 64}, lambda _: b"")
    assert (bare.waves_loss_pct, bare.padding, bare.launches) == (None, None, 1)
    assert bare.empty_launch_s is not None
    unknown = replace(case(), platform=None)
    assert with_launches(unknown, record, TILES, lambda _: b"") is unknown

    def lost(_: str) -> bytes:
        raise BadInput("no such blob", where="objects", code="KB113")

    assert with_launches(case(), record, TILES, lost).waves_loss_pct is None
    sister = with_launches(case("H100_SXM"), record, TILES, lambda _: b"")
    assert (sister.empty_launch_s, "empty_launch_s" in sister.sources) == (None, False)
    amd = with_launches(case("MI300X"), replace(record, target="gfx942"), TILES, lambda _: b"")
    assert (amd.waves_loss_pct, amd.empty_launch_s) == (None, None)


def test_records_are_those_that_the_last_check_rested_on() -> None:
    """By shape; what is no record is left to the audit."""
    blobs = {"a": canonical(replace(small_record(), shape=(8, 4)).to_json()), "b": b"{"}
    runs = [SimpleNamespace(finished=SimpleNamespace(records=one)) for one in ((), ("a", "b"))]
    runs.append(SimpleNamespace(finished=None))
    best: Any = SimpleNamespace(name="v1", attempts=lambda name, gate: runs if (name, gate) == ("v1", "check") else [])
    assert [*records_of(best, blobs.__getitem__)] == ["8x4"]
    none: Any = SimpleNamespace(name="v1", attempts=lambda *_: [])
    assert records_of(none, blobs.__getitem__) == {}
