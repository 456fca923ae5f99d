"""AMD devices as reports describe them: agent tables, agent records and system information."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kopt_kb.analysis.profile.amd_counters import AmdDevice
from kopt_kb.analysis.readers.amd.amd_csv import csv_rows, folded, number_in
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["Devices", "agent_table_beside", "device_of_agent", "device_of_sysinfo", "read_agent_table"]

_UNNAMED = frozenset({"", "unknown", "n/a", "none"})
_LABEL = re.compile(r"(?:(?P<kind>agent|gpu)\s+)?(?P<number>\d{1,9})", re.IGNORECASE)
_GFX = re.compile(r"gfx[0-9a-f]{3,5}")
_MAX_COUNT = 1 << 31


@dataclass(slots=True)
class Devices:
    """The GPUs of a report.

    Attributes:
        by_node: GPU by node id.
        by_logical: GPU by logical node id.
        in_order: GPUs in order of appearance.
    """

    by_node: dict[int, AmdDevice] = field(default_factory=dict)
    by_logical: dict[int, AmdDevice] = field(default_factory=dict)
    in_order: list[AmdDevice] = field(default_factory=list)

    def add(self, device: AmdDevice, node: int | None, logical: int | None = None) -> None:
        """Add one GPU."""
        self.in_order.append(device)
        if node is not None:
            self.by_node[node] = device
        if logical is not None:
            self.by_logical[logical] = device

    def find(self, label: str) -> AmdDevice:
        """Return the GPU of an agent label: `4`, `Agent 4`, `GPU 0`; one that has only the label when unknown."""
        match = _LABEL.fullmatch(label.strip())
        if match is not None:
            number = int(match["number"])
            kind = (match["kind"] or "agent").lower()
            if kind == "gpu" and number < len(self.in_order):
                return self.in_order[number]
            found = self.by_node.get(number) or self.by_logical.get(number)
            if kind == "agent" and found is not None:
                return found
        if self.in_order and all(one == self.in_order[0] for one in self.in_order):
            return self.in_order[0]
        return AmdDevice(name=f"Agent {label.strip()}" if label.strip().isdigit() else label.strip())


def _count(value: object) -> int | None:
    try:
        number = int(float(str(value)))
    except (ValueError, OverflowError):
        return None
    return number if 0 < number < _MAX_COUNT else None


def _name(*candidates: object) -> str:
    texts = (one.strip() for one in candidates if isinstance(one, str))
    return next((one for one in texts if one.lower() not in _UNNAMED), "")


def _target(name: object, version: object) -> str:
    if isinstance(name, str) and _GFX.fullmatch(name.strip()):
        return name.strip()
    number = _count(version)
    if number is None:
        return ""
    return f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}"


def device_of_agent(agent: Mapping[str, object]) -> AmdDevice:
    """Return the device of one agent record; keys are those of rocprofiler-sdk in lower case."""
    target = _target(agent.get("name"), agent.get("gfx_target_version"))
    return AmdDevice(
        name=_name(agent.get("product_name"), target),
        target=target,
        cu_count=_count(agent.get("cu_count")),
        num_xcd=_count(agent.get("num_xcc")),
        wave_threads=_count(agent.get("wave_front_size")),
        max_waves_per_cu=_count(agent.get("max_waves_per_cu")),
    )


def device_of_sysinfo(info: Mapping[str, object]) -> AmdDevice:
    """Return the device of a rocprof-compute system record; 0 and empty cells are not said."""
    device = AmdDevice(
        name=_name(info.get("gpu_model"), info.get("gpu_series"), info.get("gpu_arch")),
        target=_target(info.get("gpu_arch"), None),
        cu_count=_count(info.get("cu_per_gpu")),
        num_xcd=_count(info.get("num_xcd")),
        wave_threads=_count(info.get("wave_size")),
        max_waves_per_cu=_count(info.get("max_waves_per_cu")),
        lds_banks=_count(info.get("lds_banks_per_cu")),
        l2_channels=_count(info.get("total_l2_chan")),
    )
    return replace(device, name=_name(device.name))


def read_agent_table(path: Path) -> Devices:
    """Return the GPUs of an `agent_info` CSV; raises `ReportError` for a damaged one."""
    rows = csv_rows(path)
    header = [folded(one) for one in next(rows, (0, []))[1]]
    if "agent_type" not in header or "node_id" not in header:
        raise ReportError("no table of agents", where=path, line=1, code="KB204")
    devices = Devices()
    for line, cells in rows:
        agent = dict(zip(header, cells, strict=True))
        if agent["agent_type"].strip().upper() == "GPU":
            ids = [number_in(agent.get(one, ""), path, line) for one in ("node_id", "logical_node_id")]
            node, logical = (None if one is None else int(one) for one in ids)
            devices.add(device_of_agent(agent), node, logical)
    return devices


def agent_table_beside(path: Path, kind: str) -> Devices:
    """Return the GPUs of the `agent_info` table that belongs to `<prefix>_<kind>.csv`; none when there is none."""
    own = path.with_name(path.name.replace(kind, "agent_info")) if kind in path.name else None
    beside = (one for one in sorted(path.parent.glob("*agent_info.csv")) if one.is_file())
    tables = [own] if own is not None and own != path and own.is_file() else list(beside)
    return read_agent_table(tables[0]) if len(tables) == 1 else Devices()
