"""Records of CUDA C++ files: bounded like all others, replayed on a device in memory, whole from a warm maker's cage."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.cuda.launches import record_cuda
from kopt_kb.launch.judge.makers import Makers
from kopt_kb.launch.record.bounds import check_code, check_record
from kopt_kb.launch.record.judge import load_record, stored
from kopt_kb.launch.record.model import Fill, Launch, LaunchRecord
from kopt_kb.launch.record.replay import Replay
from kopt_kb.launch.record.request import MakerRequest, OpRequest

PACKAGED = Path(__file__).resolve().parents[4] / "kernels" / "cuda"


def _record(path: Path, shape: tuple[int, ...], dtype: str, folder: Path, target: str = "sm_90") -> LaunchRecord:
    what = OpRequest(str(path), shape, dtype)
    record = record_cuda(MakerRequest(what, target, "Test", {}, str(folder)), what)
    check_record(record, "test")
    for digest in record.codes:
        check_code((folder / digest).read_bytes(), record.target, "test")
    return record


def test_a_replay_does_the_steps_in_order(scale: Path, nvrtc: str, tmp_path: Path, device: Any) -> None:
    """A fill, then two kernels over scratch, with the addresses and numbers of the header."""
    record = _record(scale, (1000,), "fp32", tmp_path)
    assert [type(one) for one in record.steps] == [Fill, Launch, Launch]

    def twice(memory: Any, step: Launch, values: list[Any]) -> None:
        x, half, count, factor = values
        read = struct.unpack(f"<{count}f", memory.read(x, 4 * count))
        held = struct.unpack(f"<{count}f", memory.read(half, 4 * count))
        memory.write(
            half, struct.pack(f"<{count}f", *(h + one * factor * 2 for h, one in zip(held, read, strict=True)))
        )

    def joined(memory: Any, step: Launch, values: list[Any]) -> None:
        half, y, out, count, _ = values
        parts = [struct.unpack(f"<{count}f", memory.read(at, 4 * count)) for at in (half, y)]
        memory.write(out, struct.pack(f"<{count}f", *map(sum, zip(*parts, strict=True))))

    entries = {one.entry: work for one, work in zip(record.launches, (twice, joined), strict=True)}
    xs, ys = [float(number) for number in range(1000)], [0.25 * number for number in range(1000)]
    given = {"x": struct.pack("<1000f", *xs), "y": struct.pack("<1000f", *ys)}
    with Replay(record, lambda digest: (tmp_path / digest).read_bytes(), device(**entries)) as replay:
        left = replay.run(given)
    assert not left.touched
    expected = [1.5 + x + y for x, y in zip(xs, ys, strict=True)]
    assert list(struct.unpack("<1000f", left.outputs[0])) == expected


AXPY = """
op = "elementwise"
shape = "Nx..."
dtypes = ["fp32"]
[inputs]
x = "[elements]"
y = "[elements]"
[outputs]
out = "[elements]"
[[steps]]
launch = "axpy"
grid = ["cdiv(elements, 256)"]
block = [256]
arguments = ["x", "y", "out", "fp32 2.0", "i32 elements", "null", "null"]
"""


def test_an_amd_code_object_with_a_header_is_a_record(tmp_path: Path, device: Any) -> None:
    """As a cubin is: its parameters are held against the header, its processor against the target."""
    code = Path(__file__).parents[3] / "data" / "code_objects" / "axpy.gfx942.hsaco"
    file = tmp_path / "axpy.hsaco"
    file.write_bytes(code.read_bytes())
    (tmp_path / "axpy.toml").write_text(AXPY)
    record = _record(file, (300,), "fp32", tmp_path, "gfx942")
    assert (record.target, record.launches[0].entry, record.launches[0].grid) == ("gfx942", "axpy", (2, 1, 1))

    def axpy(memory: Any, step: Launch, values: list[Any]) -> None:
        x, y, out, factor, count, *rest = values
        assert rest == [0, 0]
        xs, ys = (struct.unpack(f"<{count}f", memory.read(at, 4 * count)) for at in (x, y))
        memory.write(out, struct.pack(f"<{count}f", *(factor * a + b for a, b in zip(xs, ys, strict=True))))

    given = {"x": struct.pack("<300f", *range(300)), "y": struct.pack("<300f", *(0.5 for _ in range(300)))}
    with Replay(record, lambda one: (tmp_path / one).read_bytes(), device(axpy=axpy)) as replay:
        left = replay.run(given)
    assert list(struct.unpack("<300f", left.outputs[0])) == [2.0 * one + 0.5 for one in range(300)]
    with pytest.raises(BadInput, match="nothing for gfx950: the code object is for gfx942"):
        _record(file, (300,), "fp32", tmp_path, "gfx950")
    with pytest.raises(BadInput, match="nothing for sm_90"):
        _record(file, (300,), "fp32", tmp_path, "sm_90")
    (tmp_path / "axpy.toml").write_text(AXPY.replace("[256]", "[512]"))
    with pytest.raises(BadInput, match="compiled for blocks of 256 threads, the header launches 512"):
        _record(file, (300,), "fp32", tmp_path, "gfx942")


STRUCTS = """/* kb
op = "elementwise"
shape = "Nx..."
dtypes = ["fp32"]
[inputs]
x = "[elements]"
y = "[elements]"
[outputs]
out = "[elements]"
[[steps]]
launch = "packed"
block = [128]
grid = ["cdiv(elements, 128)"]
arguments = [MEMBERS, "y"]
*/
struct Task { int count; const float* x; float factor; float* out; };
__global__ void packed(Task task, const float* y) {
  const int at = blockIdx.x * 128 + threadIdx.x;
  if (at < task.count) task.out[at] = task.factor * task.x[at] + y[at];
}
"""


def test_a_struct_by_value_is_a_list_of_its_members(nvrtc: str, tmp_path: Path, device: Any) -> None:
    """Laid out as the compiler does, held against the size that the machine code says; its tensors are used."""
    file = tmp_path / "packed.cu"
    file.write_text(STRUCTS.replace("MEMBERS", '["i32 elements", "x", "fp32 2.5", "out"]'))
    record = _record(file, (300,), "fp32", tmp_path)
    seen: list[bytes] = []

    def packed(memory: Any, step: Launch, values: list[Any]) -> None:
        seen.append(bytes(values[0]))
        count, x, factor, out = struct.unpack("<i4xQf4xQ", seen[-1])
        xs, ys = (struct.unpack(f"<{count}f", memory.read(at, 4 * count)) for at in (x, values[1]))
        memory.write(out, struct.pack(f"<{count}f", *(factor * a + b for a, b in zip(xs, ys, strict=True))))

    given = {"x": struct.pack("<300f", *range(300)), "y": struct.pack("<300f", *(0.5 for _ in range(300)))}
    with Replay(
        record, lambda one: (tmp_path / one).read_bytes(), device(**{record.launches[0].entry: packed})
    ) as replay:
        left = replay.run(given)
    assert (left.touched, len(seen[0])) == ((), 32)
    assert list(struct.unpack("<300f", left.outputs[0])) == [2.5 * one + 0.5 for one in range(300)]
    file.write_text(STRUCTS.replace("MEMBERS", '["i32 elements", "x", "out"]'))
    with pytest.raises(BadInput, match=r"parameters of \[32, 8\] bytes, the header gives \[24, 8\]"):
        _record(file, (300,), "fp32", tmp_path)
    for wrong, why in (("[]", "a struct without members"), ('["z"]', "names 'z', which is no tensor")):
        file.write_text(STRUCTS.replace("MEMBERS", wrong))
        with pytest.raises(BadInput, match=why):
            _record(file, (300,), "fp32", tmp_path)


@pytest.mark.parametrize(
    ("name", "shape", "dtype", "launches"),
    [
        ("rms_norm", (16, 4096), "bf16", 1), ("rms_norm", (16, 1001), "fp16", 1), ("rms_norm", (4, 40000), "fp32", 1),
        ("softmax", (16, 4096), "bf16", 1), ("softmax", (4, 131072), "fp16", 2), ("softmax", (70000, 33), "fp32", 1),
    ],
)  # fmt: skip
def test_the_packaged_files_are_recorded(
    nvrtc: str, tmp_path: Path, name: str, shape: tuple[int, ...], dtype: str, launches: int
) -> None:
    """For every length of a row: in shared memory or not, in 16-byte accesses or not, in one launch or two."""
    record = _record(PACKAGED / f"{name}.cu", shape, dtype, tmp_path)
    assert (record.op, record.shape, record.dtype, len(record.launches)) == (name, shape, dtype, launches)
    assert not record.not_replayable
    assert record.sources.keys() == {f"{name}.cu"}
    assert record.versions == {"nvrtc": nvrtc}


@pytest.mark.parametrize("target", ["sm_80", "sm_100", "sm_120"])
def test_other_targets(nvrtc: str, tmp_path: Path, target: str) -> None:
    """The same file."""
    assert _record(PACKAGED / "rms_norm.cu", (16, 4096), "bf16", tmp_path, target).target == target


def test_what_a_record_is_made_from_is_named(scale: Path, nvrtc: str, tmp_path: Path) -> None:
    """Headers of its own folder too, and nothing outside."""
    (tmp_path / "own.cuh").write_text("#pragma once\n")
    scale.write_text(scale.read_text().replace("#include <cuda_bf16.h>", '#include <cuda_bf16.h>\n#include "own.cuh"'))
    assert _record(scale, (10,), "bf16", tmp_path).sources.keys() == {"own.cuh", "scale.cu"}


def test_a_launcher_has_results(scale: Path, nvrtc: str, tmp_path: Path) -> None:
    """Or nothing could be judged."""
    scale.write_text(scale.read_text().replace("[outputs]\n", ""))
    with pytest.raises(BadInput, match="has no outputs"):
        _record(scale, (10,), "bf16", tmp_path)


@pytest.mark.torch
@pytest.mark.triton
def test_a_warm_maker_records_a_blob_without_a_name(scale: Path, nvrtc: str, tmp_path: Path) -> None:
    """In its cage, as the loop does with a candidate; what does not compile comes back with its line."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    blob, bad = tmp_path / "kernel.py", tmp_path / "bad.cu"
    blob.write_text(scale.read_text())
    bad.write_text(scale.read_text().replace("half[at] +=", "half[here] +="))
    with Makers(1) as makers:
        asked = [
            (MakerRequest(OpRequest(str(one), (1000,), "bf16", {"THREADS": 64}), "sm_90", "Test", {}, ""), out)
            for one, out in ((blob, tmp_path / "record"), (bad, tmp_path / "none"))
        ]
        made, refused = makers.make_all(asked)
    record = load_record(made.folder)
    assert record == made.stored()
    _, code = stored(made.folder)
    assert code(record.launches[0].code)
    assert refused.error is not None
    assert refused.error.error_code == "KB070"
    line = next(number for number, text in enumerate(bad.read_text().splitlines(), 1) if "half[here]" in text)
    assert refused.error.where == f"{bad}:{line}"
