"""The forms of exports: by name, how each is written, and which reader a file wants."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.errors import BadInput
from kopt_kb.wiki.foreign import ForeignRow
from kopt_kb.wiki.peaks import agent_flow, columns, geak, kernelbench, solar, tileops
from kopt_kb.wiki.peaks.collect import Collection, ProductPeaks

__all__ = ["FORMS", "PeaksForm", "read_binary", "reader_of", "write"]


@dataclass(frozen=True, slots=True)
class PeaksForm:
    """One form.

    Attributes:
        about: What reads it.
        render: Collection to file name → text; a product a form can't hold is not in it.
        store: For binary forms, collection to file.
        many: Whether it has one file a product.
        lacks: Why it can't hold a product, empty when it can.
    """

    about: str
    render: Callable[[Collection], dict[str, str]] | None = None
    store: Callable[[Collection, Path], None] | None = None
    many: bool = False
    lacks: Callable[[ProductPeaks], str] = lambda _: ""


FORMS: dict[str, PeaksForm] = {
    "geak": PeaksForm("AMD-AGI/GEAK, roofline/peaks.md", geak.render, lacks=geak.lacks),
    "solar": PeaksForm("NVlabs/SOLAR, configs/arch/*.yaml", solar.render, many=True, lacks=solar.lacks),
    "kernelbench": PeaksForm("ScalingIntelligence/KernelBench, gpu_specs.py", kernelbench.render),
    "tileops": PeaksForm("tile-ai/TileOPs, perf/profiles/*.yaml", tileops.render, many=True, lacks=tileops.lacks),
    "agent-flow": PeaksForm("TensorRT-LLM's agent-flow, a named source for its projector", agent_flow.render),
    "csv": PeaksForm("every value as CSV", columns.render_csv),
    "json": PeaksForm("every value as JSON", columns.render_json),
    "sqlite": PeaksForm("every value as an SQLite file", store=columns.write_sqlite),
    "parquet": PeaksForm("every value as a Parquet file (pyarrow)", store=columns.write_parquet),
}

_READERS = (geak, solar, kernelbench, tileops, agent_flow)
_MAGIC = {b"SQLite format 3\0": columns.read_sqlite, b"PAR1": columns.read_parquet}


def reader_of(text: str) -> Callable[[str, str], list[ForeignRow]] | None:
    """Return the reader of a text of one of the forms, None if it is none of them (CSV and JSON are `foreign`'s)."""
    return next((form.read for form in _READERS if form.recognises(text)), None)


def read_binary(head: bytes, path: Path) -> list[ForeignRow] | None:
    """Return the rows of a binary form, None if the file's first bytes are of none."""
    reader = next((read for magic, read in _MAGIC.items() if head.startswith(magic)), None)
    return None if reader is None else reader(path)


def write(form: PeaksForm, found: Collection, output: Path) -> list[Path]:
    """Write an export to a file, or to a folder for forms of one file a product; whole files or none of them.

    Raises:
        BadInput: The place can't be written, or nothing can be expressed in this form.
    """
    if form.store is not None:
        return [_replaced(output, lambda path: form.store(found, path) if form.store else None)]
    files = form.render(found) if form.render else {}
    if not files:
        fix = "`kb export peaks --help` names the forms"
        raise BadInput("this form can't hold any of the products", where="kb export peaks", fix=fix, code="KB106")
    if not form.many:
        (text,) = files.values()
        return [_replaced(output, lambda path: path.write_text(text, encoding="utf-8"))]
    output.mkdir(parents=True, exist_ok=True)
    return [_replaced(output / name, _writer(text)) for name, text in files.items()]


def _writer(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text, encoding="utf-8")


def _replaced(path: Path, fill: Callable[[Path], object]) -> Path:
    """Fill a temporary file beside the path and put it in its place."""
    if path.exists() and not path.is_file():  # putting a file in its place would remove a device or a pipe
        what = "is a folder" if path.is_dir() else "is no regular file"
        raise BadInput(what, where=str(path), fix="name a file", code="KB111")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    os.close(handle)
    try:
        fill(Path(name))
        Path(name).chmod(0o644)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
    return path
