"""All kernels of a report at once: a sequence to look at, and a DataFrame to work with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.profile.shown import COLUMNS, record_of
from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.base.frames import Record, pandas_frame, polars_frame
from kopt_kb.base.markup.blocks import Cell, TableBlock
from kopt_kb.base.markup.html import fragment
from kopt_kb.quantity.readable import duration

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = ["Profiles"]

_SHOWN = 200


class Profiles(Sequence[KernelProfile]):
    """The kernels of one or more reports, in their order.

    >>> Profiles([])
    Profiles(0 kernels)
    """

    __slots__ = ("_kernels",)

    def __init__(self, kernels: Iterable[KernelProfile]) -> None:
        self._kernels = tuple(kernels)

    @classmethod
    def read(cls, *reports: str | Path, kernel: str | None = None) -> Profiles:
        """Return the kernels of reports, each recognised by its content; errors are those of `read_profiles`."""
        return cls(one for report in reports for one in read_profiles(report, kernel=kernel))

    def __len__(self) -> int:
        return len(self._kernels)

    @overload
    def __getitem__(self, at: int) -> KernelProfile: ...
    @overload
    def __getitem__(self, at: slice) -> Profiles: ...
    def __getitem__(self, at: int | slice) -> KernelProfile | Profiles:
        return Profiles(self._kernels[at]) if isinstance(at, slice) else self._kernels[at]

    def __iter__(self) -> Iterator[KernelProfile]:
        return iter(self._kernels)

    def __repr__(self) -> str:
        timed = [one.durations.total_s for one in self._kernels if one.durations is not None]
        count = f"{len(self)} kernel{'' if len(self) == 1 else 's'}"
        return f"Profiles({count}{f', {duration(sum(timed))}' if timed else ''})"

    def _repr_html_(self) -> str:
        rows = tuple(
            (
                kernel.function,
                str(kernel.launch_count),
                duration(kernel.duration_s),
                str(len(kernel.metrics)),
                kernel.source.file,
            )
            for kernel in self._kernels[:_SHOWN]
        )
        head = ("kernel", "launches", "median", "metrics", "report")
        more = [Cell(f"{len(self) - _SHOWN} more kernels")] if len(self) > _SHOWN else []
        return fragment(TableBlock("Kernels", head, rows, frozenset({1, 2, 3})), *more)

    def records(self) -> list[Record]:
        """Return one row a kernel."""
        return [record_of(one) for one in self._kernels]

    def to_pandas(self) -> pandas.DataFrame:
        """Return one row a kernel, one column a metric; raises `MissingTool` without pandas."""
        return pandas_frame(self.records(), COLUMNS)

    def to_polars(self) -> polars.DataFrame:
        """Return the same for polars."""
        return polars_frame(self.records(), COLUMNS)
