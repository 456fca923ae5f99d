"""The child that reads stall samples: what it sends, and what it lets out."""

from __future__ import annotations

import io
import json

from kopt_kb.analysis.readers.nvidia import ncu_source_child


class Numbers:
    def __init__(self, values):
        self.values = values

    def has_correlation_ids(self):
        return True

    def correlation_ids(self):
        return Numbers(list(self.values))

    def num_instances(self):
        return len(self.values)

    def as_uint64(self, index):
        return self.values[index]

    def as_double(self, index):
        return float(list(self.values.values())[index])


class Place:
    def file_name(self):
        return "C:\\Users\\someone/secret/gemm.cu"

    def line(self):
        return 31


METRICS = {
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard": Numbers({0x10: 7, 0x20: 0}),
    "smsp__pcsamp_warps_issue_stalled_selected": Numbers({0x10: 2}),
    "smsp__pcsamp_warps_issue_stalled_wait_not_issued": Numbers({0x10: 9}),
    "inst_executed": Numbers({0x0: 4, 0x10: 4}),
}


class Action:
    def metric_names(self):
        return METRICS

    def metric_by_name(self, name):
        return METRICS.get(name)

    def source_info(self, address):
        return Place() if address else None

    def sass_by_pc(self, address):
        return f"I{address}"


def test_a_source_file_leaves_the_child_by_its_bare_name():
    """No folder, no user; samples that were not issued are part of others."""
    code = ncu_source_child._code(Action())
    assert code == [
        [0x0, "I0", "", 0, 4, {}],
        [0x10, "I16", "gemm.cu", 31, 4, {"long_scoreboard": 7, "selected": 2}],
    ]
    assert "someone" not in json.dumps(code)


def test_a_missing_library_is_its_own_exit_status(monkeypatch):
    """The parent turns it into advice."""
    monkeypatch.setitem(__import__("sys").modules, "ncu_report", None)
    assert ncu_source_child.main("x", 0, 1, io.StringIO()) == 3
