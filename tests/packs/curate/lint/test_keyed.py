"""Claims of data and code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Said = Callable[..., list[tuple[str, str, str]]]

PYTHON = """
HARDWARE = {
    "mi300x": Spec(
        peak_tflops_bf16=1307.0,
        hbm_bandwidth_gbps=5300.0,
        n_cu=304,
    ),
    "gaudi3": Spec(peak_tflops_bf16=1835.0),
}
"""


def test_the_key_of_the_block_is_the_product(said: Said) -> None:
    """Keys name metric and unit; a block of other hardware has no claims."""
    assert said(PYTHON, "specs.py") == [
        ("1307.0 TFLOPS", "MI300X", "peak_compute"),
        ("5300.0 GB/s", "MI300X", "memory_bandwidth"),
        ("304 SMs", "MI300X", "sm_count"),
    ]


@pytest.mark.parametrize(
    ("text", "name", "claim"),
    [
        ('{\n "name": "NVIDIA L4",\n "peak_fp16_TFLOPS": 121\n}', "l4.json", ("121 TFLOPS", "L4", "peak_compute")),
        (
            "gpu: NVIDIA H200\nhbm:\n  theoretical_bytes_s: 4800e9\n",
            "h200.yaml",
            ("4800e9", "H200_SXM", "memory_bandwidth"),
        ),
        ('if "A40" in name:\n    return 149.7e12  # bf16 peak\n', "flops.py", ("149.7e12", "A40", "peak_compute")),
        (
            'S = {"H200 SXM": {"sms": 1, "tflops": {"bf16": 989.5}}}  # peak',
            "s.py",
            ("989.5 TFLOPS", "H200_SXM", "peak_compute"),
        ),
        ('"A10G": {\n  "Memory Bandwidth": "600 GB/s",\n}', "s.py", ("600 GB/s", "A10G", "memory_bandwidth")),
        (".H20 = {\n  .SMs = 78, .BoostClock = 1980,\n}; // hardware", "hardware.cpp", ("78 SMs", "H20", "sm_count")),
        ('D = {"nvidia_A40": {"bandwidth": 696e9}}', "p.py", ("696e9", "A40", "memory_bandwidth")),
        ("# MI355X: HBM3E 8.0 TB/s\n", "a.py", ("8.0 TB/s", "MI355X", "memory_bandwidth")),
    ],
)
def test_forms_of_tables_in_code(said: Said, text: str, name: str, claim: tuple[str, str, str]) -> None:
    """JSON, YAML, functions, one line, texts with a unit, C++, bare rates, comments."""
    assert claim in said(text, name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"gpu": "H100", "tflops_bf16": 612.3}', "run.json"),
        ('config = {"gpu": "H200", "num_sms_used": 20}', "run.py"),
        ('{"system": "h200_sxm", "sms": 20}', "run.json"),
        ("H100_BLOCK = 128", "a.py"),
        ('"H100": {"bw_gbps": 3350 * 0.9}', "a.py"),
        ("_HBM_BYTES_PER_MS = 4.0e9  # MI300X", "a.py"),
        ('"H100": {"peak_tflops": [989, 1979]}', "a.py"),
    ],
)
def test_no_claim(said: Said, text: str, name: str) -> None:
    """Results, what a kernel gets, other sizes, arithmetic, other units, lists."""
    assert said(text, name) == []


def test_a_comment_names_the_format_that_is_meant(found: Callable[..., list[object]]) -> None:
    """TF32 under the key fp32 is said, and no contradiction."""
    text = '"RTX PRO 6000 Server": {\n  "fp32": 234.0,  # peak TF32 tensor dense\n}'
    assert not [one for one in found(text, "a.py") if one.level == "error"]  # type: ignore[attr-defined]
