"""The phases in order; what can't be done is said, what is wrong is taken back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.kernel.prepared import SizeTime, VersionTrial
from kopt_kb.packs.tileir import phases
from kopt_kb.packs.tileir.environment import Gpu, TileirEnvironment
from kopt_kb.packs.tileir.phases import FileDriver, bench_file, run_phases
from kopt_kb.packs.tileir.rewrite import RewriteOptions

KERNEL = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef k(p, q):\n    tl.store(q, tl.load(p))\n"
NOWHERE = TileirEnvironment("3.6.0", (), False, False, "", False, False, "", (), (), "")
ACTIVE = replace(NOWHERE, tileir_active=True, gpus=(Gpu("B200", "10.0", "Blackwell", True),))
SAME = VersionTrial("B200", 1, True, 0.0, (), ())


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "k.py"
    path.write_text(KERNEL, encoding="utf-8")
    return str(path)


@pytest.fixture
def driver(tmp_path: Path) -> FileDriver:
    path = tmp_path / "driver.py"
    path.write_text("def run(module):\n    return []\n", encoding="utf-8")
    return FileDriver(str(path), wall_s=60)


def _trials(
    monkeypatch: pytest.MonkeyPatch, plain: VersionTrial | None, tiled: VersionTrial | None
) -> list[dict[str, str]]:
    asked: list[dict[str, str]] = []

    def trial(
        path: str, prepared: str, driver: FileDriver, more: dict[str, str], sizes: str
    ) -> tuple[VersionTrial | None, str]:
        asked.append(more)
        found = tiled if more["ENABLE_TILE"] == "1" else plain
        return found, "" if found else "it broke"

    monkeypatch.setattr(phases, "_trial", trial)
    return asked


def test_without_a_driver_nothing_is_claimed(file: str) -> None:
    report = run_phases(file, "", FileDriver(), NOWHERE, options=RewriteOptions())
    assert report.compatibility.status == report.validation.status == "not run"
    assert Path(report.output).name == "k_tileir.py"
    assert all(one.time_ms is None and one.reason for one in report.timings)
    with pytest.raises(BadInput, match="exists"):
        run_phases(file, "", FileDriver(), NOWHERE, options=RewriteOptions())


def test_all_phases_where_tileir_is(file: str, driver: FileDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    times = replace(SAME, times=(SizeTime(128, 2.0, 1.0), SizeTime(1024, 3.0, 6.0)))
    asked = _trials(monkeypatch, times, times)
    report = run_phases(file, "", driver, ACTIVE, options=RewriteOptions())
    assert report.compatibility.status == report.validation.status == "passed"
    assert [(one.backend[:4], one.speedup) for one in report.timings] == [
        ("PTX ", 1.0),
        ("Tile", 2.0),
        ("PTX ", 1.0),
        ("Tile", 0.5),
    ]
    assert report.stopped.startswith("slower than PTX")
    assert "1024" in report.stopped
    assert [one["ENABLE_TILE"] for one in asked] == ["0", "1", "0", "1"]


def test_a_file_that_gives_something_else_is_removed(
    file: str, driver: FileDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    _trials(monkeypatch, replace(SAME, equal_bits=False, max_difference=0.5), SAME)
    report = run_phases(file, "", driver, NOWHERE, options=RewriteOptions())
    assert (report.compatibility.status, report.output) == ("failed", "")
    assert not Path(file).with_name("k_tileir.py").exists()


def test_another_result_with_tileir_stops(file: str, driver: FileDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    _trials(monkeypatch, SAME, None)
    report = run_phases(file, "", driver, ACTIVE, options=RewriteOptions())
    assert (report.validation.status, report.validation.reason) == ("failed", "it broke")
    assert report.stopped.startswith("TileIR gives something else")


def test_columns_stay_empty_with_a_reason(file: str, driver: FileDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    stock = replace(ACTIVE, tileir_active=False)
    assert "no NVIDIA GPU" in bench_file(file, file, driver, NOWHERE)[0].reason
    assert "--driver" in bench_file(file, file, FileDriver(), stock)[0].reason
    _trials(monkeypatch, SAME, None)
    assert "bench(module, size)" in bench_file(file, file, driver, stock)[0].reason
    _trials(monkeypatch, replace(SAME, times=(SizeTime(128, 2.0, 1.0),)), None)
    plain, tiled = bench_file(file, file, driver, stock)
    assert (plain.time_ms, tiled.time_ms, tiled.reason) == (2.0, None, "the TileIR backend is not active here")


def test_a_run_that_breaks_or_hangs_says_so(file: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("def run(module):\n    raise ValueError('of its own')\n", encoding="utf-8")
    report = run_phases(file, "", FileDriver(str(broken), wall_s=60), NOWHERE, options=RewriteOptions())
    assert "of its own" in report.compatibility.reason
    (tmp_path / "bad.py").write_text("def (", encoding="utf-8")
    with pytest.raises(BadInput, match="not valid Python"):
        run_phases(file, "", FileDriver(str(tmp_path / "bad.py")), NOWHERE, options=RewriteOptions())
