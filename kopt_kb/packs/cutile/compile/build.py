"""Static profiles of tile kernels: what the launcher of an op file launches for a shape."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.compile.device import DeviceFacts
from kopt_kb.launch.compile.disassemble import sass_of, tool_version
from kopt_kb.launch.compile.request import Compilation, CompileRequest, OpCase
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.record.calls import call_of
from kopt_kb.launch.record.request import MakerRequest, OpRequest
from kopt_kb.launch.record.trace import CallTrace
from kopt_kb.packs.cutile.compile.launches import TileLaunches

__all__ = ["build_tiles"]


def build_tiles(request: CompileRequest, case: OpCase, target: CompileTarget) -> list[Compilation]:
    """Return the tile kernels that a file's `launch` launches on what its `make_inputs` makes, each once.

    Raises:
        BadInput: The file has no launcher, or it launches no tile kernel.
        CompileFailed: cuTile or tileiras refuses a kernel, or a block needs more shared memory than the request allows.
        MissingTool: cuTile or tileiras is not installed.
    """
    facts = dict(request.facts)
    if request.shared_limit_bytes is not None:
        facts["shared_memory_per_block_optin"] = request.shared_limit_bytes
    device, begin = DeviceFacts(request.device or target.name, target.name, facts), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        what = OpRequest(case.file, case.shape, case.dtype, case.config)
        asked = MakerRequest(what, target.name, device.name, facts, folder)
        trace = CallTrace(device)
        tiles = TileLaunches(trace, Path(folder), asked)
        with tiles.recording():
            call, _ = call_of(asked, trace)
            with trace.running():
                call.run()
        if not tiles.launches:
            fix = "launch() has to reach ct.launch"
            raise BadInput("no tile kernel is launched", where=case.file, fix=fix, code="KB446")
        seconds = {"compile": time.perf_counter() - begin}
        told = tiles.told(target, sass_of if request.disassemble else None)
        return [_whole(one.compilation, Path(folder) / one.code, seconds) for one in told]


def _whole(compilation: Compilation, code: Path, seconds: dict[str, float]) -> Compilation:
    versions = {**compilation.versions, **({"nvdisasm": tool_version("nvdisasm")} if compilation.assembly else {})}
    return replace(compilation, binary=code.read_bytes(), seconds=seconds, versions=versions)
