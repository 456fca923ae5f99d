"""The five phases in their order: check, classify, apply, verify, bench; what was not done is empty, with a reason."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_words, write_output
from kopt_kb.base.wire import WireError, parse, read
from kopt_kb.launch.kernel.prepared import MARK, VersionTrial
from kopt_kb.packs.tileir.environment import TileirEnvironment
from kopt_kb.packs.tileir.report import Report, TileirComparison, TileirTiming
from kopt_kb.packs.tileir.rewrite import RewriteOptions, apply_source
from kopt_kb.sandbox.process import ChildLimits, environment, run

__all__ = ["SIZES", "FileDriver", "bench_file", "run_phases"]

SIZES = (128, 1024, 8192)
"""Sizes that are timed: what is right for a small problem is not for a large one."""

_PTX, _TILEIR = "PTX (ENABLE_TILE=0)", "TileIR (ENABLE_TILE=1)"
_NO_DRIVER = "nothing starts the kernels: give --driver FILE with run(module), or a file with make_inputs and launch"


@dataclass(frozen=True, slots=True)
class FileDriver:
    """How a kernel file is run.

    Attributes:
        file: A file with `run(module)` and maybe `bench(module, size)`; empty: the kernel file itself.
        shape: For a file with `make_inputs`, such as `64x64`.
        dtype: Likewise.
        wall_s: Seconds a run may take.
    """

    file: str = ""
    shape: str = ""
    dtype: str = "fp16"
    wall_s: float = 600.0


def run_phases(
    path: str,
    output: str,
    driver: FileDriver,
    machine: TileirEnvironment,
    *,
    options: RewriteOptions,
    force: bool = False,
) -> Report:
    """Prepare a file, verify and time it, and return the report.

    A prepared file that does not give what the original gives is removed again.

    Args:
        path: The kernel file.
        output: Where the prepared one goes; empty: beside it.
        driver: How kernels are run.
        machine: What there is of TileIR here.
        options: What else is written into the file.
        force: Write over a file that exists.

    Raises:
        BadInput: The file can't be read or written, or holds no kernel.
    """
    done = apply_source(path, options=options)
    target = output or done.output
    write_output(target, done.optimized_code, force=force)
    compatibility = _compare(path, target, driver, machine, tile=False)
    if compatibility.status == "failed":
        Path(target).unlink()
        absent = TileirComparison("not run", None, equal_bits=False, how="", reason="the compatibility check failed")
        stopped = f"the prepared file gives something else without TileIR: {compatibility.reason or 'see above'}"
        return Report(done.kernels, compatibility, absent, _empty("the compatibility check failed"), "", stopped)
    validation = _compare(path, target, driver, machine, tile=True)
    failed = validation.status == "failed"
    timings = _empty("the validation failed") if failed else bench_file(path, target, driver, machine)
    stopped = "TileIR gives something else than the original" if failed else _slower(timings)
    return Report(done.kernels, compatibility, validation, timings, target, stopped)


def bench_file(path: str, prepared: str, driver: FileDriver, machine: TileirEnvironment) -> tuple[TileirTiming, ...]:
    """Return both backends' times: PTX runs the original, TileIR the prepared file; empty where that can't be."""
    if not machine.gpus:
        return _empty("no NVIDIA GPU is visible")
    reason = "" if _runnable(path, driver) else _NO_DRIVER
    if reason:
        return _empty(reason)
    sizes = ",".join(map(str, SIZES))
    plain, said = _trial(path, prepared, driver, {"ENABLE_TILE": "0", "TILEIR_DESCRIPTORS": "0"}, sizes)
    if plain is None or not plain.times:
        return _empty(said or "the driver has no bench(module, size)")
    rows = []
    tiled, said = _trial(path, prepared, driver, {"ENABLE_TILE": "1"}, sizes) if machine.tileir_active else (None, "")
    for at, one in enumerate(plain.times):
        rows.append(TileirTiming(f"{_PTX} at {one.size}", one.original_ms, 1.0, ""))
        if tiled is None or at >= len(tiled.times):
            rows.append(
                TileirTiming(f"{_TILEIR} at {one.size}", None, None, said or "the TileIR backend is not active here")
            )
        else:
            time = tiled.times[at].prepared_ms
            rows.append(TileirTiming(f"{_TILEIR} at {one.size}", time, one.original_ms / time, ""))
    return tuple(rows)


def _empty(reason: str) -> tuple[TileirTiming, ...]:
    return TileirTiming(_PTX, None, None, reason), TileirTiming(_TILEIR, None, None, reason)


def _slower(timings: tuple[TileirTiming, ...]) -> str:
    slow = [one.backend for one in timings if one.speedup is not None and one.speedup < 1]
    return f"slower than PTX: {', '.join(slow)}; keep the original for these" if slow else ""


def _compare(
    path: str, prepared: str, driver: FileDriver, machine: TileirEnvironment, *, tile: bool
) -> TileirComparison:
    if tile and not machine.tileir_active:
        return TileirComparison(
            "not run", None, equal_bits=False, how="", reason="the TileIR backend is not active here"
        )
    if not _runnable(path, driver):
        return TileirComparison("not run", None, equal_bits=False, how="", reason=_NO_DRIVER)
    more = {"ENABLE_TILE": "1" if tile else "0", "TILEIR_DESCRIPTORS": "1"}
    if not machine.gpus:
        more["TRITON_INTERPRET"] = "1"
    trial, said = _trial(path, prepared, driver, more, "")
    if trial is None:
        return TileirComparison("failed", None, equal_bits=False, how="", reason=said)
    reasons = [f"without descriptors: {', '.join(trial.refused)}"] if trial.refused else []
    if not trial.outputs:
        reasons.append("the driver gave no tensor")
    passed = trial.outputs > 0 and (trial.equal_bits or (tile and trial.max_difference is not None))
    return TileirComparison(
        "passed" if passed else "failed", trial.max_difference, trial.equal_bits, trial.device, "; ".join(reasons)
    )


def _trial(
    path: str, prepared: str, driver: FileDriver, more: dict[str, str], sizes: str
) -> tuple[VersionTrial | None, str]:
    words = [path, prepared, driver.file, driver.shape, driver.dtype, sizes]
    env = environment({**more, "TORCH_COMPILE_DISABLE": "1"}, ours=True)
    ended = run(
        [sys.executable, "-m", "kopt_kb.launch.kernel.prepared", *words], env=env, limits=ChildLimits(driver.wall_s)
    )
    if ended.passed:
        return None, f"it ran past its limit ({ended.passed}) of {driver.wall_s:g} s"
    lines = [one for one in ended.stdout.decode(errors="replace").splitlines() if one.startswith(MARK)]
    if ended.code or not lines:
        return None, ended.last_line or f"the run ended with {ended.code}"
    try:
        return read(VersionTrial, parse(lines[-1][len(MARK) :])), ""
    except WireError as error:
        return None, str(error)


def _runnable(path: str, driver: FileDriver) -> bool:
    """Return whether there is something to start the kernels with; read, not run."""
    text = read_words(driver.file or path)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        fix = "give a Python file with run(module)"
        raise BadInput(f"is not valid Python: {error}", where=driver.file or path, fix=fix, code="KB116") from error
    names = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
    return "run" in names or ({"make_inputs", "launch"} <= names and bool(driver.shape))
