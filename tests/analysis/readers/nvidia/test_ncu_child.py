"""The child program stands alone and lets nothing private out."""

from __future__ import annotations

import ast
import io
import json
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from kopt_kb.analysis.readers.nvidia import ncu_child


def test_it_imports_only_the_standard_library_and_ncu_report():
    """It is run by its path, without the package."""
    tree = ast.parse(Path(ncu_child.__file__).read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {one for one in names if one.split(".")[0] not in sys.stdlib_module_names} == {"ncu_report"}


def test_a_missing_library_is_its_own_exit_status(monkeypatch):
    """The parent tells it from damage."""
    monkeypatch.setitem(sys.modules, "ncu_report", None)
    assert ncu_child.main("x.ncu-rep", 0, 9, io.StringIO()) == 3


class Metric:
    def __init__(self, kind, value, unit="byte"):
        self._kind, self._value, self._unit = kind, value, unit

    def kind(self):
        return self._kind

    def unit(self):
        return self._unit

    def as_string(self):
        return self._value

    as_double = as_uint64 = as_string

    def has_correlation_ids(self):
        return False


class Action:
    metrics: ClassVar = {
        "dram__bytes_read.sum": Metric(6, 12),
        "sm__throughput": Metric(4, 1.5, "%"),
        "device__attribute_display_name": Metric(2, "GPU", ""),
        "empty": Metric(0, None),
        "breakdown:sm__throughput": Metric(2, "a,b"),
        "sass__inst_executed_per_opcode": Metric(6, 4, "inst"),
    }

    def metric_names(self):
        return list(self.metrics)

    def metric_by_name(self, name):
        return self.metrics[name]

    def name(self, base):
        return {0: "f", 1: "void f(int)"}[base]

    def workload_type(self):
        return 0

    def rule_results_as_dicts(self):
        message = {"title": "Small Grid", "type": 2, "message": "grid is too small"}
        return [{"rule_identifier": "SOLBottleneck", "section_identifier": "S", "rule_message": message}]


class Library:
    """ncu_report with one range of two equal actions."""

    class IAction:
        NameBase_FUNCTION, NameBase_DEMANGLED = 0, 1

    @staticmethod
    def load_report(_path):
        return Library

    num_ranges = staticmethod(lambda: 1)
    range_by_idx = staticmethod(lambda _index: Library)
    num_actions = staticmethod(lambda: 2)
    action_by_idx = staticmethod(lambda _index: Action())


@pytest.fixture
def library(monkeypatch):
    monkeypatch.setitem(sys.modules, "ncu_report", Library)


def test_names_and_units_are_sent_once_for_equal_launches(library):
    """The second action refers to the table of the first; metrics without a number or text are left out."""
    out = io.StringIO()
    assert ncu_child.main("x.ncu-rep", 0, 9, out) == 0
    first, second, end = (json.loads(line) for line in out.getvalue().splitlines())
    assert first["names"][:3] == ["dram__bytes_read.sum", "sm__throughput", "device__attribute_display_name"]
    assert first["values"] == [12, 1.5, "GPU", 4]
    assert "names" not in second
    assert second["table"] == first["table"] == 0
    assert first["rules"] == [["SOLBottleneck", "S", "Small Grid", 2, None, None, "grid is too small"]]
    assert end == {"end": 2}


@pytest.mark.parametrize("word", ["source_files", "process_name", "hostname", "nvtx"])
def test_it_never_asks_for_private_data(word):
    """Source texts, names of hosts and NVTX ranges stay in the report."""
    assert word not in Path(ncu_child.__file__).read_text().lower()


def test_only_the_asked_for_actions_are_read(library):
    """The others are counted and not touched."""
    out = io.StringIO()
    assert ncu_child.main("x.ncu-rep", 1, 2, out) == 0
    only, end = (json.loads(line) for line in out.getvalue().splitlines())
    assert (only["action"], end) == (1, {"end": 2})
