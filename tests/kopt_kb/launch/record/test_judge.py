"""A stored record replayed in the judge's own way: hashes held, sizes bounded, outputs left as files."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.base.wire import canonical
from kopt_kb.launch.record import judge
from kopt_kb.launch.record.judge import OBJECTS, RECORD, ReplayJob, driver_for, load_record, replayed
from kopt_kb.launch.record.model import VERSION, Buffer, Input, Launch, LaunchRecord, TensorAddress, TensorView

CODE = b"\x7fELF\x02\x01\x01\x00\x07" + bytes(9) + b"\xbe\x00" + bytes(28) + b"\x5a" + bytes(15)
"""The head of an ELF file for sm_90."""

DIGEST = hashlib.sha256(CODE).hexdigest()
X, OUT = TensorView("x", 0, (4,), (1,), "u8"), TensorView("out", 0, (4,), (1,), "u8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A record of one launch."""
    step = Launch(DIGEST, "kernel", (1, 1, 1), (32, 1, 1), (1, 1, 1), 0, (TensorAddress(X), TensorAddress(OUT)))
    record = LaunchRecord(
        v=VERSION, label="l", op="", shape=(), dtype="", target="sm_90",
        buffers=(Buffer("x", "input", 4, 256, False), Buffer("out", "output", 4, 256, True)),
        inputs=(Input("x", X),), outputs=(OUT,), steps=(step,), codes={DIGEST: len(CODE)},
    )  # fmt: skip
    place = tmp_path / "record"
    (place / OBJECTS).mkdir(parents=True)
    (place / OBJECTS / DIGEST).write_bytes(CODE)
    (place / RECORD).write_bytes(canonical(record.to_json()))
    return place


def _job(folder: Path, tmp_path: Path) -> ReplayJob:
    (tmp_path / "in.bin").write_bytes(b"\1\2\3\4")
    return ReplayJob(str(folder), {"x": str(tmp_path / "in.bin")}, str(tmp_path))


def test_outputs_are_files(folder: Path, tmp_path: Path, device: Any) -> None:
    """Output 0 is 0.bin; nothing else was touched."""
    used = device(kernel=lambda d, _, v: d.write(v[1], d.read(v[0], 4)[::-1]))
    assert replayed(_job(folder, tmp_path), used).touched == ()
    assert (tmp_path / "0.bin").read_bytes() == b"\4\3\2\1"


def test_a_changed_code_object_is_not_loaded(folder: Path, tmp_path: Path, device: Any) -> None:
    """Its bytes are hashed before the driver sees them."""
    (folder / OBJECTS / DIGEST).write_bytes(CODE + b"!")
    with pytest.raises(BadInput) as caught:
        replayed(_job(folder, tmp_path), device(kernel=lambda *_: None))
    assert caught.value.error_code == "KB455"


@pytest.mark.parametrize("text", [b"", b"{}", b"[1]", b"\xff", b'{"v": 1', b"null"])
def test_what_is_no_record(folder: Path, text: bytes) -> None:
    """One line that names the file."""
    (folder / RECORD).write_bytes(text)
    with pytest.raises(BadInput, match=RECORD):
        load_record(folder)


def test_an_absent_or_huge_record(folder: Path, tmp_path: Path) -> None:
    """Neither is read."""
    with pytest.raises(BadInput, match="no launch record"):
        load_record(tmp_path / "nowhere")
    (folder / RECORD).write_bytes(b" " * (5 << 20))
    with pytest.raises(BadInput, match="more than"):
        load_record(folder)


def test_the_judge_loads_no_candidate_and_no_framework() -> None:
    """Neither torch nor triton: their import would be a way in, and a second of time."""
    probe = "import sys, kopt_kb.launch.record.judge; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"import json; {probe}"], capture_output=True, text=True, check=True
    )
    assert not {"torch", "triton", "numpy"} & set(json.loads(done.stdout))


def test_a_machine_without_a_gpu_says_so() -> None:
    """The program's greeting says `missing`, and it does not die."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "kopt_kb.launch.record.judge"], input=b"",
        capture_output=True, check=True,
        env={"PATH": "", "CUDA_VISIBLE_DEVICES": ""},
    )  # fmt: skip
    assert json.loads(done.stdout)["missing"]


@pytest.mark.parametrize(
    ("target", "cuda", "hip", "found"),
    [
        ("sm_90", True, True, "cuda"), ("gfx942", True, True, "hip"), ("", True, True, "cuda"), ("", False, True, "hip"),
        ("", False, False, "no cuda"), ("sm_90", False, True, "no cuda"), ("gfx942", True, False, "no hip"),
    ],
)  # fmt: skip
def test_the_records_target_names_the_driver(
    monkeypatch: pytest.MonkeyPatch, target: str, cuda: bool, hip: bool, found: str
) -> None:
    """Without a target the GPU that is here; where there is none, what NVIDIA's driver lacks is said."""

    def kind(name: str, there: bool) -> Any:
        def made() -> str:
            if not there:
                raise MissingTool(f"no {name}")
            return name

        return made

    monkeypatch.setattr(judge, "CudaDriver", kind("cuda", cuda))
    monkeypatch.setattr(judge, "HipDriver", kind("hip", hip))
    try:
        assert driver_for(target) == found
    except MissingTool as error:
        assert error.what == found
