"""The child process that judges one candidate: `python -m kopt_kb.launch.candidate.child FOLDER`.

The folder holds job.json, candidate.py, incumbent.py and reference.py, whose `make_inputs` and `reference` judge every
candidate; the answer is result.json, renamed into place with the token of the job, so that nothing a candidate prints
can be taken for it. For a check the candidate runs in a further process (check.py). While it is timed it runs
in this one and could do more if it is out to deceive; the source lint and the roofline gate are there for it.
"""

from __future__ import annotations

import hashlib
import math
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.candidate.answers import Answer, Environment, Sample, Search, Timing, Unable
from kopt_kb.launch.candidate.check import (
    CandidateDiedError,
    check,
    device_of,
    error_line,
    launcher_of,
    outputs,
    reference_of,
    shapes_of,
)
from kopt_kb.launch.candidate.exchange import reply, take_job
from kopt_kb.launch.candidate.job import Request
from kopt_kb.launch.candidate.profile import launch_once, ncu_report
from kopt_kb.launch.candidate.search import run_search
from kopt_kb.launch.candidate.search_pruning import pruner_of
from kopt_kb.launch.candidate.source_config import configured
from kopt_kb.launch.compile.loader import load_module
from kopt_kb.launch.kernel import ceilings, timing
from kopt_kb.launch.kernel.blocked import ReferenceMemoryError, reference_result
from kopt_kb.launch.kernel.judgement import wrong_result
from kopt_kb.launch.kernel.timing import summarise
from kopt_kb.problem.tolerances import Tolerance
from kopt_kb.sandbox.process import end_alike

__all__ = ["able", "answer", "main"]

_SEARCH_SAMPLES = 20


def main(words: Sequence[str]) -> int:
    """Answer the job of a folder; the exit status is 0 once the answer is in place."""
    folder = Path(words[0])
    kind, body, token = take_job(folder)
    try:
        result = answer(kind, body, folder)
    except CandidateDiedError as error:
        return end_alike(error.code)
    reply(folder, token, result)
    return 0


def answer(kind: str, body: Request, folder: Path) -> Answer:
    """Return the answer to a job, as `able` gives it."""
    answers: Mapping[str, Callable[[Request, Path], Answer]] = {
        "environment": _environment, "check": check, "outputs": outputs, "timing": _timing, "search": _search,
        "evidence": ncu_report, "launch": launch_once,
    }  # fmt: skip
    if kind not in answers:
        return Unable(unavailable=f"this machine has no {kind}")
    return able(lambda: answers[kind](body, folder))


def able(do: Callable[[], Answer]) -> Answer:
    """Return an answer; `missing` names a tool that is absent, `oom` device memory that ran out.

    A reference that does not fit the memory is no fault of the candidate: the job is `unavailable`.
    """
    try:
        return do()
    except MissingTool as error:
        return Unable(missing=error.what)
    except ReferenceMemoryError as error:
        return Unable(unavailable=f"{error.what}; {error.fix}")
    except Exception as error:
        if type(error).__name__ == "OutOfMemoryError":
            return Unable(oom=error_line(error))
        raise


def _environment(_: Request, __: Path) -> Environment:
    found = ceilings.environment()
    clocks = {name: value for name, value in found.items() if name.startswith(("clocks", "power", "persistence"))}
    versions = {name: str(found[name]) for name in ("torch", "triton", "cuda")}
    driver = found.get("driver_version")
    return Environment(str(found["device"]), None, None if driver is None else str(driver), clocks, versions)


def _timing(body: Request, folder: Path) -> Timing:
    """Time incumbent, candidate and an earlier version if one is given, in turn.

    Caches are cold and each repeat has inputs of another seed. Outputs are filled with NaN before each timed run, and
    what the last run of a repeat left has to be right: a kernel that stops working while it is timed has no time.
    """
    names = [side for side in ("incumbent", "candidate", "best") if (folder / f"{side}.py").is_file()]
    modules = {side: load_module(str(folder / f"{side}.py")) for side in names}
    maker, tolerance = reference_of(folder), _tolerance(body)
    shapes: dict[str, dict[str, tuple[Sample, ...]]] = {}
    for text, shape in shapes_of(body).items():
        sides: dict[str, list[Sample]] = {side: [] for side in modules}
        for repeat in range(body.repeats):
            seed = body.seeds[0] + repeat
            inputs = maker.make_inputs(shape, body.dtype, device_of(body), seed)
            launches = [_launch(launcher_of(module, maker), inputs) for module in modules.values()]
            for side, durations in zip(sides, _measure(launches, body.samples, body), strict=True):
                sides[side].append(_summary(durations))
            wide = reference_result(maker, inputs)
            for side, one in zip(sides, launches, strict=True):
                if wrong := wrong_result(one.out, wide, tolerance):
                    return Timing(problem=f"{text}: after timed runs the {side}'s output is wrong: {wrong}")
        shapes[text] = {side: tuple(samples) for side, samples in sides.items()}
    return Timing(shapes)


def _tolerance(body: Request) -> Tolerance:
    if body.tolerance is None:
        raise ValueError("a job that judges results needs a tolerance")
    return body.tolerance


class _Launch:
    """A kernel on its inputs, again and again into one output; one of several results makes its own each time."""

    def __init__(self, launch: Callable[..., Any], inputs: tuple[Any, ...], options: Mapping[str, object]) -> None:
        self._launch, self._inputs, self._options = launch, inputs, options
        self.out = launch(*inputs, **options)
        self._is_one = not isinstance(self.out, tuple | list)

    def run(self) -> object:
        """Launch it once."""
        if self._is_one:
            return self._launch(*self._inputs, out=self.out, **self._options)
        self.out = self._launch(*self._inputs, **self._options)
        return self.out

    def spoil(self) -> None:
        """Fill the output with NaN, so that a run that writes nothing shows; integers with what no index is."""
        for one in (self.out,) if self._is_one else self.out:
            one.fill_(math.nan if one.is_floating_point() else -1)


def _launch(launch: Callable[..., Any], inputs: tuple[Any, ...], **options: Any) -> _Launch:
    return _Launch(launch, inputs, options)


def _measure(launches: Sequence[_Launch], samples: int, body: Request) -> tuple[tuple[float, ...], ...]:
    runs, before = [one.run for one in launches], [one.spoil for one in launches]
    flush_bytes = body.flush_bytes or None
    return timing.measure(runs, rounds=samples, warmup=5, flush_bytes=flush_bytes, before=before)


def _summary(durations_s: Sequence[float]) -> Sample:
    found = summarise(durations_s)
    mad_s = statistics.median(abs(one - found.median_s) for one in durations_s)
    return Sample(found.count, found.median_s, mad_s, found.p20_s, found.p80_s)


def _configured(folder: Path, config: Mapping[str, object]) -> tuple[ModuleType, Mapping[str, object]]:
    """Return the candidate's module and the configuration that its launcher is given."""
    path = folder / "candidate.py"
    source, left = configured(path.read_bytes(), config)
    if source != path.read_bytes():
        path = folder / f"candidate-{hashlib.sha256(source).hexdigest()[:16]}.py"
        path.write_bytes(source)
    return load_module(str(path)), left


def _search(body: Request, folder: Path) -> Search:
    """Search each shape's space; a configuration that fails, or is wrong, takes for ever."""
    maker, tolerance = reference_of(folder), _tolerance(body)
    kept: dict[str, tuple[Any, Any]] = {}

    def evaluate(text: str, config: Mapping[str, object]) -> float:
        if text not in kept:
            kept.clear()
            inputs = maker.make_inputs(shapes_of(body)[text], body.dtype, device_of(body), body.seeds[0])
            kept[text] = (inputs, reference_result(maker, inputs))
        inputs, reference = kept[text]
        try:
            candidate, left = _configured(folder, config)
            launch = _launch(launcher_of(candidate, maker), inputs, config=dict(left))
            launch.spoil()
            launch.run()
            if wrong_result(launch.out, reference, tolerance):
                return float("inf")
            durations = _measure([launch], _SEARCH_SAMPLES, body)[0]
        except MissingTool:
            raise
        except Exception as error:  # noqa: BLE001 - a configuration may fail in any way; the search goes on
            print(f"{text} {dict(config)}: {error_line(error)}", flush=True)  # noqa: T201 - the child's log
            return float("inf")
        return statistics.median(durations)

    pruner = pruner_of(body.pruning, folder / "candidate.py", body.dtype)
    with nullcontext(pruner) if isinstance(pruner, str) else pruner as judge:
        return run_search(body, evaluate, pruner=judge)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
