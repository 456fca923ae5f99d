"""Conditions that a row's own words contradict, that no part has, and grades that its document does not carry."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.page import read_page

FRONT = """---
platform: T10
vendor: {vendor}
sku: Test 10
arch: Test
target: sm_00
aliases: []
family: []
not: []
---

# {vendor} Test 10

## Values

| Metric | Value | Unit | Conditions | Grade | Source | Note |
|---|---|---|---|---|---|---|
{row}

[^sheet]: title="{title}"; publisher="{vendor}"; url="https://example.org/t10"; revision="1"; read="2026-11-21"
"""


MEASURED = (
    "| measured_compute | 9 | TFLOPS | dtype={}; engine=vector; acc=unstated; shape=8x8x8; data=unstated "
    '| secondary | [^sheet] row product quote="9" |  |'
)


def complaints(row: str, vendor: str = "NVIDIA", title: str = "Test sheet") -> list[str]:
    """What is said about the wording of one row."""
    page = read_page(FRONT.format(row=row, vendor=vendor, title=title).encode(), "hardware/nvidia/t10.md")
    return [fault.message.rsplit(": ", 1)[1] for fault in page.faults if fault.code == "WK217"]


def peak(dtype: str, engine: str, words: str, sparsity: str = "dense") -> str:
    """A row of a peak, read in that cell."""
    axes = f"dtype={dtype}; engine={engine}; sparsity={sparsity}; acc=unstated; clock=unstated"
    unit = "TOPS" if dtype.startswith("int") else "TFLOPS"
    return f'| peak_compute | 10 | {unit} | {axes} | vendor | [^sheet] {words} quote="10" |  |'


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (peak("fp16", "matrix", "row FP16 Tensor Core"), []),
        (peak("fp16", "vector", "row FP16 (non-Tensor)"), []),
        (peak("fp32", "vector", "row FP32, no Tensor Core"), []),
        (peak("fp64", "vector", "row FP64 / FP64 Tensor Core"), []),
        (peak("fp16", "vector", "row Matrix FP16, column FLOPS/CLOCK/CU"), ["its cell is of matrix units"]),
        (peak("fp16", "vector", "row FP16 Tensor Core"), ["its cell is of matrix units"]),
        (peak("fp16", "matrix", "row FP16 (non-Tensor)"), ["its cell is of vector units"]),
        (peak("fp8", "vector", "row FP8"), ["fp8 is a format of matrix units"]),
        (peak("int8", "vector", "row INT8"), ["int8 is a format of matrix units"]),
        (peak("fp16", "vector", "row FP16", "2:4"), ["structured sparsity is a mode of matrix units"]),
        (peak("fp32", "matrix", "row FP32"), ["tensor cores have no FP32 input"]),
    ],
)
def test_engines(row: str, said: list[str]) -> None:
    """A cell of one engine is no source of the other's rate."""
    assert complaints(row) == said


@pytest.mark.parametrize(
    ("kind", "words", "said"),
    [
        ("cap_min", "row Power, minimum", []),
        ("cap_min", "row Power, 450 to 1000 W", []),
        ("cap_min", "column TDP", ["no word of its cell makes it cap_min"]),
        ("cap_max", "row Peak power", []),
        ("cap_max", "column TDP", ["no word of its cell makes it cap_max"]),
        ("cap_default", "column Usage/Cap", []),
        ("tdp", "row Power", []),
        ("tdp; scope=superchip", "row Power, Grace and GPU", []),
        ("tdp; scope=die", "row Power", ["no word of its cell or note makes it that of a die"]),
        ("tdp; scope=node", "row Power of eight GPUs", []),
        ("tdp; scope=node", "row Power, 8x OAM", []),
        ("tdp; scope=node", "row FP8", ["no word of its cell or note makes it that of a node"]),
        ("tdp; scope=node", "row 133.8", ["no word of its cell or note makes it that of a node"]),
    ],
)
def test_power_and_scope(kind: str, words: str, said: list[str]) -> None:
    """What is less or more than the sustained power of one GPU is called so."""
    assert complaints(f'| board_power | 10 | W | kind={kind} | vendor | [^sheet] {words} quote="10 W" |  |') == said


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('| sm_clock | 1200 | MHz | class=base; ops=all | vendor | [^sheet] row Base quote="1200 MHz" |  |', []),
        (
            '| sm_clock | 1800 | MHz | class=base; ops=all | vendor | [^sheet] row Boost quote="1800 MHz" |  |',
            ["its cell is of the highest clock"],
        ),
        (
            '| sm_clock | 1410 | MHz | class=base; ops=all | vendor | [^sheet] model_str quote="1410 MHz" |  |',
            ["no word of its cell makes it the base clock"],
        ),
        ('| sm_clock | 952 | MHz | class=base; ops=all | vendor | [^sheet] row Core clock speed quote="952" |  |', []),
        ('| memory_ecc | yes | - | - | vendor | [^sheet] row FULL-CHIP ECC quote="Yes" |  |', []),
        (
            '| memory_ecc | no | - | - | vendor | [^sheet] row GPU Memory quote="no" |  |',
            ["no word of its cell speaks of error correction"],
        ),
        (
            MEASURED.format("bf16"),
            ["a product of bf16 matrices is measured on matrix units"],
        ),
        (
            MEASURED.format("fp16").replace("row product", "row SIMT product"),
            [],
        ),
        (
            MEASURED.format("fp32"),
            [],
        ),
        (
            '| sm_clock | 1200 | MHz | class=boost; ops=all | vendor | [^sheet] row Base quote="1200 MHz" |  |',
            ["its cell is of the base clock"],
        ),
        ('| cluster_size | 8 | count | mode=portable | vendor | [^sheet] row clusters quote="8" |  |', []),
        (
            '| cluster_size | 8 | count | mode=static | vendor | [^sheet] row clusters quote="8" |  |',
            ["its modes are optin and portable"],
        ),
        (
            '| cache_line | 128 | B | level=dram | vendor | [^sheet] row line quote="128" |  |',
            ["a memory has no cache lines"],
        ),
        (
            "| memory_bandwidth | NONE | GB/s | - | vendor | [^sheet] row bandwidth | reason: it has none |",
            ["every GPU has one; write UNKNOWN where nobody prints it"],
        ),
    ],
)
def test_conditions_that_cannot_be(row: str, said: list[str]) -> None:
    """Modes, levels and values that no part has, clocks of another cell."""
    assert complaints(row) == said


@pytest.mark.parametrize(("title", "faults"), [("Output of deviceQuery", 0), ("A review of the card", 1)])
def test_a_devices_word_is_a_devices(title: str, faults: int) -> None:
    """A review is not what the device says of itself."""
    row = '| sm_count | 10 | count | - | device | [^sheet] row units quote="10 SMs" |  |'
    assert len(complaints(row, title=title)) == faults


def test_amd_has_nothing_to_opt_in_to() -> None:
    """The shared memory of a block is one number there."""
    row = '| shared_memory_per_block | 64 | KiB | mode={} | vendor | [^sheet] row LDS quote="64 KiB" |  |'
    assert complaints(row.format("optin"), vendor="AMD") == ["AMD's runtime has nothing to opt in to"]
    assert complaints(row.format("static"), vendor="AMD") == []
