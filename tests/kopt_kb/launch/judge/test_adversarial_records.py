"""The generator of benchmarks/adversarial_records.py: right form, other content, the same for the same seed."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.judge.judging import Checked
from kopt_kb.launch.record.model import Buffer, Fill, Input, LaunchRecord, ScalarArg, TensorAddress, TensorView
from tests.kopt_kb.launch.small_record import CODE, DIGEST, small_record


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def records(repo_root: Path) -> Any:
    """The script; importing it adds its folders to the path."""
    before = list(sys.path)
    yield _load(repo_root / "benchmarks" / "adversarial_records.py")
    sys.path[:] = before


@pytest.fixture(scope="module")
def bases(records: Any) -> list[Any]:
    """Two records with all that can be mutated: scalars, scratch, a fill, several steps, two inputs."""
    view = {name: TensorView(name, 0, (64, 16), (16, 1), "fp32") for name in ("x", "y", "kept", "out")}
    buffers = tuple(
        Buffer(name, role, 64 * 16 * 4, 256, changed)
        for name, role, changed in (
            ("x", "input", False), ("y", "input", False), ("kept", "scratch", True), ("out", "output", True),
        )
    )  # fmt: skip
    numbers = (ScalarArg("i32", 16), ScalarArg("fp32", 1e-6))
    one = small_record().launches[0]
    first = replace(one, grid=(64, 1, 1), arguments=(*map(TensorAddress, (view["x"], view["kept"])), *numbers))
    second = replace(first, arguments=(*map(TensorAddress, (view["kept"], view["y"], view["out"])), *numbers))
    record = small_record(
        buffers=buffers, inputs=(Input("x", view["x"]), Input("y", view["y"])), outputs=(view["out"],), shape=(64, 16),
        steps=(Fill(view["kept"], "00000000"), first, second),
    )  # fmt: skip
    other = CODE[:-1] + b"\x01"
    digest = hashlib.sha256(other).hexdigest()
    last = replace(second, code=digest, entry="other")
    changed = replace(record, steps=(first, last), codes={digest: len(other), DIGEST: len(CODE)})
    return [
        records.Base("one", record, {DIGEST: CODE}, "reference.py"),
        records.Base("two", changed, {DIGEST: CODE, digest: other}, "reference.py"),
    ]


def test_the_same_seed_gives_the_same_records_of_every_kind(records: Any, bases: list[Any]) -> None:
    """All different, none a base, and all of them read as records."""
    made, again, others = (list(records.mutants(bases, 300, seed)) for seed in (7, 7, 8))
    assert [one.key for one in made] == [one.key for one in again]
    assert [one.key for one in made] != [one.key for one in others]
    assert len({one.key for one in made}) == len(made) == 300
    assert set(Counter(one.kind for one in made)) == {
        "arguments", "aliasing", "geometry", "constants", "attributes", "order of steps", "scratch", "globals",
    }  # fmt: skip
    known = {canonical(one.record.to_json()) for one in bases}
    for one in made:
        text = canonical(one.record.to_json())
        assert text not in known
        assert read(LaunchRecord, parse(text)) == one.record
        assert set(one.record.codes) <= set(one.codes)


def test_what_can_be_refused_without_a_gpu_is_and_honest_ones_are_not(records: Any, bases: list[Any]) -> None:
    """A result in an input, one element for all, buffers that hold too little; the rest is the judge's to refuse."""
    cases = records.cases_of(bases, 300, 40, 7)
    assert [one.name for one in cases] == [one.name for one in records.cases_of(bases, 300, 40, 7)]
    refused = {one.name: why for one in cases if (why := records.refused_without_a_gpu(one))}
    honest = [one for one in cases if one.kind == "honest"]
    assert len(honest) == 40
    assert not refused.keys() & {one.name for one in honest}
    said = {one.what: refused.get(one.name, "") for one in cases}
    assert "lies in the input" in said["the result lies in an input"]
    assert "share their memory" in said["a row of the result stands for all"]
    assert all(refused[one.name] for one in cases if one.kind == "scratch" and "size_bytes=2048" in one.what)


def test_findings_are_written_as_they_come_and_counted(records: Any, bases: list[Any], tmp_path: Path) -> None:
    """A wrong record that was accepted, or an honest one that was refused, fails the run."""
    log = records.Log(tmp_path / "found.jsonl")
    wrong, right = records.cases_of(bases, 1, 1, 7)[:2]
    wrong, right = (wrong, right) if right.kind == "honest" else (right, wrong)
    log.say(wrong, "refused", "the result is wrong", 0.1)
    log.say(right, "accepted", "12 checks", 0.1)
    assert len((tmp_path / "found.jsonl").read_text().splitlines()) == 2
    assert records.summary(log, gpu=True, seconds=1.0) == 0
    log.say(wrong, "WRONG", "draw 3")
    assert records.summary(log, gpu=True, seconds=1.0) == 1
    log.say(wrong, "admitted", "")  # the time was over before it was judged
    assert records.summary(log, gpu=True, seconds=1.0) == 1
    log.say(wrong, "equivalent", "")
    log.say(right, "refused", "")
    assert records.summary(log, gpu=True, seconds=1.0) == 1


class Judge:
    """Accepts bases and one mutant, hangs at one, and can't read one."""

    faults, _held = 0, None
    ended = 0

    def __init__(self, at_once: int = 1) -> None:
        assert at_once == 8

    def check(self, record: Path, reference: Path, checks: int, ends_at: float) -> Checked:
        """Return what the record's number says."""
        assert reference.name == "reference.py"
        assert ends_at > time.monotonic()
        number = record.name.partition("-")[0]
        if number == "1":
            raise TimeoutError
        if number == "2":
            raise BadInput("can't be used", code="KB440")
        if number == "3":
            Judge.faults += 1
            return Checked("illegal address", None, 1)
        right = number in {"0", "honest"} or record.name.startswith("4-")
        return Checked("" if right else "wrong", None, checks)

    def close(self) -> None:
        """Count it."""
        Judge.ended += 1


def test_every_case_ends_somehow_and_accepted_ones_are_sorted_out(
    records: Any, bases: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hang, a fault and a refusal are words; what was accepted is replayed beside its original."""
    monkeypatch.setattr(records, "DeviceJudging", Judge)
    ended: list[str] = []

    def beside(argv: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        listed = json.loads(Path(argv[-1]).read_text())
        ended.append(str(len(listed)))
        return subprocess.CompletedProcess(argv, 1, "same bits: 24 draws\n" if len(ended) == 1 else "", "died")

    monkeypatch.setattr(records.subprocess, "run", beside)
    cases = [replace(one, same=False) for one in records.cases_of(bases, 8, 2, 7)]
    log = records.Log(tmp_path / "found.jsonl")
    accepted = records.judge_all(cases, tmp_path, log, 2, time.monotonic() + 60)
    found = {name.partition("-")[0]: one["ended"] for name, one in log.found.items()}
    assert found == {
        "0": "accepted", "1": "hang", "2": "refused", "3": "fault", "4": "accepted", "5": "refused", "6": "refused",
        "7": "refused", "honest": "accepted",
    }  # fmt: skip
    records.sorted_out(accepted, tmp_path, log)
    assert sorted(one["ended"] for one in log.found.values() if one["name"][0] in "04") == ["WRONG", "same bits"]
    assert ended == ["2", "1"]
    assert Judge.ended == 3
    assert not list(tmp_path.glob("*.case"))
