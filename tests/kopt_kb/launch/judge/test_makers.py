"""Records made by warm children and stored; what a maker may get wrong is refused, and the next request is answered."""

from __future__ import annotations

import hashlib
import os
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.base.wire import canonical
from kopt_kb.launch.judge import makers
from kopt_kb.launch.judge.makers import Makers, NotRecordedError, make_record, make_records
from kopt_kb.launch.record.judge import load_record
from kopt_kb.launch.record.model import LaunchRecord, TensorView
from kopt_kb.launch.record.request import MakerAnswer, MakerRequest, OpRequest
from tests.kopt_kb.launch.small_record import CODE, DIGEST, small_record

LAUNCHERS = Path(__file__).resolve().parents[4] / "tests" / "data" / "launchers.py"
REQUEST = MakerRequest(OpRequest(str(LAUNCHERS), (4,), "bf16"), "sm_90", "Test", {}, "")


_FAKE = """
import io, json, os, pathlib, subprocess, sys, time
real = sys.stdout
real.write("ready" + chr(10))
real.flush()
for line in sys.stdin:
    request = json.loads(line)["request"]
    folder = pathlib.Path(request["folder"])
    sys.stdout = io.StringIO()
BODY
    said = sys.stdout.getvalue()
    isolation = {"held": [], "missing": {"pid namespace": "none here"}}
    reply = {"ended": ENDED, "status": 0, "seconds": 0.5, "isolation": isolation, "size": len(said)}
    real.write(json.dumps(reply) + chr(10) + said)
    real.flush()
"""


@pytest.fixture
def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Puts a program in the makers' place: Python text that sees `request` and `folder`, and how it says it ended."""

    def replace_by(text: str, ended: str = "ok") -> None:
        program = tmp_path / "maker.py"
        program.write_text(_FAKE.replace("BODY", textwrap.indent(text or "pass", "    ")).replace("ENDED", repr(ended)))
        monkeypatch.setattr(makers, "_MAKER", (sys.executable, str(program)))

    return replace_by


def _says(record: LaunchRecord) -> str:
    return f"sys.stdout.write({canonical(MakerAnswer(record=record).to_json()).decode()!r})\n"


def test_a_record_is_stored_with_its_code(tmp_path: Path, maker) -> None:  # type: ignore[no-untyped-def]
    """And read back equal; nothing else is left beside it."""
    maker(f"(folder / '{DIGEST}').write_bytes({CODE!r})\n" + _says(small_record()))
    out = tmp_path / "made"
    assert make_record(REQUEST, out) == load_record(out) == small_record()
    assert (out / "objects" / DIGEST).read_bytes() == CODE
    assert sorted(one.name for one in tmp_path.iterdir()) == ["made", "maker.py"]
    with pytest.raises(BadInput, match="exists"):
        make_record(REQUEST, out)


KEPT = f"(folder / '{DIGEST}').write_bytes({CODE!r})\n"
UNTRUE = {
    "no code": _says(small_record()),
    "other code": f"(folder / '{DIGEST}').write_bytes(b'else')\n" + _says(small_record()),
    "a link": f"os.symlink('/etc/hostname', folder / '{DIGEST}')\n" + _says(small_record()),
    "a record beyond its buffers": f"(folder / '{DIGEST}').write_bytes({CODE!r})\n"
    + _says(small_record(outputs=(TensorView("out", 4, (4,), (1,), "u8"),))),
    "PTX": f"(folder / '{hashlib.sha256(b'.version 8.0').hexdigest()}').write_bytes(b'.version 8.0')\n"
    + _says(small_record(codes={hashlib.sha256(b".version 8.0").hexdigest(): 12, DIGEST: len(CODE)})),
    "another shape": KEPT + _says(small_record(shape=(8,))),
    "another dtype": KEPT + _says(small_record(dtype="fp32")),
    "another target": KEPT + _says(small_record(target="sm_80")),
    "a path of the system": KEPT + _says(small_record(codes={DIGEST: len(CODE), "/proc/self/environ": 10})),
    "no JSON": "print('hello')",
    "nothing": "",
    "too much": "sys.stdout.write('x' * (5 << 20))",
    "more members": "print(json.dumps({'record': None, 'refusal': None, 'passed': True}))",
    "a death": "os.kill(os.getpid(), 11)",
    "an unknown code": "print(json.dumps({'record': None, 'refusal': {'code': 'KB999', 'what': 'x', 'where': '', 'fix': ''}}))",
    "neither": "print(json.dumps({'record': None, 'refusal': None}))",
}


@pytest.mark.parametrize("name", UNTRUE)
def test_what_a_maker_gets_wrong_is_one_error(tmp_path: Path, maker, name: str) -> None:  # type: ignore[no-untyped-def]
    """Whatever it answers: one line, no record, nothing left."""
    maker(UNTRUE[name])
    with pytest.raises(KoptError) as caught:
        make_record(REQUEST, tmp_path / "made")
    assert "\n" not in str(caught.value)
    assert [one.name for one in tmp_path.iterdir()] == ["maker.py"]


@pytest.mark.parametrize(
    ("ended", "words"), [("hang", "longer"), ("oom", "memory"), ("limit", "bytes"), ("crash", "no answer")]
)
def test_endings_are_named(tmp_path: Path, maker, ended: str, words: str) -> None:  # type: ignore[no-untyped-def]
    """The keeper says which limit was passed; what the maker was held by is kept beside it."""
    maker("", ended)
    with Makers(1) as one:
        made = one.make(REQUEST, tmp_path / "made")
    assert made.record is None
    assert words in str(made.error)
    assert made.isolation.missing == {"pid namespace": "none here"}
    assert (made.seconds > 0) and not made.folder.exists()


def _wait_until_gone(pid: int) -> None:
    """Wait for the end of a process that was killed: a signal takes its time on a busy machine."""
    end = time.monotonic() + 100
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state == "Z":
            return
        time.sleep(0.01)
    pytest.fail(f"process {pid} lives on")


@pytest.mark.parametrize("text", ["time.sleep(600)", "real.write('x' * (1 << 20)); real.flush()", "os._exit(0)"])
def test_a_maker_out_of_step_is_replaced(
    tmp_path: Path,
    maker,
    monkeypatch: pytest.MonkeyPatch,
    text: str,  # type: ignore[no-untyped-def]
) -> None:
    """Silent, too loud or gone: it is ended with what it started, and the next request finds a new one."""
    note = tmp_path / "pid"
    child = f"p = subprocess.Popen(['sleep', '600'])\npathlib.Path({str(note)!r}).write_text(str(p.pid))\n"
    maker(f"if request['autotune']:\n{textwrap.indent(child + text, '    ')}\n{KEPT}{_says(small_record())}")
    monkeypatch.setattr(makers, "_GRACE_S", 1.0)
    with Makers(1, wall_s=1.0) as one:
        made = one.make(replace(REQUEST, autotune=1), tmp_path / "first")
        assert isinstance(made.error, NotRecordedError), made
        _wait_until_gone(int(note.read_text()))
        monkeypatch.setattr(makers, "_GRACE_S", 500.0)  # a busy machine takes its time to start the next one
        assert one.make(REQUEST, tmp_path / "second").record == small_record()


def test_many_come_in_order_and_failures_are_results(tmp_path: Path, maker) -> None:  # type: ignore[no-untyped-def]
    """Each request has its own place in the answer, whoever ended first."""
    maker(
        f"time.sleep(0.2 / (1 + request['autotune']))\n{KEPT}if request['autotune'] != 2:\n    {_says(small_record())}"
    )
    asked = [(replace(REQUEST, autotune=number), tmp_path / f"made{number}") for number in range(4)]
    found = make_records(asked)
    assert [one.folder.name for one in found] == ["made0", "made1", "made2", "made3"]
    assert [one.record is not None for one in found] == [True, True, False, True]
    assert found[2].error is not None
    assert isinstance(make_records(asked[:1])[0].error, BadInput)


def test_a_maker_is_told_no_secrets(tmp_path: Path, maker, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    """Of the shell's variables it gets those on a list; home is a folder of its own."""
    monkeypatch.setenv("SECRET_TOKEN", "x")
    note = tmp_path / "env"
    maker(f"pathlib.Path({str(note)!r}).write_text(chr(10).join([*os.environ, os.environ['HOME']]))")
    with Makers(1) as one:
        one.make(REQUEST, tmp_path / "made")
    text = note.read_text()
    assert "SECRET_TOKEN" not in text
    assert "PATH" in text
    assert "kb-record-" in text.splitlines()[-1]


def test_the_first_maker_imports_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others start once it is warm, and give way to who judges; ended before that, they never do."""
    began, go = tmp_path / "began", tmp_path / "go"
    program = tmp_path / "maker.py"
    program.write_text(
        "import os, pathlib, sys, time\ntime.sleep(0.1)\n"
        f"open({str(began)!r}, 'a').write(f'{{os.nice(0)}} ')\n"
        f"while not pathlib.Path({str(go)!r}).exists():\n    time.sleep(0.01)\n"
        "print('ready', flush=True)\nsys.stdin.read()\n"
    )
    monkeypatch.setattr(makers, "_MAKER", (sys.executable, str(program)))
    here = os.nice(0)

    def are(many: int) -> None:
        end = time.monotonic() + 20
        while len(began.read_text().split() if began.exists() else ()) < many and time.monotonic() < end:
            time.sleep(0.01)
        nices = began.read_text().split()
        assert nices == [str(here), *[str(min(here + 5, 19))] * (many - 1)]

    for last in (1, 3):
        with Makers(3) as some:
            some.warm()
            are(1)
            time.sleep(0.2)
            are(1)
            if last == 3:
                go.touch()
            are(last)
        began.unlink()


@pytest.mark.torch
@pytest.mark.triton
def test_a_real_launcher_is_recorded(tmp_path: Path) -> None:
    """Through the whole way: child, answer, store; a refusal keeps its code."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    record = make_record(REQUEST, tmp_path / "made")
    assert [one.entry for one in record.launches] == ["add_blocks"]
    wrong = MakerRequest(OpRequest(str(tmp_path / "none.py"), (64,), "bf16"), "sm_90", "Test", {}, "")
    with pytest.raises(KoptError, match="no such file"):
        make_record(wrong, tmp_path / "other")
