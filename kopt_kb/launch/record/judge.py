"""Replays stored records on a GPU in a process of its own; it imports no candidate, and neither torch nor triton.

It stays and answers the questions of `service.py`. `replayed` does one job, for the process that a profiler watches:
output n is the file `<n>.bin` in the outputs folder.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.base.wire import Wire, canonical, parse, read
from kopt_kb.launch.record.bounds import MAX_CODE_BYTES, check_code, check_record
from kopt_kb.launch.record.cuda_driver import CudaDriver
from kopt_kb.launch.record.driver import Driver
from kopt_kb.launch.record.hip_driver import HipDriver
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.launch.record.replay import Replay
from kopt_kb.launch.record.service import Greeting, Server, serve

__all__ = ["OBJECTS", "RECORD", "ReplayJob", "ReplayVerdict", "driver_for", "load_record", "main", "replayed", "stored"]

RECORD, OBJECTS = "record.json", "objects"
"""Names inside a record's folder: the record, and the folder of its code objects by sha256."""

MAX_RECORD_BYTES = 4 << 20
"""Size above which a record is refused before it is read."""


@dataclass(frozen=True, slots=True)
class ReplayJob(Wire):
    """What to replay, with which inputs, and where the outputs go."""

    record: str
    inputs: dict[str, str]
    outputs: str


@dataclass(frozen=True, slots=True)
class ReplayVerdict(Wire):
    """What the replay found: what was touched, the driver's complaint, or what is missing on this machine."""

    touched: tuple[str, ...] = ()
    error: str = ""
    missing: str = ""


def load_record(folder: Path) -> LaunchRecord:
    """Return the checked record of a folder.

    Raises:
        BadInput: There is none, it is too large or malformed, or it names what can't be replayed.
    """
    path = folder / RECORD
    if not path.is_file():
        raise BadInput("no launch record", where=str(path), fix="make one with kb record --out", code="KB440")
    if path.stat().st_size > MAX_RECORD_BYTES:
        raise BadInput(f"more than {MAX_RECORD_BYTES} bytes", where=str(path), code="KB440")
    record = read(LaunchRecord, parse(path.read_bytes(), where=str(path)), where=str(path))
    check_record(record, str(path))
    return record


def code_of(folder: Path, digest: str, target: str) -> bytes:
    """Return a code object for a target whose bytes have the hash that names it; raises `BadInput` otherwise."""
    path = folder / OBJECTS / digest
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_CODE_BYTES:
        raise BadInput("no code object, or one that is too large", where=str(path), fix="record it again", code="KB455")
    code = path.read_bytes()
    if hashlib.sha256(code).hexdigest() != digest:
        raise BadInput("the code object is not the one recorded", where=str(path), fix="record it again", code="KB455")
    check_code(code, target, str(path))
    return code


def replayed(job: ReplayJob, driver: Driver) -> ReplayVerdict:
    """Replay a job on a device and leave its outputs as files."""
    folder = Path(job.record)
    record = load_record(folder)
    inputs = {name: Path(path).read_bytes() for name, path in job.inputs.items()}
    with Replay(record, lambda digest: code_of(folder, digest, record.target), driver) as replay:
        left = replay.run(inputs)
    for number, content in enumerate(left.outputs):
        (Path(job.outputs) / f"{number}.bin").write_bytes(content)
    return ReplayVerdict(touched=left.touched)


def stored(folder: Path) -> tuple[LaunchRecord, Callable[[str], bytes]]:
    """Return the checked record of a folder, and what returns its code objects, hashed and checked too."""
    record = load_record(folder)
    return record, lambda digest: code_of(folder, digest, record.target)


def driver_for(target: str = "") -> Driver:
    """Return the driver of the GPU that runs code for a target; without a target, of the one that is here.

    Raises:
        MissingTool: There is none.
    """
    if target:
        return HipDriver() if target.startswith("gfx") else CudaDriver()
    try:
        return CudaDriver()
    except MissingTool as missing:
        try:
            return HipDriver()
        except MissingTool:
            raise missing from None


def main() -> None:
    """Answer questions until there are no more."""
    os.environ["CUDA_MODULE_LOADING"] = "EAGER"  # lazily loaded kernels could wait for the device behind a hold
    try:
        server = Server(driver_for(), stored)
    except KoptError as error:
        sys.stdout.buffer.write(canonical(Greeting(missing=error.what).to_json()) + b"\n")
        return
    serve(server, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
