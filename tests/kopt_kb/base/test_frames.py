"""DataFrames of records: columns in order, what is missing stays missing, an absent package is named with its extra."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.base.frames import Record, pandas_frame, polars_frame

RECORDS: list[Record] = [{"a": 1, "b": None}, {"a": 2.5, "c": "x"}]


@pytest.mark.parametrize(("make", "name"), [(pandas_frame, "pandas"), (polars_frame, "polars")])
def test_an_absent_package_is_named_with_its_extra(make: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import that fails is no traceback."""
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingTool, match=rf"install kopt-kb\[{name}\]") as caught:
        make(RECORDS)  # type: ignore[operator]
    assert caught.value.error_code == "KB120"


def test_rows_and_columns_are_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the two packages are given: named columns first, then those that come up; None where a row has none."""
    seen: dict[str, object] = {}
    fakes = {name: ModuleType(name) for name in ("pandas", "polars")}
    fakes["pandas"].DataFrame = lambda data, columns: seen.update(rows=data, columns=columns)  # type: ignore[attr-defined]
    fakes["polars"].DataFrame = lambda data, strict: seen.update(data=data, strict=strict)  # type: ignore[attr-defined]
    for name, fake in fakes.items():
        monkeypatch.setitem(sys.modules, name, fake)
    pandas_frame(RECORDS, ["c", "d"])
    polars_frame(RECORDS, ["c", "d"])
    assert seen["columns"] == ["c", "d", "a", "b"]
    assert seen["rows"] == [{"a": 1, "b": None}, {"a": 2.5, "c": "x"}]
    assert seen["data"] == {"c": [None, "x"], "d": [None, None], "a": [1, 2.5], "b": [None, None]}


def test_real_packages_take_them() -> None:
    """Where they are installed: shape, names, missing values; no rows too."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    polars = pytest.importorskip("polars", reason="polars is not installed")
    for made in (pandas_frame(RECORDS, ["c"]), polars_frame(RECORDS, ["c"])):
        assert made.shape == (2, 3)
        assert list(made.columns) == ["c", "a", "b"]
    assert pandas.isna(pandas_frame(RECORDS)["b"]).all()
    assert polars_frame(RECORDS)["b"].null_count() == 2
    assert isinstance(polars_frame([], ["a"]), polars.DataFrame)
    assert list(pandas_frame([], ["a"]).columns) == ["a"]
