"""Shares of roofs by times that are given, and times against earlier ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kopt_kb import Registry
from kopt_kb.base.errors import BadInput, FindingError, MissingTool, UnknownData
from kopt_kb.packs.inline.shares import Baseline, TimedShare, roof_share, seconds_of

WORK: dict[str, Any] = {"platform": "H20", "op": "rms_norm", "shape": "8192x4096", "dtype": "bf16"}


@pytest.fixture(scope="module")
def least_s() -> float:
    """The least time of that work: its bytes over the bandwidth."""
    from kopt_kb import work

    bandwidth = Registry.open().platform("H20").require("memory_bandwidth").si
    return float(work("rms_norm", (8192, 4096), "bf16").compulsory_bytes("dram") / bandwidth)


def test_a_share(least_s: float) -> None:
    """The least time over the time; extents do as well as a text."""
    assert roof_share(least_s / 0.9, share=0.85, **WORK) == pytest.approx(0.9)
    assert roof_share(least_s / 0.9, share=0.85, **WORK | {"shape": (8192, 4096)}) == pytest.approx(0.9)


def test_the_basis() -> None:
    """Where the roof was measured too, the share is of the one that was asked for."""
    work = WORK | {"platform": "H100_SXM"}
    documented, reachable = (roof_share(45e-6, share=0.5, basis=basis, **work) for basis in ("documented", "reachable"))
    assert documented == pytest.approx(40.04 / 45, rel=1e-3) and reachable > documented
    with pytest.raises(UnknownData):
        roof_share(45e-6, share=0.5, basis="nobody's", **work)


def test_below_the_share(least_s: float) -> None:
    """The message has share, times, roof and its source."""
    with pytest.raises(FindingError) as caught:
        roof_share(least_s / 0.5, share=0.8, **WORK)
    text = str(caught.value)
    assert "50.0% of the roof, not 80.0%" in text and "<gpu-wiki>/hardware/nvidia/h20.md" in text
    assert caught.value.error_code == "KB471"


def test_faster_than_the_roof(least_s: float) -> None:
    """No praise: the time is not that of the work."""
    with pytest.raises(FindingError) as caught:
        roof_share(least_s / 2, share=0.8, **WORK)
    assert caught.value.error_code == "KB470"


@pytest.mark.parametrize(
    "changed",
    [{"share": 0}, {"share": 1.1}, {"platform": "H100"}, {"op": "nothing"}, {"shape": "x"}, {"dtype": "bf17"}],
)
def test_what_is_refused(changed: dict[str, Any]) -> None:
    """As everywhere, with what to do."""
    with pytest.raises(BadInput):
        roof_share(1e-3, **{"share": 0.8, **WORK, **changed})


def test_seconds() -> None:
    """A number, a text, a callable under a timer; without a GPU a callable alone is refused."""
    assert seconds_of(2e-3) == 2e-3 and seconds_of("52us") == pytest.approx(5.2e-5)
    assert seconds_of(lambda: None, timer=lambda call: 1e-3 if call() is None else 0.0) == 1e-3
    for wrong in (True, None, 0, -1.0, float("nan"), "52", []):
        with pytest.raises(BadInput):
            seconds_of(wrong)


def test_a_callable_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused with the way out, as wherever something is to be timed."""

    def nothing_here(*_: object, **__: object) -> object:
        raise MissingTool("no GPU is visible to torch", fix="run on a machine with a GPU", code="KB122")

    monkeypatch.setattr("kopt_kb.launch.kernel.timing.measure", nothing_here)
    with pytest.raises(MissingTool):
        seconds_of(lambda: None)
    monkeypatch.setattr("kopt_kb.launch.kernel.timing.measure", lambda *_, **__: [(1e-3, 2e-3, 9e-3)])
    assert seconds_of(lambda: None) == 2e-3


def test_a_baseline(tmp_path: Path, fits: Callable[[str, object], bool]) -> None:
    """Written as a whole, read again; slower than allowed, of another product, and not there."""
    file = tmp_path / "times.json"
    baseline = Baseline.at(file)
    assert baseline.times == {}
    baseline.times["t"] = TimedShare(1e-3, "H20")
    baseline.write()
    again = Baseline.at(file)
    assert again.times == {"t": TimedShare(1e-3, "H20")} and json.loads(file.read_text())["version"] == 1
    assert fits("stored_times", json.loads(file.read_text())) and not fits("stored_times", {"version": 1})
    assert again.check("t", TimedShare(1.04e-3, "H20"), 5.0) == pytest.approx(4.0)
    for name, now, code in (("t", TimedShare(1.06e-3, "H20"), "KB473"), ("u", TimedShare(1.0, "H20"), "KB472")):
        with pytest.raises(FindingError) as caught:
            again.check(name, now, 5.0)
        assert caught.value.error_code == code
    with pytest.raises(BadInput) as refused:
        again.check("t", TimedShare(1e-3, "H100_SXM"), 5.0)
    assert refused.value.error_code == "KB208"
    assert [path.name for path in tmp_path.iterdir()] == ["times.json"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 1, "times": {"t": 1}}'])
def test_what_is_no_baseline(tmp_path: Path, text: str) -> None:
    """Refused by name."""
    (tmp_path / "times.json").write_text(text)
    with pytest.raises(BadInput, match="is no baseline"):
        Baseline.at(tmp_path / "times.json")
