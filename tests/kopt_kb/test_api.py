"""The public names: each is there, is lazy, and nothing else is promised."""

from __future__ import annotations

import ast
import math
from importlib import metadata
from pathlib import Path

import pytest

import kopt_kb
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.table import Packs


@pytest.mark.parametrize("name", kopt_kb.__all__)
def test_every_public_name_is_there(name: str) -> None:
    """And says what it is."""
    assert getattr(kopt_kb, name).__doc__


def test_the_list_is_sorted_and_complete() -> None:
    """`dir` shows exactly the promise."""
    assert dir(kopt_kb) == sorted(kopt_kb.__all__)
    assert list(kopt_kb._HOME) == sorted(kopt_kb._HOME)
    assert {*kopt_kb._HOME, "__version__", "annotate", "profiled"} == set(kopt_kb.__all__)


def test_what_type_checkers_read_is_what_is_there() -> None:
    """The list that they need as a literal, and the imports beside it."""
    (block,) = [node for node in ast.parse(Path(kopt_kb.__file__).read_text()).body if isinstance(node, ast.If)]
    (listed,) = [ast.literal_eval(node.value) for node in block.body if isinstance(node, ast.Assign)]
    imported = {name.name for node in block.body if isinstance(node, ast.ImportFrom) for name in node.names}
    assert listed == kopt_kb.__all__
    assert {*imported, "__version__"} == set(listed)


def test_a_pack_that_is_absent_takes_its_names_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """All others stay, and no pack replaces one."""
    mine = Pack("mine", "a test's", names={"lookup": "math:pi", "circle": "math:pi"})
    monkeypatch.setattr("kopt_kb.doors.table.packs", lambda: Packs({"mine": mine}, ()))
    assert "profiled" not in kopt_kb.__all__ and "lookup" in kopt_kb.__all__
    with pytest.raises(AttributeError, match="profiled"):
        _ = kopt_kb.profiled
    assert kopt_kb.circle == math.pi
    assert kopt_kb.lookup is not math.pi


def test_other_names_are_attribute_errors() -> None:
    """As in any module."""
    with pytest.raises(AttributeError, match="nonsense"):
        _ = kopt_kb.nonsense


def test_the_version_is_that_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """And `unknown` where nothing is installed."""
    assert kopt_kb.__version__ == metadata.version("kopt-kb")

    def missing(_: str) -> str:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", missing)
    assert kopt_kb.__version__ == "unknown"


def test_results_say_what_they_are_on_one_line(repo_root: Path) -> None:
    """A notebook prints the last one of every cell."""
    h200 = kopt_kb.Registry.open().platform("H200_SXM")
    some = kopt_kb.work("rms_norm", (8192, 4096), "bf16")
    report = kopt_kb.campaign_report(repo_root / "benchmarks" / "campaigns" / "h200_sxm" / "softmax")
    kernels = kopt_kb.Profiles.read(repo_root / "tests" / "data" / "zoo" / "library.csv")
    shown = [some, kopt_kb.roofline(some, h200), kopt_kb.lookup(h200), report, report.conditions, kernels, kernels[0]]
    assert [
        one for one in map(repr, [*shown, kopt_kb.classify(kernels[0], h200)]) if len(one) > 200 or "\n" in one
    ] == []
    assert repr(some) == "Work(rms_norm 8192x4096 bf16: 134.2 MFLOP fp32 vector, 134.2 MB dram)"
    assert repr(report.conditions) == "Evaluation(2 of 3 targets met, aggregate 1.045)"
