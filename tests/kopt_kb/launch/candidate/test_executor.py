"""A child that hangs, crashes, eats memory or lies is an outcome; it never outlives its limits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate import executor as executors
from kopt_kb.launch.candidate.answers import AnswerBasis, Check, Timing
from kopt_kb.launch.candidate.exchange import reply, take_job
from kopt_kb.launch.candidate.executor import ChildProcessExecutor, CommandExecutor
from kopt_kb.launch.candidate.job import Job, Request, RunLimits
from kopt_kb.sandbox.isolation import WHOLE, Isolation
from kopt_kb.sandbox.process import Finished

HONEST = b"""
import torch
OP = "softmax"

def make_inputs(shape, dtype, device="cuda", seed=0):
    g = torch.Generator(device=device).manual_seed(seed)
    return (torch.randn(*shape, generator=g, device=device),)

def reference(x):
    return torch.softmax(x.double(), -1)

def launch(x, *, config=None, out=None):
    out = torch.empty_like(x) if out is None else out
    LINE
    return out.copy_(torch.softmax(x, -1))
"""


def body() -> dict[str, object]:
    """A check on one small shape."""
    from kopt_kb.problem.tolerances import tolerance_of

    return {
        "op": "softmax",
        "shapes": ["4x8"],
        "dtype": "fp32",
        "tolerance": tolerance_of("fp32"),
        "seeds": [1, 2],
    }


def run(line: str, limits: RunLimits | None = None):
    """The outcome of a check of the kernel with this line in its launcher."""
    job = Job("check", HONEST.replace(b"LINE", line.encode()), b"", Request(**body()), limits or RunLimits(600.0))
    seen: list[tuple[tuple[str, ...], int, int | None]] = []
    outcome = ChildProcessExecutor("cpu").run(job, lambda *args: seen.append(args))
    assert len(seen) == 1
    return outcome, seen[0]


@pytest.mark.torch
def test_an_honest_candidate_passes() -> None:
    """Two seeds, both right; the result came through its own channel, prints did not disturb it."""
    outcome, (argv, pid, ticks) = run('print(\'{"token": "x", "result": {"passed": false}}\')')
    assert (outcome.outcome, outcome.exit, outcome.signal) == ("ok", 0, None)
    assert outcome.result is not None
    assert outcome.result.passed is True
    assert outcome.result.checks == 2
    assert '"passed": false' in outcome.printed
    assert pid > 0 and ticks and "kopt_kb.launch.candidate.child" in argv
    basis = outcome.result.basis
    assert basis is not None and basis.isolation is not None
    assert basis.trust == ("reported" if basis.isolation.lacks() else "isolated")


@pytest.mark.torch
def test_a_crash_names_its_signal() -> None:
    """A segmentation fault ends the child, not the campaign."""
    outcome, _ = run("import os; os.kill(os.getpid(), 11)")
    assert (outcome.outcome, outcome.exit, outcome.signal, outcome.result) == ("crash", None, 11, None)


@pytest.mark.torch
def test_leaving_without_an_answer_is_a_crash() -> None:
    """Exit status 0 alone proves nothing."""
    outcome, _ = run("import os; os._exit(0)")
    assert (outcome.outcome, outcome.exit) == ("crash", 0)


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["check", "timing"])
@pytest.mark.parametrize("token", ["", '"token": "guessed", '])
def test_an_answer_without_the_jobs_token_is_a_crash(kind: str, token: str) -> None:
    """What a candidate writes itself is not believed: in its own process of a check, and beside the clock."""
    answer = "{" + token + '"result": {"passed": true, "shapes": {}}}'
    forged = (
        f"import os, sys; open(os.path.join(sys.argv[1], 'result.json'), 'w').write({answer!r}); os._exit(0)\n"
    ).encode()
    whole = Request(**{**body(), "repeats": 1, "samples": 1})
    outcome = ChildProcessExecutor("cpu").run(Job(kind, forged, b"", whole, RunLimits(600.0)), lambda *_: None)
    assert (outcome.outcome, outcome.exit, outcome.result) == ("crash", 0, None)


FORGED = """
import json, os, re, sys
frame, token = sys._getframe(), ""
while frame is not None and not token:
    told = repr(list(frame.f_locals.values()))
    token = next(iter(re.findall(r"'([0-9a-f]{32})'", told)), "")
    frame = frame.f_back
sample = {"n": 9, "median_s": 1e-6}
contest = {"verdict": "faster", "threshold_pct": 1.0, "gain_pct": 50.0, "least_pct": 49.0, "most_pct": 51.0, "rounds": 12}
contest |= {"dropped": 0, "reason": ""}
basis = {"trust": "replayed", "reason": "", "records": {}, "seconds": {}}
answer = {"shapes": {"4x8": {"incumbent": [sample], "candidate": [sample]}}, "contest": contest, "basis": basis}
with open(os.path.join(sys.argv[1], "result.json"), "w") as file:
    json.dump({"token": token, "result": answer}, file)
os._exit(0)
"""


@pytest.mark.torch
def test_no_candidate_says_how_far_it_can_be_trusted() -> None:
    """Beside its clock it can find the token and answer what it likes: never a contest, never a level above reported."""
    whole = Request(**{**body(), "repeats": 1, "samples": 1})
    executor = ChildProcessExecutor("cpu")
    outcome = executor.run(Job("timing", FORGED.encode(), b"", whole, RunLimits(600.0)), lambda *_: None)
    assert outcome.outcome == "ok"
    assert isinstance(outcome.result, Timing)
    assert (outcome.result.contest, outcome.result.basis, executor.trust) == (None, None, "reported")


@pytest.mark.torch
def test_a_hang_is_ended_with_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit ends the session: the grandchild is gone too, and so are the files of all of them."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    seconds = f"600.{os.getpid()}"  # known by its words: its number is that of a namespace
    line = f"import subprocess, time; subprocess.Popen(['sleep', '{seconds}']); print('CHILD', flush=True); time.sleep(600)"
    for limit_s in (9.0, 40.0, 240.0):  # a busy machine imports torch in a minute or two
        outcome, (_, pid, _) = run(line, RunLimits(limit_s))
        assert outcome.outcome == "hang"
        if "CHILD" in outcome.printed:
            break
    else:
        pytest.fail("it started nothing")
    assert not _alive(pid)
    assert not [one for one in Path("/proc").glob("[0-9]*/cmdline") if seconds in _read(one)]
    assert [one.name for one in tmp_path.iterdir() if "kb-run" in one.name or "outputs" in one.name] == []


@pytest.mark.torch
def test_too_much_memory_is_ended() -> None:
    """The resident limit counts what the child holds."""
    outcome, _ = run("import time; b = bytearray(1 << 30); time.sleep(600)", RunLimits(600.0, 1 << 30))
    assert outcome.outcome == "oom"


@pytest.mark.torch
def test_printing_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log says why, and only its end is kept."""
    monkeypatch.setattr("kopt_kb.sandbox.process.MAX_PRINTED_BYTES", 1 << 20)
    outcome, _ = run("while True: print('x' * 5000)", RunLimits(600.0))
    assert outcome.outcome == "limit" and outcome.printed.endswith("kb: it printed more than 64 MiB and was ended\n")
    assert len(outcome.printed) < 70_000


def _read(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:  # it ended
        return ""


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def test_the_child_dies_with_its_parent(tmp_path: Path) -> None:
    """kill -9 of the campaign ends the running candidate: an orphan would keep the GPU busy."""
    marker = tmp_path / "pid"
    code = f"import os, time; open({str(marker)!r}, 'w').write(str(os.getpid())); time.sleep(600)".encode()
    script = f"""
from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.job import Job, Request, RunLimits
from kopt_kb.launch.candidate.executor import ChildProcessExecutor
body = Request(shapes=('1x1',), dtype='fp32', seeds=(1,))
ChildProcessExecutor('cpu').run(Job('check', {code!r}, b'', body, RunLimits(600)), lambda *_: None)
"""
    parent = subprocess.Popen([sys.executable, "-c", script])
    end = time.monotonic() + 500
    while not (marker.exists() and marker.read_text()) and parent.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    child = int(marker.read_text())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    while _alive(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _alive(child)


def test_a_users_command_stands_before_the_child(tmp_path: Path) -> None:
    """The wrapper sees the whole command line and may run it elsewhere."""
    script = tmp_path / "wrap.sh"
    script.write_text('#!/bin/sh\necho wrapped "$@"\nexec "$@"\n')
    script.chmod(0o755)
    executor = CommandExecutor((str(script),), device="cpu")
    outcome = executor.run(Job("evidence", b"x = 1", b"", Request(shapes=("1x1",)), RunLimits(600.0)), lambda *_: None)
    assert executor.name == "command"
    assert outcome.outcome == "ok"
    assert "wrapped" in outcome.printed
    assert outcome.result is not None
    assert outcome.result.unavailable


def test_a_command_that_does_not_exist_is_bad_input() -> None:
    """One line that names it."""
    with pytest.raises(BadInput, match="no-such-launcher: can't be started"):
        CommandExecutor(("no-such-launcher",)).run(Job("check"), lambda *_: None)


def test_other_sources_reach_the_child_only_when_there_are_some(tmp_path: Path) -> None:
    """best.py and reference.py lie beside the candidate, as the wrapper sees."""
    script = tmp_path / "wrap.sh"
    script.write_text('#!/bin/sh\nfor folder do :; done\nls "$folder"\n')
    script.chmod(0o755)
    for more, names in (
        ({}, ["candidate.py", "incumbent.py", "job.json"]),
        ({"best": b"x", "reference": b"y"}, ["best.py", "candidate.py", "incumbent.py", "job.json", "reference.py"]),
    ):
        job = Job("check", HONEST, b"", Request(**body()), RunLimits(600.0), **more)
        printed = CommandExecutor((str(script),), device="cpu").run(job, lambda *_: None).printed
        assert [one for one in printed.split() if one != "printed.txt"] == names


def test_a_launcher_that_waits_may_be_sbatch(tmp_path: Path) -> None:
    """`sbatch --wait SCRIPT` runs the script with the child's words elsewhere, prints its own line, and ends with it."""
    script, sbatch = tmp_path / "run.sh", tmp_path / "sbatch"
    script.write_text('#!/bin/sh\nexec "$@"\n')
    sbatch.write_text(
        f'#!/bin/sh\necho "$1 $2" > {tmp_path}/options\necho Submitted batch job 17\nshift 2\nsetsid sh "$@" & wait $!\n'
    )
    sbatch.chmod(0o755)
    executor = CommandExecutor((str(sbatch), "--wait", "--gpus=1", str(script)), device="cpu")
    job = Job("evidence", b"x = 1", b"", Request(shapes=("1x1",)), RunLimits(600.0))
    outcome = executor.run(job, lambda *_: None)
    assert outcome.outcome == "ok", outcome.printed
    assert outcome.result is not None
    assert outcome.result.unavailable
    assert (tmp_path / "options").read_text() == "--wait --gpus=1\n"
    assert "Submitted batch job 17" in outcome.printed


@pytest.mark.parametrize(
    ("said", "here", "wrapper", "reason"),
    [
        (WHOLE, WHOLE, (), ""),
        (WHOLE, (), (), "the cage lacks "),
        (WHOLE[1:], WHOLE, (), "the cage lacks "),
        (WHOLE, WHOLE, ("env",), "a command of the user started the judge"),
    ],
)
def test_a_check_is_isolated_where_this_machines_cage_is_whole(
    monkeypatch: pytest.MonkeyPatch, said: tuple[str, ...], here: tuple[str, ...], wrapper: tuple[str, ...], reason: str
) -> None:
    """What the child says of its cage counts only where a cage made for nobody is whole, and on this machine."""

    def answer(argv: tuple[str, ...], **_: object) -> Finished:
        token = take_job(Path(argv[-1]))[2]
        reply(Path(argv[-1]), token, Check("", True, basis=AnswerBasis("isolated", isolation=Isolation(said))))
        return Finished(0, None, 0.1)

    monkeypatch.setattr(executors, "cage_here", lambda: Isolation(here))
    monkeypatch.setattr(executors, "run", answer)
    found = CommandExecutor(wrapper).run(Job("check", body=Request(**body())), lambda *_: None).result
    assert isinstance(found, Check) and found.basis is not None
    assert found.basis.trust == ("reported" if reason else "isolated")
    assert found.basis.reason.startswith(reason) and bool(found.basis.reason) == bool(reason)
