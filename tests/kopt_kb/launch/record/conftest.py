"""Answers of a maker to many requests, made in one child process; a device whose memory is a dictionary of bytes."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.wire import canonical, read
from kopt_kb.launch.record.model import Launch, TensorMapArg
from kopt_kb.launch.record.moves import Move, moved
from kopt_kb.launch.record.own_memory import OwnPlace
from kopt_kb.launch.record.request import MakerAnswer, MakerRequest, OpRequest

LAUNCHERS = Path(__file__).resolve().parents[3] / "data" / "launchers.py"
WAYS = (
    "plain", "beyond", "into_x", "most", "summed", "halves", "tuned", "copied", "computed", "doubled", "remembered",
    "reads", "nothing", "asks", "in_gluon",
)  # fmt: skip
_MANY = """
import json, sys
from kopt_kb.launch.record.maker import answer
from kopt_kb.launch.record.request import MakerRequest
from kopt_kb.base.wire import canonical, read
import os
out = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
for one in json.load(sys.stdin):
    out.write(canonical(answer(read(MakerRequest, one, where="request")).to_json()).decode() + "\\n")
out.close()
"""


@pytest.fixture(scope="session")
def answers() -> Callable[[list[MakerRequest]], list[MakerAnswer]]:
    """Runs requests in one maker process."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")

    def run(requests: list[MakerRequest]) -> list[MakerAnswer]:
        body = json.dumps([json.loads(canonical(one.to_json())) for one in requests])
        done = subprocess.run([sys.executable, "-c", _MANY], input=body, capture_output=True, text=True, check=True)
        return [read(MakerAnswer, json.loads(line), where="answer") for line in done.stdout.splitlines()]

    return run


@pytest.fixture(scope="session")
def recorded(answers: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[MakerAnswer, Path]]:
    """Way of the launchers in tests/data → the answer, and where its code objects are."""
    folders = {way: tmp_path_factory.mktemp(way) for way in WAYS}
    facts = {"multi_processor_count": 7}
    requests = [
        MakerRequest(
            OpRequest(str(LAUNCHERS), (1000,), "bf16", {"HOW": way}), "sm_90", "Test", facts, str(folders[way])
        )
        for way in WAYS
    ]
    return {way: (one, folders[way]) for way, one in zip(WAYS, answers(requests), strict=True)}


class BytesDevice:
    """A device whose kernels are Python functions of (device, launch, values)."""

    def __init__(self, **kernels: Callable[[Any, Launch, list[Any]], None]) -> None:
        self.memory: dict[int, bytearray] = {}
        self.kernels = kernels
        self.launched: list[tuple[str, list[Any]]] = []
        self.own: tuple[OwnPlace, ...] = ()
        self.loaded = 0
        self._next = 1 << 20

    def _at(self, address: int) -> tuple[bytearray, int]:
        for base, held in self.memory.items():
            if base <= address <= base + len(held):
                return held, address - base
        raise AssertionError(f"no memory at {address}")

    def allocate(self, size: int) -> int:
        base, self._next = self._next, self._next + size + (1 << 20)
        self.memory[base] = bytearray(size)
        return base

    def free(self, address: int) -> None:
        del self.memory[address]

    def write(self, address: int, data: bytes) -> None:
        held, at = self._at(address)
        held[at : at + len(data)] = data

    def read(self, address: int, size: int) -> bytes:
        held, at = self._at(address)
        return bytes(held[at : at + size])

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        self.write(address, pattern * count)

    def copy(self, target: int, source: int, size: int) -> None:
        self.write(target, self.read(source, size))

    def move(self, target: int, source: int, what: Move) -> None:
        for place, one in moved(what, lambda at, size: self.read(source + at, size)):
            self.write(target + place, one)

    def load(self, code: bytes, entry: str, shared_bytes: int) -> Any:
        self.loaded += 1
        return self.kernels[entry]

    def own_memory(self, code: bytes) -> tuple[OwnPlace, ...]:
        return self.own

    def tensor_map(self, one: TensorMapArg, address: int) -> Any:
        return ("map", address, one.box)

    def launch(self, kernel: Any, step: Launch, values: list[Any], types: list[Any]) -> None:
        self.launched.append((step.entry, values))
        kernel(self, step, values)

    def synchronize(self) -> None:
        pass


@pytest.fixture
def device() -> type[BytesDevice]:
    """The class of the device in memory."""
    return BytesDevice


_SPEC = importlib.util.spec_from_file_location("launch_records", Path(__file__).with_name("launch_records.py"))
assert _SPEC is not None and _SPEC.loader is not None
_MODULE = importlib.util.module_from_spec(_SPEC)
sys.modules["launch_records"] = _MODULE
_SPEC.loader.exec_module(_MODULE)


@pytest.fixture(scope="session")
def hip_runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with the C interface of HIP's runtime that works on this process's memory."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler on PATH")
    out = tmp_path_factory.mktemp("hip") / "libamdhip64.so"
    source = Path(__file__).with_name("hip_runtime.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(out), str(source)], check=True, timeout=120)
    return out
