"""Reports read through the child process, against NVIDIA's own library and the verdicts stored in them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from kopt_kb.analysis.profile import sol_class, stored_sol_class
from kopt_kb.analysis.readers import ReportError, read_profiles
from kopt_kb.analysis.readers.nvidia import ncu_children
from kopt_kb.base.errors import ExitCode, MissingTool

pytestmark = pytest.mark.corpus

REPORTS = (
    "a100_cutlass_gemm", "b200_int8_gemm_algo64", "h100_rmsnorm", "rtx2060s_ten_launches", "rtx3070_scan",
    "rtx4090_readoffset", "rtx4090_transpose", "t4_matadd", "v100_miniweather",
)  # fmt: skip
EQUAL = {
    "sm_sol_pct": "sm_sol_pct", "memory_sol_pct": "memory_sol_pct", "dram_sol_pct": "dram_sol_pct",
    "l1_sol_pct_active": "l1_sol_pct", "l2_sol_pct": "l2_sol_pct", "dram_bytes_read": "dram_read_bytes",
    "dram_bytes_write": "dram_write_bytes", "dram_bytes_total": "dram_bytes", "dram_bytes_per_s": "dram_bytes_per_s",
    "l1_hit_pct": "l1_hit_pct", "l2_hit_pct": "l2_hit_pct", "achieved_occupancy_pct": "achieved_occupancy_pct",
    "theoretical_occupancy_pct": "theoretical_occupancy_pct", "registers_per_thread": "registers_per_thread",
    "block_size": "block_threads", "grid_size": "grid_blocks", "waves_per_sm": "waves_per_sm",
    "smem_static_bytes": "shared_static_bytes", "smem_dynamic_bytes": "shared_dynamic_bytes",
    "limit_blocks": "occupancy_limit.blocks", "limit_registers": "occupancy_limit.registers",
    "limit_shared_mem": "occupancy_limit.shared", "limit_warps": "occupancy_limit.warps",
    "limit_barriers": "occupancy_limit.barriers", "issue_active_per_cycle": "issue_active",
    "warp_latency_per_inst_issued": "warp_latency_cycles", "threads_per_inst": "threads_per_instruction",
    "shared_ld_bank_conflicts": "shared_load_conflicts", "shared_st_bank_conflicts": "shared_store_conflicts",
    "tensor_pipe_pct_active": "pipe.tensor_pct", "elapsed_cycles_max": "elapsed_cycles", "sm_count": "sm_count",
}  # fmt: skip
PEAKS = {
    "fp32_peak_flops_per_s": "run_peak.vector.fp32", "fp64_peak_flops_per_s": "run_peak.vector.fp64",
    "dram_peak_bytes_per_s": "run_peak.dram_bytes_per_s",
}  # fmt: skip
RATES = {"fp32_flops_per_s": "flops.vector.fp32", "fp64_flops_per_s": "flops.vector.fp64"}


@pytest.fixture(autouse=True)
def _library():
    pytest.importorskip("ncu_report", reason="reading .ncu-rep needs ncu-report")


@pytest.fixture(scope="module", params=REPORTS)
def report(request, profile_corpus):
    """Profiles of one report and the launches NVIDIA's library sees in it."""
    pytest.importorskip("ncu_report", reason="reading .ncu-rep needs ncu-report")
    file = profile_corpus / "ncu-rep" / f"{request.param}.ncu-rep"
    expected = json.loads((file.parent / f"{file.name}.expected.json").read_text())
    actions = {f"{r}/{a}": one for r, actions in enumerate(expected["ranges"]) for a, one in enumerate(actions)}
    return list(read_profiles(file)), actions


def launches(profiles):
    return {one.id: one for profile in profiles for one in profile.launches}


def test_every_expected_number_is_equal_and_every_null_is_absent(report):
    """Null means not collected: never 0, never another counter."""
    profiles, actions = report
    found = launches(profiles)
    assert set(found) == set(actions)
    for key, action in actions.items():
        metrics = found[key].metrics
        for name, metric in EQUAL.items():
            assert metrics.get(metric) == (None if action[name] is None else pytest.approx(action[name], rel=1e-9)), (
                name
            )
        for name, metric in PEAKS.items():
            value = action["roofline"][name]
            assert metrics.get(metric) == (None if value is None else pytest.approx(value, rel=1e-9)), name


def test_operations_are_equal_to_the_roofline_of_the_tool(report):
    """Achieved FLOP/s times the duration; cycles and time come from counters that differ by parts in a thousand."""
    profiles, actions = report
    for key, launch in launches(profiles).items():
        for name, metric in RATES.items():
            value = actions[key]["roofline"][name]
            rate = launch.metrics[metric] / launch.duration_s if metric in launch.metrics else None
            assert rate == (None if value is None else pytest.approx(value, rel=2e-3)), name


def test_identity_is_equal(report):
    """Names, device, target and shape."""
    profiles, actions = report
    for key, launch in launches(profiles).items():
        action = actions[key]
        assert (launch.name, launch.demangled, launch.device) == (action["name"], action["demangled"], action["device"])
        assert launch.target == "sm_" + action["cc"].replace(".", "")
        assert (list(launch.grid), list(launch.block)) == (action["grid"], action["block"])
        assert launch.duration_s == pytest.approx(action["duration_ns"] / 1e9)


def test_the_class_is_the_one_stored_in_the_report(report):
    """ncu's own rule, wherever it ran, and the expected class everywhere."""
    profiles, actions = report
    for key, launch in launches(profiles).items():
        assert sol_class(launch) == actions[key]["sol_class"]
        assert stored_sol_class(launch) in (None, sol_class(launch))
    if any(rule["rule"] == "SOLBottleneck" for action in actions.values() for rule in action["rules"]):
        assert all(stored_sol_class(one) for one in launches(profiles).values())


def test_limiters_and_stalls_are_equal(report):
    """Ties among limiters are sets; stalls come in order."""
    profiles, actions = report
    for profile in profiles:
        first = actions[profile.launches[0].id]
        assert profile.occupancy_limiters == {
            one.replace("shared_mem", "shared") for one in first["occupancy_limiters"]
        }
        if profile.launch_count == 1:
            top = first["top_stalls"]
            assert list(profile.stalls.items())[: len(top)] == [(name, pytest.approx(value)) for name, value in top]


def test_rules_of_the_tool_are_all_kept(report):
    """Names and estimates of every stored rule."""
    profiles, actions = report
    for key, launch in launches(profiles).items():
        expected = [(one["rule"], (one["speedup"] or {}).get("speedup")) for one in actions[key]["rules"]]
        assert [(one.rule, one.speedup_pct) for one in launch.rules] == expected


def test_ten_launches_of_one_name_are_one_kernel(profile_corpus):
    """Statistics, not ten kernels."""
    (profile,) = read_profiles(profile_corpus / "ncu-rep" / "rtx2060s_ten_launches.ncu-rep")
    assert (profile.launch_count, len(profile.launches), profile.durations.count) == (10, 10, 10)
    assert profile.durations.min_s < profile.duration_s < profile.durations.max_s


def test_a_tensor_kernel_has_no_tensor_flops_rather_than_none_to_do(profile_corpus):
    """FP32 counters see 0 operations while the tensor pipe is a quarter busy."""
    profile = next(iter(read_profiles(profile_corpus / "ncu-rep" / "a100_cutlass_gemm.ncu-rep")))
    assert profile.flops[("fp32", "vector")] == 0.0
    assert not [kind for kind in profile.flops if kind[1] == "matrix"]
    assert profile.get("pipe.tensor_pct") > 20


def test_page_and_report_of_one_run_give_the_same_numbers(profile_corpus):
    """The raw page holds everything, to six decimals; the details page what it shows, to two."""
    (report,) = read_profiles(profile_corpus / "ncu-rep" / "b200_int8_gemm_algo64.ncu-rep")
    (raw,) = read_profiles(profile_corpus / "ncu-csv" / "b200_algo64_raw.csv")
    (details,) = read_profiles(profile_corpus / "ncu-csv" / "b200_algo64_details.csv")
    assert raw.metrics.keys() == report.metrics.keys()
    for metric, value in report.metrics.items():
        assert raw.metrics[metric] == pytest.approx(value, rel=1e-5, abs=5e-7), metric
        if metric in details.metrics:
            assert details.metrics[metric] == pytest.approx(value, rel=0.01, abs=0.005), metric
    assert len(details.metrics) > 25
    assert details.sol_class == raw.sol_class == report.sol_class


@pytest.mark.parametrize(
    ("name", "words"),
    [("empty", "empty"), ("lfs_pointer", "Git LFS"), ("text", "magic NVR"), ("truncated", "truncated")],
)
def test_broken_reports_are_refused(profile_corpus, name, words):
    """The library alone would stay silent on each of them."""
    with pytest.raises(ReportError, match=words) as caught:
        list(read_profiles(profile_corpus / "bad" / f"{name}.ncu-rep"))
    assert caught.value.exit_code == ExitCode.USAGE


def test_a_missing_library_says_what_to_install(profile_corpus, monkeypatch, tmp_path):
    """CSV is the way without the proprietary package."""
    (tmp_path / "ncu_report.py").write_text("raise ImportError\n")
    monkeypatch.setattr(ncu_children, "_home_of_the_library", lambda: (tmp_path,))
    with pytest.raises(MissingTool, match="pip install ncu-report") as caught:
        list(read_profiles(profile_corpus / "ncu-rep" / "t4_matadd.ncu-rep"))
    assert caught.value.exit_code == ExitCode.MISSING


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("import time; time.sleep(60)", "not read within"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended without a result"),
        ("load_report = lambda path: bytearray(1 << 40)", "ended without a result"),
    ],
)
def test_a_child_that_hangs_crashes_or_eats_memory_is_an_error(profile_corpus, monkeypatch, tmp_path, script, words):
    """A damaged report can't take the caller with it."""
    (tmp_path / "ncu_report.py").write_text(script + "\n")
    monkeypatch.setattr(ncu_children, "_home_of_the_library", lambda: (tmp_path,))
    if words == "not read within":
        monkeypatch.setattr(ncu_children, "_TIMEOUT_S", 1.0)
    with pytest.raises(ReportError, match=words):
        list(read_profiles(profile_corpus / "ncu-rep" / "t4_matadd.ncu-rep"))


def test_the_caller_never_loads_the_library(profile_corpus):
    """Memory that the library leaks is the child's."""
    file = profile_corpus / "ncu-rep" / "t4_matadd.ncu-rep"
    code = (
        "import sys; from kopt_kb.analysis.readers import read_profiles; "
        "print(len(list(read_profiles(sys.argv[1]))), 'ncu_report' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]


def test_a_caller_that_stops_early_leaves_no_child(profile_corpus):
    """A generator that is closed ends its process."""
    profiles = read_profiles(profile_corpus / "ncu-rep" / "v100_miniweather.ncu-rep")
    next(profiles)
    profiles.close()
