"""A declared simulator: deterministic times from a made-up cost model, to run campaigns without a GPU."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Mapping
from functools import partial
from math import prod

from kopt_kb.analysis.ir.source.settings import settings_of
from kopt_kb.analysis.ir.source.tunables import tunables_of
from kopt_kb.base.wire import canonical
from kopt_kb.launch.candidate.answers import Answer, Check, Environment, Sample, Timing, Trust, Unable
from kopt_kb.launch.candidate.job import Job, Outcome, Started
from kopt_kb.launch.candidate.search import run_search
from kopt_kb.launch.candidate.source_config import configs_of, structure_of

__all__ = ["SimulatorExecutor"]

_ELEMENT_S = 4e-12  # an arbitrary scale: nothing simulated is compared with a roof
_PLAIN_FACTOR = 3.0  # a file that declares no structural variants stands for a naive one
_NOISE = 0.002


class SimulatorExecutor:
    """Answers every job from the cost model; the same source, shape and repeat give the same time."""

    name = "simulator"
    simulated = True
    trust: Trust = "unstated"

    def close(self) -> None:
        """Keep nothing."""

    def run(self, job: Job, started: Started) -> Outcome:
        """Return the computed outcome at once."""
        started(("simulator", job.kind), os.getpid(), None)
        answers: Mapping[str, Callable[[Job], Answer]] = {
            "environment": _environment,
            "check": _check,
            "timing": _timing,
            "search": lambda job: run_search(job.body, partial(_time_s, job.candidate)),
        }
        if job.kind not in answers:
            return Outcome("ok", 0, None, 0.0, "", Unable(unavailable=f"the simulator has no {job.kind}"))
        return Outcome("ok", 0, None, 0.0, "simulated", answers[job.kind](job))


def _environment(_: Job) -> Environment:
    return Environment("simulator", None, None, {}, {"simulator": "1"})


def _check(job: Job) -> Check:
    return Check("", True, "", 0.0, dict.fromkeys(job.body.shapes, 0.0), len(job.body.seeds))


def _timing(job: Job) -> Timing:
    repeats = range(job.body.repeats)
    sides = {"incumbent": job.incumbent, "candidate": job.candidate} | ({"best": job.best} if job.best else {})
    shapes = {
        shape: {
            side: tuple(_sample(_time_s(source, shape, None), source, shape, side, at) for at in repeats)
            for side, source in sides.items()
        }
        for shape in job.body.shapes
    }
    return Timing(shapes)


def _time_s(source: bytes, shape: str, config: Mapping[str, object] | None) -> float:
    values = configs_of(source).get(shape, {}) if config is None else config
    structure = structure_of(source)
    if b"def launch(" not in structure and (kernels := tunables_of(source)):
        values, structure = settings_of(source, config), canonical(sorted(kernels))  # its settings stand in its text
    factor = 1.2 if b"\nVARIANTS = " in structure else _PLAIN_FACTOR
    factor *= 1 + 0.2 * _unit(structure, "structure")
    for name, value in sorted(values.items()):
        factor *= _penalty(name, value, shape)
    return prod(map(int, shape.split("x"))) * _ELEMENT_S * factor


def _penalty(name: str, value: object, shape: str) -> float:
    """Return a factor near 1: each knob has a best value that depends on its name alone."""
    if isinstance(value, int) and not isinstance(value, bool):
        best = 4 * _unit(name)
        return 0.9 + 0.03 * abs(math.log2(max(value, 1)) - best)
    return 0.8 + 0.3 * _unit(name, str(value), shape)


def _sample(median_s: float, source: bytes, shape: str, side: str, repeat: int) -> Sample:
    shaken = median_s * (1 + _NOISE * (_unit(source, shape, side, str(repeat)) - 0.5))
    return Sample(100, shaken, _NOISE * median_s / 4, shaken, shaken)


def _unit(*parts: str | bytes) -> float:
    """Return a number in [0, 1) that the parts decide."""
    text = b"\0".join(one if isinstance(one, bytes) else one.encode() for one in parts)
    return int.from_bytes(hashlib.sha256(text).digest()[:6], "big") / 2**48
