"""Tables of exhaustive results: each configuration of a space with its times, or with why it has none.

Read are Kernel Tuner's cache files and the T4 documents of the FAIR benchmark hub, plain or as `.gz`; written is T4
with members of our own in its metadata. A cache file that its tuner was still writing is read and is not whole.
"""

from __future__ import annotations

import gzip
import io
import json
import statistics
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input
from kopt_kb.launch.search.space import Floats, Space

__all__ = ["ResultTable", "TableResult", "read_table", "tables_in"]

_MOST_BYTES = 1 << 30
_UNITS_S = {"milliseconds": 1e-3, "miliseconds": 1e-3, "ms": 1e-3, "microseconds": 1e-6, "seconds": 1.0, "s": 1.0}
"""Seconds of the time units that T4 documents name; the hub writes "miliseconds"."""


@dataclass(frozen=True, slots=True)
class TableResult:
    """What became of one configuration.

    Attributes:
        config: Knob → value.
        times_s: Times of its runs in seconds; empty for a failure.
        failure: Why it has none, as its tuner says.
        facts: What was known of it without running it: name → number.
    """

    config: Mapping[str, object]
    times_s: tuple[float, ...]
    failure: str = ""
    facts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ResultTable:
    """Exhaustive results of one kernel on one device.

    Attributes:
        name: Kernel and device, as files and folders name them.
        device: As the tuner printed it; may be empty.
        results: One a configuration.
        constraints: As written, where the document has them; a configuration that they forbid is not in the table.
        versions: What it was measured with.
        is_whole: Whether the document was finished.
    """

    name: str
    device: str
    results: tuple[TableResult, ...] = field(repr=False)
    constraints: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    is_whole: bool = True

    @cached_property
    def space(self) -> Space:
        """The configurations that were tried, in the order of `results`."""
        names = tuple(self.results[0].config) if self.results else ()
        knobs = {name: _values(one.config[name] for one in self.results) for name in names}
        index = {name: {_key(value): at for at, value in enumerate(values)} for name, values in knobs.items()}
        rows = [[index[name][_key(one.config[name])] for name in names] for one in self.results]
        return Space(knobs, np.array(rows, dtype=np.int64).reshape(len(rows), len(names)))

    @cached_property
    def medians_s(self) -> Floats:
        """Median time of each configuration in seconds, infinite for a failure."""
        return np.array([statistics.median(one.times_s) if one.times_s else np.inf for one in self.results])

    @property
    def valid(self) -> int:
        """Configurations that have a time."""
        return int(np.isfinite(self.medians_s).sum())

    @property
    def best_s(self) -> float:
        """Least median in seconds."""
        return float(self.medians_s.min())

    def within(self, share: float) -> int:
        """Return how many configurations are at most `1 + share` times the best."""
        return int((self.medians_s <= (1 + share) * self.best_s).sum())

    def to_t4(self) -> dict[str, object]:
        """Return the table as a T4 document, times in milliseconds."""
        metadata = {
            "timeunit": "milliseconds", "name": self.name, "device": self.device, "versions": dict(self.versions),
            "constraints": list(self.constraints),
        }  # fmt: skip
        return {"metadata": metadata, "results": [_t4(one) for one in self.results]}


def _t4(result: TableResult) -> dict[str, object]:
    times_ms = [round(time * 1e3, 9) for time in result.times_s]
    timed = [{"name": "time", "value": statistics.median(times_ms), "unit": "ms"}] if times_ms else []
    return {
        "configuration": dict(result.config),
        "times": {"runtimes": times_ms},
        "invalidity": result.failure or "correct",
        "correctness": 0 if result.failure else 1,
        "measurements": [*timed, *({"name": name, "value": value, "unit": ""} for name, value in result.facts.items())],
        "objectives": ["time"],
    }


def _key(value: object) -> tuple[str, object]:
    """Return a value that tells True from 1 and may be looked up."""
    return type(value).__name__, value


def _values(every: Iterable[object]) -> tuple[object, ...]:
    values = list({_key(one): one for one in every}.values())
    if all(isinstance(one, int | float) for one in values):
        values.sort(key=lambda one: float(str(one)) if not isinstance(one, bool) else float(one))
    return tuple(values)


def tables_in(folder: str | Path) -> list[Path]:
    """Return the files of tables below a folder, sorted; of a cache file and its T4 twin the cache file.

    Raises:
        BadInput: There is no such folder, or no table in it.
    """
    root = Path(folder)
    if not root.is_dir():
        raise BadInput("no such folder", where=str(root), fix="name a folder of tables", code="KB110")
    files = {path for end in ("*.json", "*.json.gz") for path in root.rglob(end)}
    found = sorted(path for path in files if not _is_twin(path, files) and _looks_like_table(path))
    if not found:
        fix = "name a checkout of AutoTuningAssociation/benchmark_hub, or a folder with its `.json.gz` files"
        raise BadInput("holds no table of exhaustive results", where=str(root), fix=fix, code="KB116")
    return found


def _is_twin(path: Path, files: set[Path]) -> bool:
    plain = path.with_name(path.name.replace("_T4.json", ".json"))
    return plain != path and plain in files


def _looks_like_table(path: Path) -> bool:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            head = stream.read(4096)
    except (OSError, EOFError, zlib.error):
        return True  # reading it says why not
    return b'"tune_params' in head or (b'"metadata"' in head and b'"results"' in head)


def read_table(path: str | Path, most_bytes: int = _MOST_BYTES) -> ResultTable:
    """Return the table of a Kernel Tuner cache file or a T4 document.

    Args:
        path: The file, `.gz` or not.
        most_bytes: What it may hold unpacked.

    Raises:
        BadInput: It can't be read, holds too much, or is no such document.
    """
    where = str(path)
    text = _unpacked(read_input(path, most_bytes), where, most_bytes)
    document, is_whole = _document(text, where)
    stem = Path(path).name.removesuffix(".gz").removesuffix(".json").removesuffix("_T4")
    name = f"{Path(path).resolve().parent.name}/{stem}"
    if not isinstance(document, dict):
        raise _wrong(where, "is a list or a plain value")
    try:
        if "cache" in document:
            return _from_cache(document, name, is_whole)
        if "results" in document:
            return _from_t4(document, name, where)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _wrong(where, f"a result is not as its format says: {error!r}") from error
    raise _wrong(where, f"has members {', '.join(sorted(document))[:100] or 'none'}")


def _wrong(where: str, what: str) -> BadInput:
    fix = "give a Kernel Tuner cache file or a T4 document"
    return BadInput(f"is no table of exhaustive results: {what}", where=where, fix=fix, code="KB116")


def _unpacked(data: bytes, where: str, most_bytes: int) -> str:
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(most_bytes + 1)
        except (OSError, EOFError, zlib.error) as error:
            fix = "fetch it again"
            raise BadInput(f"is no whole gzip file: {error}", where=where, fix=fix, code="KB116") from error
        if len(data) > most_bytes:
            what = f"unpacks to more than {most_bytes} bytes"
            raise BadInput(what, where=where, fix="give a smaller one", code="KB114")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 at byte {error.start}"
        raise BadInput(what, where=where, fix="give a JSON document", code="KB115") from error


def _document(text: str, where: str) -> tuple[Any, bool]:
    """Return the document and whether it is whole: a tuner closes its cache file at the end."""
    try:
        return json.loads(text), True
    except (ValueError, RecursionError) as error:
        closed = text.rstrip().rstrip(",") + "}}"
        try:
            return json.loads(closed), False
        except (ValueError, RecursionError):
            raise BadInput(f"is not JSON: {error}", where=where, fix="give a JSON document", code="KB116") from error


def _from_cache(document: Any, name: str, is_whole: bool) -> ResultTable:
    keys: Sequence[str] = document["tune_params_keys"]
    results = []
    for one in document["cache"].values():
        time = one.get("time")
        failure = "" if isinstance(time, int | float) and time < _ABSURD_MS else str(time)
        times_s = () if failure else _times_s(one.get("times") or [time], 1e-3)
        results.append(TableResult({key: one[key] for key in keys}, times_s, failure))
    return ResultTable(name, str(document.get("device_name", "")), tuple(results), is_whole=is_whole)


_ABSURD_MS = 1e19
"""Kernel Tuner's old files write 1e20 for a failure."""


def _from_t4(document: Any, name: str, where: str) -> ResultTable:
    metadata = document.get("metadata") or {}
    unit = str(metadata.get("timeunit", "milliseconds"))
    if unit not in _UNITS_S:
        raise _wrong(where, f"its time unit is {unit!r}")
    results = []
    for one in document["results"]:
        failure = "" if one.get("invalidity", "correct") == "correct" else str(one["invalidity"])
        times_s = () if failure else _times_s(one["times"].get("runtimes") or _measured(one), _UNITS_S[unit])
        results.append(TableResult(dict(one["configuration"]), times_s, failure, _facts(one)))
    return ResultTable(
        str(metadata.get("name") or name),
        str(metadata.get("device", "")),
        tuple(results),
        tuple(map(str, metadata.get("constraints", ()))),
        {str(key): str(value) for key, value in dict(metadata.get("versions", {})).items()},
    )


def _facts(one: Any) -> dict[str, float]:
    """Return what else a T4 result measured: all but its time."""
    rest = ((str(value["name"]), value["value"]) for value in one.get("measurements") or () if value["name"] != "time")
    return {name: float(value) for name, value in rest if isinstance(value, int | float)}


def _measured(one: Any) -> list[Any]:
    return [value["value"] for value in one["measurements"] if value["name"] == "time"]


def _times_s(times: Sequence[Any], unit_s: float) -> tuple[float, ...]:
    """Return times in seconds; some files hold a pair a run, of which the second is the time."""
    return tuple(float(one[-1] if isinstance(one, list) else one) * unit_s for one in times)
