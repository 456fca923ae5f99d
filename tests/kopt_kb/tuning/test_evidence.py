"""A report becomes evidence bound to the candidate's blob; sourced limits are judged by compiling without a GPU."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from types import ModuleType

import pytest

from kopt_kb.launch.candidate.answers import ReportEvidence
from kopt_kb.tuning.evidence import ReportOrigin, ResourceGate, read_evidence
from kopt_kb.wiki.registry import Registry
from tests.analysis.readers.amd_samples import write_rocpd

KERNEL, REPORT = "ab" * 32, "cd" * 32


def test_no_report_is_unavailable() -> None:
    """Text that is no report is unavailable."""
    word, profile = read_evidence(ReportEvidence("==PROF== nothing\n", "2x4"), ReportOrigin(REPORT, KERNEL))
    assert (word.result, profile) == ("unavailable", None)
    assert word.reason.startswith("the report: ")


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (
            "gemm",
            [("high_throughput", "matmul_small_tiles"), ("balanced", "matmul_pointers")]
            + [("balanced", "matmul_pointers")]
            + [("high_throughput", "matmul_persistent")] * 2
            + [("high_throughput", "matmul_descriptors")],
        ),
        (
            "rms_norm",
            [("latency", "rms_norm_three_pass"), ("memory", "rms_norm_persistent")]
            + [("high_throughput", "rms_norm_single_pass")] * 5,
        ),
        ("rms_norm_2", [("latency", "rms_norm_three_pass")] + [("high_throughput", "rms_norm_two_pass")] * 2),
        (
            "softmax",
            [("latency", "softmax_three_pass"), ("memory", "softmax_persistent")]
            + [("high_throughput", "softmax_single_pass")] * 5,
        ),
    ],
)
def test_a_real_report_of_a_campaign(repo_root: Path, op: str, expected: list[tuple[str, str]]) -> None:
    """The recorded campaigns' blobs read again: naive kernels latency-bound, tuned ones at high throughput."""
    folder = repo_root / "benchmarks" / "campaigns" / "h200_sxm" / op
    lines = [json.loads(one) for one in (folder / "journal.jsonl").read_text().splitlines()]
    found = []
    for line in lines:
        if line["kind"] == "profile_read":
            csv = (folder / "objects" / line["data"]["report"]).read_text()
            word, profile = read_evidence(ReportEvidence(csv, "16384x8192"), ReportOrigin(REPORT, KERNEL))
            assert word.result == "pass" and profile is not None
            assert (profile.kernel, profile.report) == (KERNEL, REPORT)
            found.append((profile.evidence[0]["sol_class"], profile.evidence[0]["kernel"]))
    assert found == expected


def test_the_rules_judge_each_kernel(ncu: ModuleType) -> None:
    """The longest first, whose class and limiter is the event's code; the roofs are the product's."""
    launches = [("small", (8, 1, 1), (128, 1, 1)), ("large", (9, 1, 1), (128, 1, 1)), ("large", (9, 1, 1), (128, 1, 1))]
    platform = Registry.open().platform("H100_SXM")
    taken = ReportOrigin(REPORT, KERNEL, "v1_2x4.csv", platform)
    word, profile = read_evidence(ReportEvidence(ncu.report(*launches), "2x4"), taken)
    assert (word.result, word.reason) == ("pass", "large: memory-bound: dram")
    assert profile is not None
    assert (profile.code, profile.name, profile.tool) == ("memory-bound: dram", "v1_2x4.csv", "ncu")
    large, small = profile.evidence
    assert (large["kernel"], large["launches"], small["kernel"], small["launches"]) == ("large", 2, "small", 1)
    verdict = large["verdict"]
    assert verdict["evidence"][0]["metric"] == "dram_use_pct"
    assert verdict["headroom"][0]["name"] == "dram"
    assert large["metrics"]["duration_s"] > 0


@pytest.mark.triton
def test_a_small_kernel_fits(naive: Path) -> None:
    """The naive RMS norm launches on an H100."""
    pytest.importorskip("triton")
    gate = ResourceGate(Registry.open().platform("H100_SXM"), ((64, 256),), "bf16")
    assert gate(naive.read_bytes()).result == "pass"


@pytest.mark.triton
def test_what_can_not_be_judged_is_unavailable() -> None:
    """A file without launches, or one that can't be imported, is not judged as too large."""
    pytest.importorskip("triton")
    gate = ResourceGate(Registry.open().platform("H100_SXM"), ((64, 256),), "bf16")
    assert gate(b"x = 1\n").result == "unavailable"
    assert gate(b"import no_such_module_anywhere\n").result == "unavailable"


@pytest.mark.triton
def test_compiled_code_is_held_against_the_isa_targets(naive: Path) -> None:
    """Widths and spills of the naive RMS norm as ptxas made it; the report holds every kernel of every shape."""
    pytest.importorskip("triton")
    gate = ResourceGate(Registry.open().platform("H100_SXM"), ((64, 256), (64, 512)), "bf16")
    found = gate.instructions(naive.read_bytes())
    assert found is not None
    values = {one["metric"]: (one["value"], one["met"]) for one in found.evidence}
    assert values["spills"] == (0.0, True)
    assert 0 <= values["global_load_128b_share"][0] <= 1
    assert set(json.loads(found.report)) == {"64x256", "64x512"}


@pytest.mark.triton
def test_what_does_not_compile_says_nothing_of_its_instructions() -> None:
    """No launches, no scan; nothing is raised."""
    pytest.importorskip("triton")
    gate = ResourceGate(Registry.open().platform("H100_SXM"), ((64, 256),), "bf16")
    assert gate.instructions(b"x = 1\n") is None


@pytest.mark.triton
@pytest.mark.parametrize("what", ["limits", "instructions"])
def test_compilers_end_with_the_call(what: str) -> None:
    """What hangs is ended then, of however many shapes; it is no fault of the source."""
    pytest.importorskip("triton")
    gate = ResourceGate(Registry.open().platform("H100_SXM"), ((64, 256), (64, 512), (64, 1024)), "bf16")
    begin, slow = time.monotonic(), b"import time\ntime.sleep(6)\n"
    with pytest.raises(TimeoutError):
        gate.instructions(slow, begin + 0.3) if what == "instructions" else gate(slow, begin + 0.3)
    assert time.monotonic() < begin + 4


def test_reports_of_amd_and_packed_ones_are_read_as_kb_profile_read_does(tmp_path: Path) -> None:
    """A rocpd database in base64: the event names its tool, and the rules judge its counters."""
    write_rocpd(
        tmp_path / "made.db",
        [("a-b", [(1, "k", 1000, 101000, 4)], [(1, "SQ_WAVES", [16.0]), (1, "TCC_EA0_RDREQ_sum", [1000.0])])],
    )
    data = (tmp_path / "made.db").read_bytes()
    result = ReportEvidence("", "8192x4096", packed=base64.b64encode(data).decode())
    assert result.report == data
    word, event = read_evidence(result, ReportOrigin("1" * 64, "2" * 64, "v1.db"))
    assert word.result == "pass"
    assert event is not None
    assert (event.tool, event.name) == ("rocprofv3", "v1.db")
    assert event.evidence[0]["launches"] == 1
    assert event.evidence[0]["verdict"]["class"]  # type: ignore[index,call-overload]
    broken = ReportEvidence("", "8192x4096", packed=base64.b64encode(b"\xff\xfe").decode())
    assert read_evidence(broken, ReportOrigin("1" * 64, "2" * 64))[0].result == "unavailable"


def test_what_the_runtime_launches_by_itself_decides_nothing(tmp_path: Path) -> None:
    """A copy of the inputs took longer than the kernel: the kernel's verdict comes first all the same."""
    launches = [(1, "__amd_rocclr_copyBuffer.kd", 1000, 900000, 4), (2, "norm", 900000, 901000, 4)]
    write_rocpd(tmp_path / "made.db", [("a-b", launches, [(2, "SQ_WAVES", [16.0])])])
    packed = base64.b64encode((tmp_path / "made.db").read_bytes()).decode()
    word, event = read_evidence(ReportEvidence("", "8192x4096", packed=packed), ReportOrigin("1" * 64, "2" * 64))
    assert event is not None
    assert [one["kernel"] for one in event.evidence] == ["norm", "__amd_rocclr_copyBuffer.kd"]
    assert word.reason.startswith("norm: ")
