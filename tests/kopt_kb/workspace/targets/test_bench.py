"""Records are judged under every roof, and never called met when they can't be judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.journal.setup_events import EnvironmentRecorded
from kopt_kb.workspace.targets.bench import BenchReport, RecordSource, bench_report, why_not_judged
from kopt_kb.workspace.targets.conditions import AboveCeilingError
from kopt_kb.workspace.workspace import Workspace

AMOUNT = {"8192x4096": 134_225_920, "1024x512": 2_098_176}
MACHINE = EnvironmentRecorded("NVIDIA T10 48GB", None, None, {}, {}, "ab" * 32)


def source(rates_per_s: dict[str, float], device: str = "NVIDIA T10 48GB") -> RecordSource:
    """Records whose kernel moves its bytes at these rates."""
    records = {
        shape: Measured(f"m:{shape}", "v1", shape, 9, AMOUNT[shape] / rate, {}, "r", 4)
        for shape, rate in rates_per_s.items()
    }
    return RecordSource("round", "v1", 1, "", records, replace(MACHINE, device=device))


def report(workspace: Workspace, *rates_per_s: float, product: str = "T10", **more: str) -> BenchReport:
    """The report of as many shapes as there are rates; the target is 1.8 of 2.0 TB/s."""
    found = source(dict(zip(AMOUNT, rates_per_s, strict=False)), more.get("device", "NVIDIA T10 48GB"))
    return bench_report(workspace.state(), found, product, more.get("scope", "aggregate"), "here")  # type: ignore[arg-type]


def test_shares_of_every_roof(workspace: Workspace) -> None:
    """1.9 of 2.0 TB/s is 95 %; the fp32 engine's share follows from the same time; ratio 1.9 / 1.8."""
    found = report(workspace, 1.9e12, 1.85e12)
    first = found.shapes[0]
    roofs = {one.name: one for one in first.roofs}
    assert roofs["dram"].documented_share == pytest.approx(0.95)
    assert roofs["fp32 vector"].documented_share == pytest.approx(roofs["fp32 vector"].achieved_per_s / 25.6e12)
    assert (first.bound, first.limiter, first.record.id) == ("memory", "dram", "m:8192x4096")
    assert found.evaluation is not None
    assert found.evaluation.judged[0].ratio == pytest.approx(1.9 / 1.8)
    assert found.verdict == "met"


def test_the_scope_decides(workspace: Workspace) -> None:
    """1.9 and 1.75 TB/s meet the aggregate and not every shape; a shape without a record meets neither."""
    assert report(workspace, 1.9e12, 1.75e12).verdict == "met"
    assert report(workspace, 1.9e12, 1.75e12, scope="every_shape").verdict == "unmet"
    assert report(workspace, 1.9e12).verdict == "unmet"


def test_below_any_floor_is_an_error(workspace: Workspace) -> None:
    """Faster than what is read at the rate of device memory names the record, whatever the other shapes do."""
    with pytest.raises(AboveCeilingError, match=r"m:1024x512.*less than its floor of 524\.8 ns") as caught:
        report(workspace, 1.0e12, 4.1e12)
    assert caught.value.error_code == "KB312"


@pytest.mark.parametrize(
    ("device", "product", "words"),
    [
        ("simulator", "", "simulated"),
        ("NVIDIA T10 Pro", "T10_PRO", "which is T10_PRO; the conditions are for T10"),
        ("NVIDIA T99", "", "a name no page of the wiki has"),
    ],
)
def test_what_can_not_be_judged_is_never_met(workspace: Workspace, device: str, product: str, words: str) -> None:
    """Times stay, shares and conditions don't; even above the roof nothing is compared."""
    found = report(workspace, 9e12, 9e12, product=product, device=device)
    assert (found.verdict, found.evaluation, [one.roofs for one in found.shapes]) == ("not evaluable", None, [(), ()])
    assert words in found.why_not
    data = found.to_json()
    assert (data["conditions"], data["verdict"]) == (None, "not evaluable")
    assert words in data["reason"]


def test_the_right_device_is_judged() -> None:
    """Nothing stands in the way."""
    assert why_not_judged(source({}), "T10", "T10") == ""


def test_unknown_targets_are_never_met(workspace: Workspace) -> None:
    """With one target UNKNOWN the rest decides only against; with none known it is unknown."""
    state = workspace.state()
    assert state.targets is not None
    first = replace(state.targets, targets=state.targets.targets[:1])
    state.targets = first
    found = source({"8192x4096": 1.9e12, "1024x512": 1.9e12})
    one = bench_report(state, found, "T10", "aggregate")
    assert (one.verdict, one.unknown) == ("unknown", ("1024x512",))
    slow = bench_report(state, source({"8192x4096": 1.0e12}), "T10", "aggregate")
    assert slow.verdict == "unmet"
    state.targets = replace(first, targets=())
    assert bench_report(state, found, "T10", "aggregate").verdict == "unknown"
