"""Rows of results as DataFrames, where pandas or polars are installed: neither is needed for anything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kopt_kb.base.errors import MissingTool

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = ["Record", "pandas_frame", "polars_frame"]

Record = Mapping[str, str | int | float | bool | None]
"""One row: column → value; None where there is none, which is never 0."""


def pandas_frame(records: Sequence[Record], columns: Iterable[str] = ()) -> pandas.DataFrame:
    """Return records as a pandas DataFrame.

    Args:
        records: Rows; a column that one of them lacks is missing there.
        columns: Columns that there are even without a row; others follow in the order they come up in.

    Raises:
        MissingTool: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise _missing("pandas", error) from error
    return pandas.DataFrame([dict(one) for one in records], columns=_columns(records, columns))


def polars_frame(records: Sequence[Record], columns: Iterable[str] = ()) -> polars.DataFrame:
    """Return records as a polars DataFrame; arguments are those of `pandas_frame`.

    Raises:
        MissingTool: polars is not installed.
    """
    try:
        import polars
    except ImportError as error:
        raise _missing("polars", error) from error
    names = _columns(records, columns)
    data = {name: [one.get(name) for one in records] for name in names}
    return polars.DataFrame(data, strict=False)


def _columns(records: Iterable[Record], columns: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*columns, *(name for one in records for name in one)]))


def _missing(name: str, error: ImportError) -> MissingTool:
    what = f"{error.name or name} is not installed, so there is no DataFrame of {name}"
    return MissingTool(what, fix=f"install kopt-kb[{name}]", code="KB120")
