"""The child process that judges one candidate: `python -m kopt_kb.services.candidate FOLDER PARENT_PID`.

The folder holds job.json, candidate.py and incumbent.py; the answer is result.json, renamed into place with the token
of the job, so that nothing a candidate prints can be taken for it. A candidate that is out to deceive runs in this
process and could do more; the source lint and the roofline gate are there for it.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import signal
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from kopt_kb.errors import KoptError, MissingTool
from kopt_kb.kernels.compile.loader import load_module
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.tolerances import Tolerance
from kopt_kb.services.candidate_profile import launch_once, ncu_report
from kopt_kb.services.candidate_search import run_search

__all__ = ["answer", "main"]

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_SEARCH_SAMPLES = 20
_Body = Mapping[str, Any]


def main(words: Sequence[str]) -> int:
    """Answer the job of a folder; the exit status is 0 once the answer is in place."""
    folder, parent = Path(words[0]), int(words[1])
    if parent:
        _die_with(parent)
    job_file = folder / "job.json"
    job = json.loads(job_file.read_text(encoding="utf-8"))
    job_file.unlink()
    result = answer(job["kind"], job["body"], folder)
    partial = folder / "result.json.partial"
    partial.write_text(json.dumps({"token": job["token"], "result": result}), encoding="utf-8")
    partial.rename(folder / "result.json")
    return 0


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends: an orphan would keep the GPU busy."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def answer(kind: str, body: _Body, folder: Path) -> dict[str, Any]:
    """Return the answer to a job; `missing` names a tool that is absent, `oom` device memory that ran out."""
    answers: Mapping[str, Callable[[_Body, Path], dict[str, Any]]] = {
        "environment": _environment, "check": _check, "timing": _timing, "search": _search,
        "evidence": ncu_report, "launch": launch_once,
    }  # fmt: skip
    if kind not in answers:
        return {"unavailable": f"this machine has no {kind}"}
    try:
        return answers[kind](body, folder)
    except MissingTool as error:
        return {"missing": error.what}
    except Exception as error:
        if type(error).__name__ == "OutOfMemoryError":
            return {"oom": _line(error)}
        raise


def _environment(_: _Body, __: Path) -> dict[str, Any]:
    from kopt_kb.kernels.ceilings import environment

    found = environment()
    clocks = {name: value for name, value in found.items() if name.startswith(("clocks", "power", "persistence"))}
    versions = {name: str(found[name]) for name in ("torch", "triton", "cuda")}
    return {
        "device": found["device"], "uuid": None, "driver": found.get("driver_version"), "clocks": clocks,
        "versions": versions,
    }  # fmt: skip


def _shapes(body: _Body) -> dict[str, Shape]:
    return {text: tuple(map(int, text.split("x"))) for text in body["shapes"]}


def _device(body: _Body) -> str:
    return str(body.get("device", "cuda"))


def _check(body: _Body, folder: Path) -> dict[str, Any]:
    """Build on every shape, then compare with the float64 reference on every shape and seed."""
    from kopt_kb.kernels.ceilings import require_gpu
    from kopt_kb.kernels.verification import verify

    if _device(body).startswith("cuda"):
        require_gpu()
    none = {"passed": False, "problem": "", "max_rel_err": None, "checks": 0}
    shapes = _shapes(body)
    try:
        module = load_module(str(folder / "candidate.py"))
        for shape in shapes.values():
            module.launch(*module.make_inputs(shape, body["dtype"], _device(body), body["seeds"][0]))
    except MissingTool:
        raise
    except Exception as error:  # noqa: BLE001 - a candidate may raise anything, and that is the answer
        return {"build_error": _line(error), **none}
    try:
        found = verify(
            module,
            list(shapes.values()),
            body["dtype"],
            seeds=body["seeds"],
            device=_device(body),
            tolerance=Tolerance.from_json(body["tolerance"]),
        )
    except MissingTool:
        raise
    except Exception as error:  # noqa: BLE001 - likewise
        return {"build_error": "", **none, "problem": _line(error)}
    failed = next((f"{one['shape']}, seed {one['seed']}: {one['problem']}" for one in _failed(found.to_json())), "")
    worst = [one["max_rel_err"] for one in found.to_json()["checks"] if one.get("max_rel_err") is not None]
    by_shape = {text: found.max_rel_err(shape) for text, shape in shapes.items()}
    return {
        "build_error": "", "passed": found.passed, "problem": failed, "max_rel_err": max(worst, default=None),
        "max_rel_err_by_shape": {text: error for text, error in by_shape.items() if math.isfinite(error)},
        "checks": len(found.checks),
    }  # fmt: skip


def _failed(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in found["checks"] if not one["passed"]]


def _timing(body: _Body, folder: Path) -> dict[str, Any]:
    """Time incumbent, candidate and an earlier version if one is given, in turn.

    Caches are cold and each repeat has inputs of another seed.
    """
    names = [side for side in ("incumbent", "candidate", "best") if (folder / f"{side}.py").is_file()]
    modules = {side: load_module(str(folder / f"{side}.py")) for side in names}
    shapes: dict[str, dict[str, list[dict[str, float]]]] = {}
    for text, shape in _shapes(body).items():
        sides: dict[str, list[dict[str, float]]] = {side: [] for side in modules}
        for repeat in range(int(body["repeats"])):
            seed = int(body["seeds"][0]) + repeat
            inputs = modules["candidate"].make_inputs(shape, body["dtype"], _device(body), seed)
            functions = [_launcher(module, inputs) for module in modules.values()]
            for side, durations in zip(sides, _measure(functions, int(body["samples"]), body), strict=True):
                sides[side].append(_summary(durations))
        shapes[text] = sides
    return {"shapes": shapes}


def _launcher(module: ModuleType, inputs: tuple[Any, ...], **options: Any) -> Callable[[], object]:
    out = module.launch(*inputs, **options)
    return lambda: module.launch(*inputs, out=out, **options)


def _measure(functions: list[Callable[[], object]], samples: int, body: _Body) -> tuple[tuple[float, ...], ...]:
    from kopt_kb.kernels.timing import measure

    return measure(functions, rounds=samples, warmup=5, flush_bytes=body.get("flush_bytes") or None)


def _summary(durations_s: Sequence[float]) -> dict[str, float]:
    from kopt_kb.kernels.timing import summarise

    found = summarise(durations_s)
    mad_s = statistics.median(abs(one - found.median_s) for one in durations_s)
    return {
        "n": found.count, "median_s": found.median_s, "mad_s": mad_s, "p20_s": found.p20_s, "p80_s": found.p80_s,
    }  # fmt: skip


def _search(body: _Body, folder: Path) -> dict[str, Any]:
    """Search each shape's space; a configuration that fails, or is wrong, takes for ever."""
    from kopt_kb.kernels.verification import compare

    module = load_module(str(folder / "candidate.py"))
    tolerance = Tolerance.from_json(body["tolerance"])
    kept: dict[str, tuple[Any, Any]] = {}

    def evaluate(text: str, config: Mapping[str, object]) -> float:
        if text not in kept:
            kept.clear()
            inputs = module.make_inputs(_shapes(body)[text], body["dtype"], _device(body), body["seeds"][0])
            kept[text] = (inputs, module.reference(*inputs))
        inputs, reference = kept[text]
        try:
            launch = _launcher(module, inputs, config=dict(config))
            out = launch()
            if compare(out, reference).failure(tolerance):
                return float("inf")
            durations = _measure([launch], _SEARCH_SAMPLES, body)[0]
        except MissingTool:
            raise
        except Exception as error:  # noqa: BLE001 - a configuration may fail in any way; the search goes on
            print(f"{text} {dict(config)}: {_line(error)}", flush=True)  # noqa: T201 - the child's log
            return float("inf")
        return statistics.median(durations)

    return run_search(body, evaluate)


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())[:300]
    code = f" [{error.error_code}]" if isinstance(error, KoptError) and error.error_code not in text else ""
    return f"{type(error).__name__}: {text}{code}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
