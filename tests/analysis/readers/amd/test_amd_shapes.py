"""Configurations out of cells."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.readers.amd.amd_csv import Columns
from kopt_kb.analysis.readers.amd.amd_devices import Devices
from kopt_kb.analysis.readers.amd.amd_shapes import ShapeReader
from kopt_kb.analysis.readers.common.errors import ReportError

HEADER = ["kernel_name", "agent_id", "grid_size", "workgroup_size", "vgpr_count", "lds_block_size"]


def test_a_configuration_is_built_once(tmp_path):
    """Equal cells give one object, so that groups are found by identity."""
    reader = ShapeReader(tmp_path, Columns(HEADER), Devices())
    first, second = (reader.read(["k", "Agent 4", "1024", "256", "8", ""], line) for line in (2, 3))
    assert first is second
    assert first.extra == (("registers_per_thread", 8.0),)
    assert (first.grid_threads, first.block_threads, first.device.name) == (1024, 256, "Agent 4")


@pytest.mark.parametrize(
    "cells", [["", "4", "1", "1", "8", "0"], ["k", "4", "-1", "1", "8", "0"], ["k", "4", "x", "1", "8", "0"]]
)
def test_a_damaged_configuration_names_its_line(tmp_path, cells):
    """A row without a name, or with sizes that are no counts."""
    with pytest.raises(ReportError) as caught:
        ShapeReader(tmp_path, Columns(HEADER), Devices()).read(cells, 9)
    assert caught.value.line == 9
