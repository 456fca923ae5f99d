"""A problem that was read gets its work from its own formulas, or from whoever counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.doors import table
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.problem_source import ProblemSource
from kopt_kb.launch.problems.capsule import Capsule
from kopt_kb.launch.problems.described import stated_problem
from kopt_kb.launch.problems.find import read_problem
from kopt_kb.launch.problems.question import OneShape, TensorLayout
from kopt_kb.problem.counts import ByteCount, Count, FlopCount
from tests.kopt_kb.launch.problems.test_problem_toml import TOML, write

Counter = Callable[[Capsule], tuple[OneShape, ...]]


def counted(capsule: Capsule, compute: str) -> tuple[OneShape, ...]:
    """What a counter sees of 4x8: 28 operations, and two results of 4."""
    (shape,) = capsule.shapes or ((4, 8),)
    results = tuple(TensorLayout(name, (4,), "bf16", (1,)) for name in ("out", "out1"))
    moved = ByteCount("dram", "read", Count(64)), ByteCount("dram", "write", Count(16))
    return (
        OneShape(shape, (), results, (FlopCount("fp32", "vector", Count(28)),), (), moved, {"erfinv": 2}, fake=False),
    )


def install(monkeypatch: pytest.MonkeyPatch, count: Counter | None) -> None:
    """Leave one pack installed, which counts, or none; torch is there as far as anybody asks."""
    source = ProblemSource("none", "nothing", ".none", lambda _: False, lambda *_: read_problem(Path()), count=count)
    packs = {} if count is None else {"strange": Pack("strange", "a test's pack", problem_sources=(source,))}
    monkeypatch.setattr(table, "packs", lambda: table.Packs(packs, ()))
    monkeypatch.setattr("kopt_kb.launch.problems.described.find_spec", lambda _: object())


def test_work_is_what_a_counter_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who says it stands beside it, and so does what could not be derived."""
    install(monkeypatch, counted)
    problem = stated_problem(read_problem(write(tmp_path, TOML.split("[work]")[0]))).problem
    (work,) = problem.works()
    assert work.flops_by_engine() == {("fp32", "vector"): 28}
    assert problem.own is not None
    assert (problem.own.origin, problem.own.results) == ("counted", 2)
    assert "counted" in dict(work.definitions)["flops"]
    notes = " ".join(problem.own.notes)
    assert all(word in notes for word in ("no formula for erfinv", "values of one draw", "2 results"))


def test_declared_work_that_a_counter_contradicts_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both numbers are said, and the declared ones are used."""
    install(monkeypatch, counted)
    own = stated_problem(read_problem(write(tmp_path))).problem.own
    assert own is not None
    assert own.origin == "declared"
    assert own.notes[0] == "declared and counted differ on 4x8: 28 and 28 operations, 72 and 80 bytes"


def test_declared_work_needs_neither_pack_nor_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers, and a note that nothing was held against them; work that is not declared needs the pack."""
    install(monkeypatch, None)
    own = stated_problem(read_problem(write(tmp_path))).problem.own
    assert own is not None
    (work,) = own.works
    assert work.flops_by_engine() == {("fp32", "vector"): 28}
    assert (work.compulsory_bytes("dram", "read"), work.compulsory_bytes("dram", "write")) == (64, 8)
    assert (own.form, own.results, own.origin) == ("MxN", 1, "declared")
    assert "was not held against a count" in own.notes[-1]
    with pytest.raises(MissingTool, match="needs the pack problem_sets, which is not installed"):
        stated_problem(read_problem(write(tmp_path, TOML.split("[work]")[0])))


def test_declared_work_needs_no_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where torch is not installed no child is begun."""
    monkeypatch.setattr("kopt_kb.launch.problems.described.find_spec", lambda _: None)
    own = stated_problem(read_problem(write(tmp_path, python="def reference(x):\n    raise ValueError\n"))).problem.own
    assert own is not None
    assert "was not held against a count" in own.notes[-1]
