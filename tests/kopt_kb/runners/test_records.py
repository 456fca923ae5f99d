"""Records made in a child and stored; what a maker may get wrong is refused; replays need a GPU."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

from kopt_kb.errors import BadInput, KoptError, MissingTool
from kopt_kb.kernels.record.judge import load_record
from kopt_kb.kernels.record.model import VERSION, Buffer, Input, Launch, LaunchRecord, TensorArg, View
from kopt_kb.kernels.record.request import Answer, OpRequest, Request
from kopt_kb.runners import records
from kopt_kb.runners.records import (
    NotRecordedError,
    device_facts,
    make_record,
    packaged_reference,
    replay_record,
)
from kopt_kb.wiki.registry import Registry
from kopt_kb.wire import canonical

LAUNCHERS = Path(__file__).resolve().parents[3] / "tests" / "data" / "launchers.py"
REQUEST = Request(OpRequest(str(LAUNCHERS), (4,), "bf16"), "sm_90", "Test", {}, "")
CODE = b"\x7fELF\x02\x01\x01\x00\x07" + bytes(9) + b"\xbe\x00" + bytes(28) + b"\x5a" + bytes(15)
"""The head of an ELF file for sm_90."""

DIGEST = hashlib.sha256(CODE).hexdigest()


def _record(**changes: object) -> LaunchRecord:
    x, out = View("x", 0, (4,), (1,), "u8"), View("out", 0, (4,), (1,), "u8")
    step = Launch(DIGEST, "k", (1, 1, 1), (32, 1, 1), (1, 1, 1), 0, (TensorArg(x), TensorArg(out)))
    members: dict[str, object] = {
        "v": VERSION, "label": "l", "op": "elementwise", "shape": (4,), "dtype": "bf16", "target": "sm_90",
        "buffers": (Buffer("x", "input", 4, 256, False), Buffer("out", "output", 4, 256, True)),
        "inputs": (Input("x", x),), "outputs": (out,), "steps": (step,), "codes": {DIGEST: len(CODE)},
    }  # fmt: skip
    return LaunchRecord(**{**members, **changes})  # type: ignore[arg-type]


@pytest.fixture
def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Puts a program in the maker's place: Python text that sees the request as `request` and the folder as `folder`."""

    def replace_by(text: str) -> None:
        program = tmp_path / "maker.py"
        head = "import json, os, pathlib, sys, time\nrequest = json.load(sys.stdin)\nfolder = pathlib.Path(request['folder'])\n"
        program.write_text(head + text)
        monkeypatch.setattr(records, "_MAKER", (sys.executable, str(program)))

    return replace_by


def _says(record: LaunchRecord) -> str:
    return f"sys.stdout.write({canonical(Answer(record=record).to_json()).decode()!r})\n"


def test_a_record_is_stored_with_its_code(tmp_path: Path, maker) -> None:  # type: ignore[no-untyped-def]
    """And read back equal; nothing else is left beside it."""
    maker(f"(folder / '{DIGEST}').write_bytes({CODE!r})\n" + _says(_record()))
    out = tmp_path / "made"
    assert make_record(REQUEST, out) == load_record(out) == _record()
    assert (out / "objects" / DIGEST).read_bytes() == CODE
    assert sorted(one.name for one in tmp_path.iterdir()) == ["made", "maker.py"]
    with pytest.raises(BadInput, match="exists"):
        make_record(REQUEST, out)


KEPT = f"(folder / '{DIGEST}').write_bytes({CODE!r})\n"
UNTRUE = {
    "no code": _says(_record()),
    "other code": f"(folder / '{DIGEST}').write_bytes(b'else')\n" + _says(_record()),
    "a link": f"os.symlink('/etc/hostname', folder / '{DIGEST}')\n" + _says(_record()),
    "a record beyond its buffers": f"(folder / '{DIGEST}').write_bytes({CODE!r})\n"
    + _says(_record(outputs=(View("out", 4, (4,), (1,), "u8"),))),
    "PTX": f"(folder / '{hashlib.sha256(b'.version 8.0').hexdigest()}').write_bytes(b'.version 8.0')\n"
    + _says(_record(codes={hashlib.sha256(b".version 8.0").hexdigest(): 12, DIGEST: len(CODE)})),
    "another shape": KEPT + _says(_record(shape=(8,))),
    "another dtype": KEPT + _says(_record(dtype="fp32")),
    "another target": KEPT + _says(_record(target="sm_80")),
    "a path of the system": KEPT + _says(_record(codes={DIGEST: len(CODE), "/proc/self/environ": 10})),
    "no JSON": "print('hello')",
    "nothing": "",
    "too much": "sys.stdout.write('x' * (5 << 20))",
    "more members": "print(json.dumps({'record': None, 'refusal': None, 'passed': True}))",
    "a crash": "os.kill(os.getpid(), 11)",
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


def test_a_maker_that_never_ends_is_ended_with_its_children(
    tmp_path: Path,
    maker,  # type: ignore[no-untyped-def]
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The whole session ends, a child that it started too; a busy machine gets more time to start that child."""
    note = tmp_path / "pid"
    child = f"p = subprocess.Popen(['sleep', '600'])\npathlib.Path({str(note)!r}).write_text(str(p.pid))\n"
    maker(f"import subprocess\n{child}time.sleep(600)")
    for limit_s in (2.0, 20.0, 200.0):
        monkeypatch.setattr(records, "_MAKER_S", limit_s)
        with pytest.raises(NotRecordedError, match="longer"):
            make_record(REQUEST, tmp_path / "made")
        if note.exists():
            break
    state = Path(f"/proc/{note.read_text()}/stat")
    assert not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z"


@pytest.mark.torch
@pytest.mark.triton
def test_a_real_launcher_is_recorded(tmp_path: Path) -> None:
    """Through the whole way: child, answer, store; a refusal keeps its code."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    record = make_record(REQUEST, tmp_path / "made")
    assert [one.entry for one in record.launches] == ["add_blocks"]
    wrong = Request(OpRequest(str(tmp_path / "none.py"), (64,), "bf16"), "sm_90", "Test", {}, "")
    with pytest.raises(KoptError, match="no such file"):
        make_record(wrong, tmp_path / "other")


def test_facts_come_from_rows(wiki_root: Path) -> None:
    """The invented product has 100 SMs and 50 MiB of L2; what its page does not say is left out."""
    facts = device_facts(Registry.open(wiki_root).platform("T10"))
    assert facts["multi_processor_count"] == 100
    assert facts["L2_cache_size"] == 50 * 1024 * 1024
    assert "regs_per_multiprocessor" not in facts


@pytest.fixture
def stored(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Stores a record without a maker."""

    def store(record: LaunchRecord) -> Path:
        folder = tmp_path / "stored"
        (folder / "objects").mkdir(parents=True)
        (folder / "objects" / DIGEST).write_bytes(CODE)
        (folder / "record.json").write_bytes(canonical(record.to_json()))
        return folder

    return store


def test_what_can_not_be_replayed(stored, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A call has no reference; a record that needs the host says so."""
    folder = stored(_record(op="", shape=(), dtype=""))
    for check in (lambda: packaged_reference(folder), lambda: replay_record(folder, LAUNCHERS)):
        with pytest.raises(BadInput) as caught:
            check()
        assert caught.value.error_code == "KB451"
    body = json.loads((folder / "record.json").read_text())
    body.update(op="elementwise", not_replayable="out is computed by add")
    (folder / "record.json").write_text(json.dumps(body))
    with pytest.raises(BadInput, match="computed by add"):
        replay_record(folder, LAUNCHERS)
    body["not_replayable"] = ""
    body["outputs"] = [body["inputs"][0]["view"]]
    (folder / "record.json").write_text(json.dumps(body))
    with pytest.raises(BadInput, match="the result lies in the input x"):
        replay_record(folder, LAUNCHERS)
    assert packaged_reference(folder).name == "elementwise.py"
    assert not (tmp_path / "nothing").exists()


@pytest.mark.torch
@pytest.mark.triton
def test_a_replay_without_a_gpu_is_missing_and_never_a_pass(stored) -> None:  # type: ignore[no-untyped-def]
    """Exit 3 and not 0; on a machine with one the invented code object is refused by the driver."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    x = View("x", 0, (4,), (1,), "bf16")
    record = _record(
        buffers=(*tuple(Buffer(one, "input", 8, 256, False) for one in "xy"), Buffer("out", "output", 8, 256, True)),
        inputs=(Input("x", x), Input("y", View("y", 0, (4,), (1,), "bf16"))), outputs=(View("out", 0, (4,), (1,), "bf16"),),
    )  # fmt: skip
    folder = stored(record)
    if torch.cuda.is_available():
        assert not replay_record(folder, LAUNCHERS, checks=1).passed
    else:
        with pytest.raises(MissingTool):
            replay_record(folder, LAUNCHERS, checks=1)


@pytest.mark.torch
@pytest.mark.triton
def test_a_reference_that_never_answers_is_ended(  # type: ignore[no-untyped-def]
    stored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line that says so, and not a command that hangs."""
    slow = tmp_path / "slow.py"
    slow.write_text("import time\n\n\ndef make_inputs(*_, **__):\n    time.sleep(600)\n")
    monkeypatch.setattr(records, "_REFERENCE_S", 2.0)
    with pytest.raises(KoptError, match="longer than 2 s"):
        replay_record(stored(_record()), slow, checks=1)
