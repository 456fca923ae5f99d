"""Counter tables of rocprofv3 column by column, with pyarrow where it is installed.

Only a plain table is read this way: one process, ascending dispatch ids, all rows of a dispatch together and in one
pass, every cell a number that should be one. For anything else the row by row reader is asked, which tells what is
wrong and where. Both give equal profiles; sums may differ in the last bit.
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kopt_kb.analysis.profile import ReportPlace, ReportSource
from kopt_kb.analysis.profile.tally import DurationTally
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector, CounterSum
from kopt_kb.analysis.readers.amd.amd_csv import Columns, folded
from kopt_kb.analysis.readers.amd.amd_devices import Devices
from kopt_kb.analysis.readers.amd.amd_dispatch import Dispatch, DispatchShape
from kopt_kb.analysis.readers.amd.amd_shapes import ShapeReader

__all__ = ["columnar_is_there", "read_columnar"]

_BLOCK_BYTES = 1 << 22
_HEAD_BYTES = 1 << 16
_TEXTS = (
    "kernel", "agent", "threads", "threads_x", "threads_y", "threads_z", "block", "block_x", "block_y", "block_z",
    "lds", "scratch", "vgpr", "agpr", "sgpr", "wave",
)  # fmt: skip
_NUMBERS = ("dispatch", "start", "end", "value")


class _NotPlain(Exception):
    """The table is not one of those that are read by columns."""


@dataclass(slots=True)
class _Config:
    """Sums of one configuration."""

    shape: DispatchShape
    line: int
    launches: int = 0
    times: DurationTally = field(default_factory=DurationTally)
    counters: dict[str, CounterSum] = field(default_factory=dict)


def columnar_is_there() -> bool:
    """Return whether pyarrow is installed."""
    return importlib.util.find_spec("pyarrow") is not None


def read_columnar(path: Path, devices: Devices, source: ReportSource) -> AmdCollector | None:
    """Return the dispatches of a counter table, None when it has to be read row by row."""
    arrow, reader = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.csv")
    with path.open("rb") as stream:
        first = stream.read(_HEAD_BYTES).split(b"\n", 1)[0].decode("utf-8", errors="replace")
    titles = next(csv.reader([first.lstrip("\ufeff").rstrip("\r")]), [])
    columns = Columns([folded(one) for one in titles])
    if not columns.has(*_NUMBERS, "counter", "kernel") or len(set(titles)) != len(titles):
        return None
    table = _Table(path, columns, devices, AmdCollector(source))
    try:
        waiting = None
        for batch in _batches(arrow, reader, path, titles, columns):
            block = arrow.Table.from_batches([batch])
            waiting = table.take(block if waiting is None else arrow.concat_tables([waiting, block]), last=False)
        if waiting is not None:
            table.take(waiting, last=True)
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError, _NotPlain):
        return None
    return table.done()


def _batches(arrow: Any, reader: Any, path: Path, titles: list[str], columns: Columns) -> Any:
    text = arrow.dictionary(arrow.int32(), arrow.string())
    types = {titles[at]: text for one in (*_TEXTS, "counter", "process") if (at := columns.at(one)) is not None}
    for one in _NUMBERS:
        at = columns.at(one)
        if at is not None:
            types[titles[at]] = arrow.float64() if one == "value" else arrow.int64()
    return reader.open_csv(
        path,
        read_options=reader.ReadOptions(block_size=_BLOCK_BYTES, column_names=titles, skip_rows=1),
        parse_options=reader.ParseOptions(ignore_empty_lines=False),
        convert_options=reader.ConvertOptions(include_columns=list(types), column_types=types),
    )


class _Table:
    """Adds up blocks of whole dispatches."""

    def __init__(self, path: Path, columns: Columns, devices: Devices, collector: AmdCollector) -> None:
        self._np = importlib.import_module("numpy")
        self._path = path
        self._columns = columns
        self._shapes = ShapeReader(path, columns, devices)
        self._collector = collector
        self._configs: dict[tuple[str, ...], _Config] = {}
        self._ids: Any = None
        self._last_id = -1
        self._process: str | None = None
        self._line = 2

    def _index(self, known: str) -> int:
        """Return the place of a column among the included ones, which come in the order of `_batches`."""
        present = [one for one in (*_TEXTS, "counter", "process", *_NUMBERS) if self._columns.at(one) is not None]
        return present.index(known)

    def take(self, block: Any, *, last: bool) -> Any:
        """Add up a block and return the rows of its last dispatch, which may go on in the next block."""
        np = self._np
        block = block.unify_dictionaries().combine_chunks()
        if block.num_rows == 0:
            return None
        ids = self._numbers(block, "dispatch")
        fresh = np.concatenate(([True], ids[1:] != ids[:-1]))
        starts = np.flatnonzero(fresh)
        rest = None
        if not last:
            end = int(starts[-1])
            rest = block.slice(end)
            if end == 0:
                return rest
            block, ids, fresh, starts = block.slice(0, end), ids[:end], fresh[:end], starts[:-1]
        firsts = ids[starts]
        if firsts[0] <= self._last_id or (np.diff(firsts) <= 0).any():
            raise _NotPlain
        self._last_id = int(firsts[-1])
        self._ids = firsts
        self._add(block, fresh, starts)
        self._line += block.num_rows
        return rest

    def _numbers(self, block: Any, known: str) -> Any:
        column = block.column(self._index(known))
        if column.null_count:
            raise _NotPlain
        return column.to_numpy()

    def _codes(self, block: Any, known: str) -> tuple[Any, list[str]]:
        column = block.column(self._index(known))
        if column.null_count:
            raise _NotPlain
        parts = column.combine_chunks()
        part = parts.chunk(0) if hasattr(parts, "chunk") else parts
        return part.indices.to_numpy(), part.dictionary.to_pylist()

    def _add(self, block: Any, fresh: Any, starts: Any) -> None:
        np = self._np
        values = self._numbers(block, "value")
        begin, end = self._numbers(block, "start"), self._numbers(block, "end")
        if not np.isfinite(values).all():
            raise _NotPlain
        codes, keys = self._configurations(block)
        counter, names = self._codes(block, "counter")
        run = np.cumsum(fresh) - 1
        same = ~fresh[1:]
        parts = (codes, begin, end)
        if any((one[1:][same] != one[:-1][same]).any() for one in parts) or any(not name for name in names):
            raise _NotPlain
        if np.bincount(run * len(names) + counter).max() > 1:
            raise _NotPlain
        self._process_is_one(block)
        configs = self._known(codes, keys)
        spans = np.maximum(end - begin, 0).astype(float)
        self._sum(codes * len(names) + counter, values, spans, (configs, names))
        self._launches(codes[starts], spans[starts].astype(np.int64), configs)
        self._keep((codes, starts, counter, names), values, (begin, end), configs)

    def _configurations(self, block: Any) -> tuple[Any, list[tuple[str, ...]]]:
        """Return for each row the number of its configuration, and the cells of each."""
        np = self._np
        present = [one for one in _TEXTS if self._columns.at(one) is not None]
        coded = [self._codes(block, one) for one in present]
        whole = np.zeros(block.num_rows, dtype=np.int64)
        for indices, names in coded:
            if len(names) and int(whole.max()) > (1 << 62) // len(names):
                raise _NotPlain
            whole = whole * max(len(names), 1) + indices
        _, first, codes = np.unique(whole, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        rows = first[order]
        return rank[codes], [tuple(names[indices[row]] for indices, names in coded) for row in rows]

    def _process_is_one(self, block: Any) -> None:
        if self._columns.at("process") is None:
            return
        indices, names = self._codes(block, "process")
        found = {names[one] for one in self._np.unique(indices)}
        self._process = self._process if self._process is not None else next(iter(found))
        if found != {self._process}:
            raise _NotPlain

    def _known(self, codes: Any, keys: list[tuple[str, ...]]) -> list[_Config]:
        np = self._np
        configs: list[_Config] = []
        for code, key in enumerate(keys):
            config = self._configs.get(key)
            if config is None:
                line = self._line + int(np.argmax(codes == code))
                config = self._configs[key] = _Config(self._shape(key, line), line)
            configs.append(config)
        return configs

    def _shape(self, key: tuple[str, ...], line: int) -> DispatchShape:
        cells = [""] * len(self._columns.header)
        texts = iter(key)
        for one in _TEXTS:
            at = self._columns.at(one)
            if at is not None:
                cells[at] = next(texts)
        return self._shapes.read(cells, line)

    def _sum(self, both: Any, values: Any, spans: Any, names: tuple[list[_Config], list[str]]) -> None:
        np = self._np
        configs, counters = names
        counts, totals, weighted, weights = (
            np.bincount(both, weights=one) for one in (None, values, values * spans, spans)
        )
        for at in np.flatnonzero(counts):
            config, name = configs[at // len(counters)], counters[at % len(counters)]
            held = config.counters.setdefault(name, CounterSum())
            held.launches += int(counts[at])
            held.total += float(totals[at])
            held.weighted += float(weighted[at])
            held.weight_ns += float(weights[at])

    def _launches(self, codes: Any, spans: Any, configs: list[_Config]) -> None:
        np = self._np
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes, minlength=len(configs))
        for config, part in zip(configs, np.split(spans[order], np.cumsum(counts)[:-1]), strict=True):
            config.launches += len(part)
            config.times.add_all(part.tolist())

    def _keep(self, runs: tuple[Any, Any, Any, list[str]], values: Any, times: Any, configs: list[_Config]) -> None:
        """Keep launch records while a profile has room for more."""
        codes, starts, counter, names = runs
        open_codes = [code for code, config in enumerate(configs) if self._collector.has_room(config.shape)]
        if not open_codes:
            return
        chosen = self._np.flatnonzero(self._np.isin(codes[starts], open_codes))
        ends = self._np.append(starts[1:], len(codes))
        for number in chosen.tolist():
            row, stop = int(starts[number]), int(ends[number])
            shape = configs[int(codes[row])].shape
            if not self._collector.has_room(shape):
                continue
            dispatch = Dispatch(int(self._ids[number]), str(self._path), self._line + row, shape)
            dispatch.span(int(times[0][row]), int(times[1][row]))
            for index in range(row, stop):
                dispatch.counters[names[int(counter[index])]] = float(values[index])
            self._collector.keep(dispatch)

    def done(self) -> AmdCollector:
        """Return the collector with all sums."""
        for config in self._configs.values():
            place = ReportPlace(str(self._path), f"line {config.line}")
            self._collector.add_sums(config.shape, place, config.launches, config.times)
            for name, amount in config.counters.items():
                self._collector.add_counter(config.shape, place, name, amount)
        return self._collector
