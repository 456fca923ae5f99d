"""AMD devices out of agent tables and system records."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.readers.amd.amd_devices import (
    Devices,
    agent_table_beside,
    device_of_agent,
    device_of_sysinfo,
    read_agent_table,
)
from kopt_kb.analysis.readers.common.errors import ReportError


@pytest.mark.parametrize(
    ("version", "target"), [(90402, "gfx942"), (90500, "gfx950"), (90010, "gfx90a"), (110501, "gfx1151")]
)
def test_a_version_number_gives_the_target(version, target):
    """Major and minor are decimal pairs, the stepping is printed in base 16."""
    assert device_of_agent({"gfx_target_version": version, "name": "something"}).target == target


@pytest.mark.parametrize("label", ["4", "Agent 4", "Agent 1", "GPU 0"])
def test_every_label_of_an_agent_leads_to_its_gpu(tmp_path, amd, label):
    """Absolute, relative and type-relative labels; agents that are CPUs are left out."""
    path = tmp_path / "x_agent_info.csv"
    path.write_text(amd.AGENTS)
    found = read_agent_table(path).find(label)
    assert (found.name, found.target, found.cu_count, found.num_xcd) == ("AMD Instinct MI300X", "gfx942", 304, 8)


def test_an_unknown_label_is_the_device_name():
    """Without a table nothing is made up."""
    assert Devices().find("Agent 3").name == Devices().find("3").name == "Agent 3"
    assert Devices().find("Agent 3").target == ""


def test_the_table_of_the_same_run_is_found(tmp_path, amd):
    """By prefix first; two tables without the prefix are ambiguous and none is taken."""
    (tmp_path / "a_agent_info.csv").write_text(amd.AGENTS)
    assert agent_table_beside(tmp_path / "a_counter_collection.csv", "counter_collection").in_order
    (tmp_path / "b_agent_info.csv").write_text(amd.AGENTS)
    assert agent_table_beside(tmp_path / "b_counter_collection.csv", "counter_collection").in_order
    assert not agent_table_beside(tmp_path / "c_counter_collection.csv", "counter_collection").in_order


def test_zero_and_empty_facts_are_not_known():
    """The MI350 sample says max_sclk 0 and leaves cells empty."""
    found = device_of_sysinfo(
        {"gpu_model": "MI350", "gpu_arch": "gfx950", "cu_per_gpu": "0", "num_xcd": "", "wave_size": "64"}
    )
    assert (found.cu_count, found.num_xcd, found.wave_threads) == (None, None, 64)
    assert found.parameters() == {}


def test_a_table_of_something_else_is_refused(tmp_path):
    """No agent column."""
    path = tmp_path / "x_agent_info.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ReportError, match="no table of agents"):
        read_agent_table(path)
