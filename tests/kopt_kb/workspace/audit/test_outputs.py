"""Kept results of projects are hashed, and compared with the reference once more; what can't be is said."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.base.wire import canonical
from kopt_kb.launch.candidate.answers import Check, JudgedOutput
from kopt_kb.launch.kernel.declared import packaged_reference
from kopt_kb.workspace.audit.outputs import output_findings
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.round_events import RunFinished, RunStarted


def _events(store: ObjectStore, *outputs: JudgedOutput) -> tuple[Any, ...]:
    check = Check(passed=True, checks=len(outputs), outputs=outputs)
    blob = store.put(canonical({"printed": "", "result": check.to_json()}))
    started = object.__new__(RunStarted)
    finished = object.__new__(RunFinished)
    for one, name, value in (
        (started, "run", "r1"), (started, "gate", "check"), (finished, "run", "r1"), (finished, "output", blob),
    ):  # fmt: skip
        object.__setattr__(one, name, value)
    return SimpleNamespace(seq=4, data=started), SimpleNamespace(seq=5, data=finished)


def _output(data: bytes, **more: Any) -> JudgedOutput:
    sha = hashlib.sha256(data).hexdigest()
    content = base64.b64encode(data).decode()
    return replace(JudgedOutput("8x8x8", "random", 0, 7, "cpu", sha, (8, 8), "fp16", 0.0, content), **more)


@pytest.fixture
def found(tmp_path: Path) -> Any:
    """Audits outputs; returns code and message of each finding."""
    store = ObjectStore(tmp_path)
    state = SimpleNamespace(problem=SimpleNamespace(op="gemm", dtype="fp16"))

    def audited(*outputs: JudgedOutput, op: str = "gemm") -> list[tuple[str, int, str]]:
        state.problem.op = op
        findings = output_findings(_events(store, *outputs), state, store)  # type: ignore[arg-type]
        return [(one.code, one.line, one.message) for one in findings]

    return audited


def test_what_was_kept_is_what_was_compared(found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other bytes, no bytes at all, a size that nobody kept; without torch the rest is a note."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    one = _output(bytes(128))
    assert found(one) == [
        ("not-again", 5, "1 kept results of the project were not compared again: torch is not installed")
    ]
    other = base64.b64encode(bytes(127) + b"1").decode()
    assert found(replace(one, content=other))[0][:2] == ("record", 5)
    assert "can't be read" in found(replace(one, content="?"))[0][2]
    assert "can't have been kept" in found(replace(one, shape="65536x65536x65536"))[0][2]
    assert "can't have been kept" in found(replace(one, device="cuda"))[0][2]
    assert found(replace(one, content="")) == [
        ("not-again", 5, "run r1 keeps 1 of 1 results as hashes: they can't be compared again")
    ]
    assert "no reference of other" in found(one, op="other")[0][2]


@pytest.mark.torch
def test_they_are_compared_again(found: Any) -> None:
    """Zeros are no product; the reference's own result is one, at the distance that is said."""
    torch = pytest.importorskip("torch")
    from kopt_kb.launch.compile.loader import load_module

    module = load_module(str(packaged_reference("gemm")))
    a, b = module.make_inputs((8, 8, 8), "fp16", "cpu", 7)
    right = (a.double() @ b.double()).to(torch.float16)
    distance = float(
        torch.linalg.norm(right.double() - a.double() @ b.double()) / torch.linalg.norm(a.double() @ b.double())
    )
    data = right.numpy().tobytes()
    said = found(_output(data, rel_l2_err=distance), _output(bytes(128)), _output(data, rel_l2_err=0.5))
    assert [one[:2] for one in said] == [("record", 5)] * 2
    assert "relative error 1 is above" in said[0][2]
    assert "not 0.5" in said[1][2]
