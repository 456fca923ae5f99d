"""The judge of a launcher: it has a kernel file's own launcher called in a cage and holds it against its record.

A record proves nothing of the file that it was made of: a launcher can record one thing and do another where it is
used. So the file runs once as a user's program would run it (launcher_script.py): on real tensors, on contents that
this process draws from the system's entropy, on shapes of the problem and on new ones, in an order and a number of
calls that nobody announces, and every result is compared. Results are held against the float64 reference within the
problem's tolerance, as those of the record were: two compilers' orders of summation differ in bits. On a GPU the times
and the entries of its launches are the record's too.

What a launcher can still see: that it is confined (another process namespace, no network, read-only files, an empty
home), that another program started it and has imported torch and Triton, and, in the last calls alone, that its
launches are counted. It is not told the shapes, how many calls there will be, which are timed, or that anything was
recorded. Both processes may have waited for it (launcher_child.py): nothing of a candidate's is in them before.
"""

from __future__ import annotations

import secrets
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kopt_kb.launch.candidate.answers import Unable
from kopt_kb.launch.candidate.check import device_of, error_line, reference_of
from kopt_kb.launch.candidate.job import Request
from kopt_kb.launch.candidate.launcher_program import LauncherProgram, Otherwise
from kopt_kb.launch.candidate.launcher_run import ExpectedRun, LauncherContent, LauncherRun, LauncherTime
from kopt_kb.launch.kernel.ceilings import require_gpu
from kopt_kb.launch.kernel.judgement import Case, limits_of, trials_of
from kopt_kb.launch.kernel.output_file import load_output, save_output
from kopt_kb.problem.shapes import parse_shape
from kopt_kb.problem.trials import RANDOM, Trial
from kopt_kb.sandbox.caged import held_by

__all__ = ["INTERPRETED_ELEMENTS", "check_launcher", "unlike_record", "wrong_time"]

INTERPRETED_ELEMENTS = 1 << 18
"""Largest product of a shape's extents that the interpreter runs in seconds."""

_MOST_CALLS, _TIMED = 4, 25
"""Most calls between two comparisons; calls timed by events."""
_CHAIN, _CHAIN_S, _MESSAGE_S = 64, 0.5, 2e-4
"""Calls of a chain, at most so many seconds of them, and what a message to the process takes."""
_SLACK, _EVENT_S, _STEP_S, _LEAST_SHARE = 0.05, 5e-6, 3e-6, 0.5
"""What another process may add to the contest's longest time (host overhead): this share, so many seconds for two
events, as many for each step; and the share of its shortest time below which the launcher does less."""


class _UncountedError(Exception):
    """This machine lets nobody count the launches of a process; the text says why."""


@dataclass(slots=True)
class _Seen:
    contents: list[LauncherContent] = field(default_factory=list)
    launches: dict[str, int] = field(default_factory=dict)
    times: dict[str, LauncherTime] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the seconds of a block."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - begin


def check_launcher(body: Request, folder: Path, program: LauncherProgram) -> LauncherRun | Unable:
    """Return what became of a launcher's one run; a launcher that fails, where its record was made, is a problem.

    Args:
        body: What the job works on.
        folder: The job's folder, with the candidate and the file that judges.
        program: The process that is to call the launcher; it was given no file yet.
    """
    if not body.expected:
        return Unable(unavailable="there is no record to hold the launcher against")
    device, seen = device_of(body), _Seen()
    try:
        with seen.part("load"):
            judge = reference_of(folder)
            program.give(folder / "candidate.py", folder / "reference.py" if hasattr(judge, "launcher") else None)
            program.begin("wait")  # it imports the file and wakes the device while this process does
            if _on_gpu(body):
                require_gpu()
            program.ended()
        _called(program, judge, body, seen)
    except Otherwise as error:
        return replace(_answer(seen, device, program.report), outcome="no", problem=str(error))
    except _UncountedError as error:
        return replace(_answer(seen, device, program.report), outcome="no", reason=str(error))
    return _answer(seen, device, program.report)


def _on_gpu(body: Request) -> bool:
    return device_of(body).startswith("cuda")


def _answer(seen: _Seen, device: str, report: Path) -> LauncherRun:
    lacks = held_by(report).lacks()
    took = {name: round(seconds, 3) for name, seconds in seen.seconds.items()}
    found = LauncherRun(
        "confirmed", device=device, contents=tuple(seen.contents), launches=seen.launches, times=seen.times,
        seconds=took,
    )  # fmt: skip
    if not device.startswith("cuda"):
        return replace(found, outcome="simulated", reason="no GPU: results alone, on Triton's interpreter")
    found = replace(found, device=require_gpu())
    return replace(found, outcome="no", reason=f"the cage lacks {lacks}") if lacks else found


def _called(program: LauncherProgram, judge: Any, body: Request, seen: _Seen) -> None:
    """Have the launcher called on contents in an order that nobody knows, then count its launches."""
    chance = secrets.SystemRandom()
    plan = [(shape, part) for shape, one in body.expected.items() for part in range(1 if one.is_new else 2)]
    chance.shuffle(plan)
    on_gpu = _on_gpu(body)
    timed = {shape: chance.randrange(2) for shape, one in body.expected.items() if on_gpu and one.most_s is not None}
    for shape, part in plan:
        case = _given(program, judge, body, shape, seen, chance)
        with seen.part("run"):
            program.begin("run", times=1 + chance.randrange(_MOST_CALLS))
            reference = case.reference()  # while a launcher that is called on a new shape compiles
            program.ended()
        if timed.get(shape) == part:
            with seen.part("time"):
                case.inputs[0].flatten()[:1].cpu()  # this process's own work on the device is over: the next is timed
                seen.times[shape] = _timed(program, shape, body.expected[shape])
        _compare(program, case, body, shape, seen, reference)
    if not on_gpu:
        return
    for shape in chance.sample(sorted(body.expected), len(body.expected)):
        case = _given(program, judge, body, shape, seen, chance)
        with seen.part("count"):
            program.begin("count")
            reference = case.reference()
            counted = program.ended()
        if not counted.kernels:
            raise _UncountedError(f"its launches can't be counted here: {counted.by}")
        if wrong := unlike_record(counted.kernels, body.expected[shape]):
            raise Otherwise(f"{shape}: {wrong}")
        seen.launches[shape] = sum(body.expected[shape].kernels.values())
        _compare(program, case, body, shape, seen, reference)


def _given(
    program: LauncherProgram, judge: Any, body: Request, shape: str, seen: _Seen, chance: secrets.SystemRandom
) -> Case:
    """Give the process inputs that nobody drew before, of a trial that nobody knows, and return them."""
    trials: list[Trial] = [one for one in trials_of(body.op) if one.parts == 1 and one.dense] or [RANDOM]
    trial, seed = chance.choice([RANDOM, *trials]), chance.randrange(2**31)
    with seen.part("inputs"):
        case = Case(judge, parse_shape(shape), body.dtype, trial, seed, device_of(body), body.op)
        seen.contents.append(LauncherContent(shape, trial.name, seed, body.expected[shape].is_new))
        save_output(list(case.inputs), program.folder / "inputs.pt")
        program.ask("inputs", file="inputs.pt", shape=parse_shape(shape), dtype=body.dtype)
    return case


def _compare(program: LauncherProgram, case: Case, body: Request, shape: str, seen: _Seen, reference: Any) -> None:
    """Hold the last result against the reference; raises `Otherwise`."""
    with seen.part("compare"):
        program.ask("wait")
        program.ask("save", file="out.pt")
        tolerance = body.tolerance or limits_of(case.module, body.dtype)
        try:
            out = load_output(program.folder / "out.pt", device_of(body))
        except Exception as error:
            raise Otherwise(f"{shape}: it left no result: {error_line(error)}") from error
        if wrong := case.judge(out, tolerance, reference).problem:
            raise Otherwise(f"{shape}: its result is not the record's: {wrong}")


def _timed(program: LauncherProgram, shape: str, expected: ExpectedRun) -> LauncherTime:
    """Return what a call takes, by events behind a flush and by this process's clock; raises `Otherwise`."""
    program.ask("wait")
    said = program.ask("time", times=_TIMED)
    if not said.calls_s or not said.empty_s:
        raise Otherwise("its process reports no times")
    longest = expected.most_s or 0.0
    chain = max(4, min(_CHAIN, int(_CHAIN_S / max(longest, 1e-6))))
    program.ask("wait")
    enqueued = program.timed("run", times=chain)
    waited = program.timed("wait")
    steps = sum(expected.kernels.values()) + expected.others
    allowed = longest * (1 + _SLACK) + max(_EVENT_S, statistics.median(said.empty_s)) + _STEP_S * steps
    least = _LEAST_SHARE * (expected.least_s or 0.0)
    found = LauncherTime(statistics.median(said.calls_s), least, allowed, enqueued / chain, (enqueued + waited) / chain)
    if wrong := wrong_time(found, chain):
        raise Otherwise(f"{shape}: {wrong}")
    return found


def wrong_time(found: LauncherTime, chain: int) -> str:
    """Return why a launcher's time is not its record's; empty where it is."""
    if not found.least_s <= found.median_s <= found.most_s:
        took, between = f"{found.median_s * 1e6:.1f}", f"{found.least_s * 1e6:.1f} to {found.most_s * 1e6:.1f}"
        return f"it takes {took} µs, its record {between} µs with what another process adds"
    if found.call_s > found.most_s + found.host_s + _MESSAGE_S / chain:
        return f"a chain of calls takes {found.call_s * 1e6:.1f} µs each, more than its record and its host together"
    return ""


def unlike_record(counted: Mapping[str, int], expected: ExpectedRun) -> str:
    """Return how launches that were counted differ from a record's; empty where they don't."""
    got = Counter(dict(counted))
    for entry, number in expected.kernels.items():
        if got[entry] != number:
            others = ", ".join(sorted(name[:80] for name in got if name not in expected.kernels)[:4])
            return f"it launches {entry} {got[entry]} times, its record {number}" + (f"; also {others}" * bool(others))
    more = sum(number for name, number in got.items() if name not in expected.kernels)
    if more > expected.others:
        others = ", ".join(sorted(name[:80] for name in got if name not in expected.kernels)[:4])
        return f"beside its record's launches it does {others}"
    return ""
