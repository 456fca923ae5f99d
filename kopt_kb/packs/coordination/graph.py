"""Runs a callable in a caged child on a CPU, and writes the script that captures, replays, verifies and compares it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import Wire, parse, read
from kopt_kb.sandbox.caged import Cage, caged
from kopt_kb.sandbox.process import ChildLimits, environment, run
from kopt_kb.sandbox.shown import files_of

__all__ = ["SCRIPT", "NotedOperators", "note_operators", "script_for"]

_WALL_S = 120.0


@dataclass(frozen=True, slots=True)
class NotedOperators(Wire):
    """What the operators of two runs say.

    Attributes:
        operators: How many the first run called.
        forbidden: Operator → why capture forbids it.
        changed: First operator that the other input did not call alike; empty where both took the same.
        problem: Why nothing is known; empty where it is.
    """

    operators: int = 0
    forbidden: Mapping[str, str] = field(default_factory=dict)
    changed: str = ""
    problem: str = ""


def note_operators(file: Path, name: str, wall_s: float = _WALL_S) -> NotedOperators:
    """Return what two runs of a callable on a CPU say; what keeps them from running is a problem and no error."""
    if b"def make_inputs(" not in file.read_bytes():
        return NotedOperators(problem="the file offers no make_inputs(seed): only its text was looked at")
    with tempfile.TemporaryDirectory(prefix="kb-graph-") as place:
        words = [sys.executable, "-m", "kopt_kb.packs.coordination.graph_steps", str(file.resolve()), name]
        done = run(
            caged(words, Cage((place,), str(Path(place) / "cage.json"), shown=files_of(file))),
            limits=ChildLimits(wall_s), folder=file.resolve().parent,
            env=environment({"HOME": place, "TMPDIR": place, "PYTHONDONTWRITEBYTECODE": "1"}, ours=True),
        )  # fmt: skip
    if done.code or done.passed:
        why = f"took over {wall_s:g} s" if done.passed else done.last_line[:200]
        return NotedOperators(problem=f"it does not run on a CPU: {why}")
    try:
        return read(NotedOperators, parse(done.stdout, where="operators"), where="operators")
    except KoptError as error:
        return NotedOperators(problem=f"the run gave no answer: {error.what}"[:200])


def script_for(file: Path, name: str) -> str:
    """Return the script for a callable of a file; it runs by itself, without this package."""
    return SCRIPT.replace("@FILE@", repr(str(file.resolve()))).replace("@NAME@", repr(name))


SCRIPT = '''"""Capture, replay, verify and compare a torch callable as a CUDA graph, in this process alone.

    python THIS.py --out FOLDER [--budget-s 60]

Wall latency around synchronized calls decides; the level of trust is `reported`: the measured side measures itself.
Kept: the outputs of replays on fresh inputs equal those of eager runs, and it is faster by LEAST_GAIN_PCT at least and
by more than the noise, which is what eager runs differ from each other in the same turns. Else it is reverted: the
callable as it was is what `result.json` names. Exit 0 kept, 1 reverted, 3 no GPU.
"""

import argparse
import importlib.util
import json
import statistics
import sys
import time
from pathlib import Path

FILE, NAME = @FILE@, @NAME@
LEAST_GAIN_PCT, LIMIT_PCT = 1.0, 5.0
CHECKS, TIMED, TURNS = 3, 50, 5


def judged(turns):
    """Return decision, reason, gain and noise in percent of turns of (eager, replay, replay, eager) in seconds."""
    gains = [100 * (1 - (one + other) / (first + last)) for first, one, other, last in turns]
    noise_pct = max(100 * abs(first - last) / min(first, last) for first, _, _, last in turns)
    gain_pct = statistics.median(gains)
    needed = max(LEAST_GAIN_PCT, noise_pct)
    kept = gain_pct >= LEAST_GAIN_PCT and gain_pct > noise_pct
    limits = f"{needed:.2f} % needed (least gain {LEAST_GAIN_PCT:g} %, noise {noise_pct:.2f} %)"
    reason = f"{gain_pct:+.2f} % wall latency, {limits}"
    if gain_pct < -LIMIT_PCT:
        reason += f", more than {LIMIT_PCT:g} % slower"
    return "kept" if kept else "reverted", reason, gain_pct, noise_pct


options = argparse.ArgumentParser()
options.add_argument("--out", required=True)
options.add_argument("--budget-s", type=float, default=60.0)
options = options.parse_args()
ends_at = time.monotonic() + options.budget_s
result = {"file": FILE, "callable": NAME, "trust": "reported", "timer": "host wall clock around synchronized calls"}


def save(**more):
    """Write what is known so far."""
    result.update(more)
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(result, indent=1) + "\\n")


def leave(code, **more):
    """Save and end."""
    save(**more)
    print(json.dumps(result))
    sys.exit(code)


try:
    import torch
except ImportError:
    leave(3, decision="not measured", reason="torch is not installed")
if not torch.cuda.is_available():
    leave(3, decision="not measured", reason="no GPU is visible to torch")

spec = importlib.util.spec_from_file_location("candidate", FILE)
module = importlib.util.module_from_spec(spec)
sys.modules["candidate"] = module
spec.loader.exec_module(module)
target = getattr(module, NAME)
call = target().cuda() if isinstance(target, type) else target


def inputs(seed):
    """Return inputs on the device."""
    return tuple(one.cuda() if isinstance(one, torch.Tensor) else one for one in module.make_inputs(seed))


def tensors(value):
    """Return the tensors of an output."""
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else []
    return [one for item in items for one in tensors(item)]


def seconds(run):
    """Return the median wall time of a synchronized call."""
    found = []
    for _ in range(TIMED):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        found.append(time.perf_counter() - begin)
        if time.monotonic() > ends_at:
            break
    return statistics.median(found)


save(device=torch.cuda.get_device_name(), torch=torch.__version__)
static = inputs(0)
eager_s = []
with torch.no_grad():
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call(*static)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            output = call(*static)
    except Exception as error:  # noqa: BLE001 - whatever capture refuses is the answer
        said = (str(error).splitlines() or [""])[0][:300]
        leave(1, decision="reverted", reason=f"capture failed: {type(error).__name__}: {said}")
    for seed in range(1, CHECKS + 1):
        fresh = inputs(seed)
        for old, new in zip(static, fresh):
            if isinstance(old, torch.Tensor):
                if old.shape != new.shape:
                    leave(1, decision="reverted", reason=f"inputs of seed {seed} have another shape")
                old.copy_(new)
        graph.replay()
        replayed = [one.clone() for one in tensors(output)]
        expected = tensors(call(*fresh))
        if len(expected) != len(replayed):
            leave(1, decision="reverted", reason="a replay gives another number of tensors")
        for one, other in zip(replayed, expected):
            if not torch.allclose(one.float(), other.float(), rtol=1e-3, atol=1e-3, equal_nan=True):
                leave(1, decision="reverted", reason=f"a replay differs from the eager run (seed {seed})")
    save(checks=CHECKS)
    sides = (lambda: call(*static), graph.replay, graph.replay, lambda: call(*static))
    turns = [[seconds(one) for one in sides] for _ in range(TURNS)]
word, reason, gain_pct, noise_pct = judged(turns)
before, after = (statistics.median(one[at] for one in turns for at in places) for places in ((0, 3), (1, 2)))
leave(
    0 if word == "kept" else 1, decision=word, reason=reason, gain_pct=gain_pct, noise_pct=noise_pct,
    least_gain_pct=LEAST_GAIN_PCT, eager_s=before, replay_s=after, turns_s=turns,
)
'''
"""Its text."""
