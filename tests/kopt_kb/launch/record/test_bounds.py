"""Every bound of a record refuses what is beyond it, and lets pass what launchers do."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from launch_records import CODE, OUT, RECORD, STEP, X

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.record.bounds import check_code, check_record, unfit_result
from kopt_kb.launch.record.model import (
    Buffer,
    Copy,
    Fill,
    Input,
    LaunchRecord,
    NullArg,
    ScalarArg,
    StructArg,
    StructMember,
    TensorAddress,
    TensorMapArg,
    TensorView,
)


def test_what_launchers_do_passes() -> None:
    """Every kind of step and argument, an input that is the result, and a tensor map with a swizzle."""
    check_record(RECORD, "here")
    check_record(
        replace(RECORD, buffers=(replace(RECORD.buffers[0], changed=True), RECORD.buffers[1]), outputs=(X,)), ""
    )
    wide = replace(
        STEP, arguments=(TensorMapArg(OUT, (4, 64), 9, 3), ScalarArg("i32", 1 << 31), ScalarArg("fp32", "-inf"))
    )
    check_record(replace(RECORD, steps=(wide,)), "here")


@pytest.mark.parametrize(
    ("kind", "largest"), [("fp16", 65504.0), ("bf16", 3.3895313892515355e38), ("fp32", 3.4028234663852886e38)]
)
def test_the_largest_finite_number_of_a_type_passes(kind: str, largest: float) -> None:
    """Launchers pass `torch.finfo(dtype).min` where they mask; the next step up is no number of the type."""
    for value in (largest, -largest):
        check_record(replace(RECORD, steps=(replace(STEP, arguments=(ScalarArg(kind, value),)),)), "here")
    beyond = replace(STEP, arguments=(ScalarArg(kind, largest * 1.01),))
    with pytest.raises(BadInput):
        check_record(replace(RECORD, steps=(beyond,)), "here")


def _with(**changes: Any) -> Callable[[], LaunchRecord]:
    return lambda: replace(RECORD, **changes)


def _step(**changes: Any) -> Callable[[], LaunchRecord]:
    return lambda: replace(RECORD, steps=(replace(STEP, **changes),))


WRONG = {
    "version": _with(v=2),
    "no steps": _with(steps=()),
    "twice the name": _with(buffers=(*RECORD.buffers, RECORD.buffers[0])),
    "empty buffer": _with(buffers=(replace(RECORD.buffers[0], size_bytes=0), RECORD.buffers[1])),
    "alignment": _with(buffers=(replace(RECORD.buffers[0], alignment=3), RECORD.buffers[1])),
    "huge scratch": _with(buffers=(*RECORD.buffers, Buffer("s", "scratch", 1 << 60, 256, True))),
    "unknown buffer": _with(inputs=(Input("x", replace(X, buffer="nowhere")),)),
    "beyond the buffer": _with(outputs=(replace(OUT, offset=1),)),
    "negative stride": _with(outputs=(replace(OUT, strides=(8, -1)),)),
    "rank": _with(outputs=(replace(OUT, strides=(1,)),)),
    "dtype": _with(outputs=(replace(OUT, dtype="fp99"),)),
    "writes an input": _with(steps=(Fill(X, "0000"),)),
    "pattern": _with(steps=(Fill(OUT, "00"),)),
    "unlike copy": _with(steps=(Copy(X, replace(OUT, shape=(4, 4))),)),
    "unknown code": _step(code="b" * 64),
    "grid of 0": _step(grid=(0, 1, 1)),
    "grid y": _step(grid=(1, 1 << 16, 1)),
    "threads": _step(block=(1 << 11, 1, 1)),
    "cluster": _step(cluster=(32, 1, 1)),
    "shared": _step(shared_bytes=1 << 21),
    "scalar type": _step(arguments=(ScalarArg("i128", 1),)),
    "box": _step(arguments=(TensorMapArg(OUT, (4,), 9, 3),)),
    "box of 512": _step(arguments=(TensorMapArg(OUT, (4, 512), 9, 3),)),
    "all memory together": _with(buffers=(*RECORD.buffers, Buffer("o", "output", 1 << 37, 256, True))),
    "alignment that no driver grants": _with(buffers=(replace(RECORD.buffers[0], alignment=4096), RECORD.buffers[1])),
    "escape in a buffer": _with(buffers=(*RECORD.buffers, Buffer("\x1b[2J", "scratch", 4, 256, True))),
    "escape in the label": _with(label="\x1b]0;passed\x07"),
    "long label": _with(label="l" * 5000),
    "op that is a path": _with(op="../matmul"),
    "target": _with(target="sm_90\n"),
    "shape of 0": _with(shape=(0, 8)),
    "endless shape": _with(shape=(1 << 50, 8)),
    "host lines": _with(host=("add\nPASSED",)),
    "many words": _with(assumed=("a",) * 5000),
    "reason with lines": _with(not_replayable="a\nb"),
    "sources outside": _with(sources={"../../etc/passwd": "a" * 64}),
    "sources absolute": _with(sources={"/etc/passwd": "a" * 64}),
    "versions": _with(versions={"triton": "3\x1b[0m"}),
    "code by path": _with(codes={CODE: 10, "../../../proc/self/environ": 10}),
    "empty code": _with(codes={CODE: 0}),
    "large code": _with(codes={CODE: 1 << 40}),
    "many codes": _with(codes={CODE: 10, **{f"{one:064x}": 10 for one in range(300)}}),
    "many outputs": _with(outputs=(OUT,) * 5000),
    "output in scratch": _with(
        buffers=(*RECORD.buffers, Buffer("s", "zeroed", 64, 256, True)), outputs=(replace(OUT, buffer="s"),)
    ),
    "input in an output": _with(inputs=(Input("x", X), Input("y", OUT))),
    "two inputs in one buffer": _with(inputs=(Input("x", X), Input("y", X))),
    "input that nobody gives": _with(inputs=()),
    "input that may change": _with(buffers=(replace(RECORD.buffers[0], changed=True), RECORD.buffers[1])),
    "giant stride of one row": _with(outputs=(replace(OUT, shape=(1, 8), strides=(1 << 62, 1)),)),
    "giant extent beside 0": _with(outputs=(replace(OUT, shape=(0, 1 << 62)),)),
    "pattern that is no hex": _with(steps=(Fill(OUT, "zz z"),)),
    "fill with gaps": _with(steps=(Fill(replace(OUT, shape=(2, 8), strides=(16, 1)), "0000"),)),
    "fill of one element often": _with(steps=(Fill(replace(OUT, shape=(1 << 30,), strides=(0,)), "0000"),)),
    "copy to shared elements": _with(
        steps=(Copy(replace(X, shape=(2, 8)), replace(OUT, shape=(2, 8), strides=(0, 1))),)
    ),
    "copy between no numbers": _with(steps=(Copy(X, TensorView("out", 0, (4, 8), (8, 1), "fp8e5")),)),
    "copy of six axes apart": _with(
        steps=(
            Copy(
                replace(X, shape=(2,) * 6, strides=(0,) * 5 + (1,)),
                replace(OUT, shape=(1,) * 4 + (4, 8), strides=(8,) * 5 + (1,)),
            ),
        )
    ),
    "copy beyond a stride": _with(
        steps=(Copy(replace(X, shape=(2, 8), strides=(32, 1)), replace(OUT, shape=(2, 8), strides=(16, 1))),)
    ),
    "copy onto itself": _with(
        steps=(Copy(replace(OUT, shape=(8,), strides=(1,)), TensorView("out", 4, (8,), (1,), "bf16")),)
    ),
    "fills without end": _with(
        buffers=(*RECORD.buffers, Buffer("s", "scratch", 1 << 35, 256, True)),
        steps=(Fill(TensorView("s", 0, (1 << 35,), (1,), "u8"), "00"),) * 1000,
    ),
    "entry with a line": _step(entry="kernel\nother"),
    "entry of thousands": _step(entry="k" * 5000),
    "no entry": _step(entry=""),
    "many arguments": _step(arguments=(NullArg(),) * 2000),
    "struct of no bytes": _step(arguments=(StructArg(0, ()),)),
    "struct beyond all parameters": _step(arguments=(StructArg(5000, ()),)),
    "member behind its struct": _step(arguments=(StructArg(8, (StructMember(4, NullArg()),)),)),
    "members that share a byte": _step(
        arguments=(StructArg(16, (StructMember(4, ScalarArg("i32", 1)), StructMember(0, NullArg()))),)
    ),
    "member before its struct": _step(arguments=(StructArg(16, (StructMember(-8, NullArg()),)),)),
    "member of no type": _step(arguments=(StructArg(16, (StructMember(0, ScalarArg("i", 1)),)),)),
    "member beyond its buffer": _step(
        arguments=(StructArg(16, (StructMember(0, TensorAddress(replace(X, offset=9))),)),)
    ),
    "name of an argument": _step(arguments=(NullArg("\x1b[31m"),)),
    "float as an integer": _step(arguments=(ScalarArg("i32", 1.5),)),
    "word as an integer": _step(arguments=(ScalarArg("i32", "nan"),)),
    "integer too wide": _step(arguments=(ScalarArg("i32", 1 << 40),)),
    "float too large": _step(arguments=(ScalarArg("fp16", 1e300),)),
    "bf16 too large": _step(arguments=(ScalarArg("bf16", 1e300),)),
    "map of wider elements": _step(arguments=(TensorMapArg(OUT, (4, 8), 8, 0),)),
    "map of no element type": _step(arguments=(TensorMapArg(OUT, (4, 8), 99, 0),)),
    "map padded to twice its bytes": _step(arguments=(TensorMapArg(OUT, (4, 8), 9, 0, fp4_padded=True),)),
    "map over an expansion": _step(
        arguments=(TensorMapArg(replace(OUT, shape=(4, 64), strides=(8, 0)), (4, 8), 9, 0),)
    ),
    "map of no dimension": _step(arguments=(TensorMapArg(replace(OUT, shape=(), strides=()), (), 9, 0),)),
    "map of an empty tensor": _step(arguments=(TensorMapArg(replace(OUT, shape=(0, 8)), (4, 8), 9, 0),)),
    "map of odd rows": _step(arguments=(TensorMapArg(replace(OUT, shape=(4, 7), strides=(7, 1)), (4, 8), 9, 0),)),
    "map at an odd offset": _step(arguments=(TensorMapArg(replace(OUT, shape=(2, 8), offset=1), (2, 8), 9, 0),)),
    "map with narrow rows": _step(arguments=(TensorMapArg(OUT, (4, 4), 9, 0),)),
    "map with rows beyond its swizzle": _step(arguments=(TensorMapArg(OUT, (4, 64), 9, 1),)),
    "map with a swizzle that is none": _step(arguments=(TensorMapArg(OUT, (4, 8), 9, 77),)),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_no_replay_may_use_is_refused(name: str) -> None:
    """Each with the code of a record that can't be used, and where."""
    with pytest.raises(BadInput) as caught:
        check_record(WRONG[name](), "here")
    assert caught.value.error_code == "KB440"
    assert "here" in str(caught.value)


def elf(machine: int, flags: int, abi: int) -> bytes:
    """Return the head of an ELF file of 64 bits."""
    head = bytearray(64)
    head[:9] = b"\x7fELF\x02\x01\x01\x00" + bytes([abi])
    head[18:20], head[48:52] = machine.to_bytes(2, "little"), flags.to_bytes(4, "little")
    return bytes(head)


@pytest.mark.parametrize(
    ("code", "target"),
    [(elf(190, 0x5A0D5A, 7), "sm_90a"), (elf(190, 0x900640A, 8), "sm_100"), (elf(224, 0x54C, 3), "gfx942")],
)
def test_code_of_the_target_passes(code: bytes, target: str) -> None:
    """The flags are those of files that ptxas wrote for sm_90 and sm_100, and LLVM for gfx942."""
    check_code(code, target, "here")


@pytest.mark.parametrize(
    "code",
    [b"", b"\x7fELF", b".version 8.0\n.target sm_90\n" + bytes(64), b"\x50\xed\x55\xba" + bytes(64), elf(62, 0, 0),
     elf(224, 0x54C, 3), elf(190, 0x500550, 7), elf(190, 0x900640A, 8)],
)  # fmt: skip
def test_code_that_is_none_or_for_another_target(code: bytes) -> None:
    """PTX, a fat binary, x86, another vendor's, another SM: a driver would compile, pick or refuse."""
    with pytest.raises(BadInput) as caught:
        check_code(code, "sm_90", "here")
    assert caught.value.error_code == "KB455"


def test_code_for_the_host_is_refused() -> None:
    """As tileiras writes it beside a tile kernel: the driver would run it where results are judged."""
    file = Path(__file__).resolve().parents[3] / "data" / "code_objects" / "tile_matmul.sm_90.cubin.xz"
    code = lzma.decompress(file.read_bytes())
    for one in (code, code[:60] + b"\xff\xff" + code[62:]):
        with pytest.raises(BadInput, match="code for the host") as caught:
            check_code(one, "sm_90", "here")
        assert caught.value.error_code == "KB455"


def test_results_that_can_not_be_judged() -> None:
    """A result is memory of its own, in which no two elements share a place."""
    assert unfit_result(RECORD) == ""
    assert "the input x" in unfit_result(replace(RECORD, outputs=(X,)))
    assert "share" in unfit_result(replace(RECORD, outputs=(replace(OUT, strides=(0, 1)),)))
