"""Measured ceilings as a wiki page: records of a run in, rows with method and source out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.kernel.ceilings import CeilingsRun, ProductRecord, StreamRecord
from kopt_kb.launch.kernel.idle import LAUNCHES, CacheRecord, IdleRecord
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.row import COLUMNS
from kopt_kb.wiki.tables import table

__all__ = ["measured_page", "write_measured_page"]

_METHOD = "method: median of {count} runs, spread {spread:.1f} %, L2 flushed before each run"


def _bandwidth_row(stream: StreamRecord) -> tuple[str, ...]:
    value = f"{stream.rate_per_s / 1e12:.3f}"
    where = f"bandwidth, {stream.pattern}, {stream.bytes} bytes"
    note = _METHOD.format(count=stream.count, spread=stream.spread_pct)
    conditions = f"level=dram; pattern={stream.pattern}; bytes={stream.bytes}"
    source = f'[^run] {where} quote="{value} TB/s"'
    return "measured_bandwidth", value, "TB/s", conditions, "measured", source, note


def _cached_row(cached: CacheRecord) -> tuple[str, ...]:
    value = f"{cached.rate_per_s / 1e12:.3f}"
    note = (
        f"method: median of {cached.count} runs, spread {cached.spread_pct:.1f} %, "
        f"one launch reads the footprint {cached.read_bytes // cached.bytes} times, past the caches of the SMs"
    )
    source = f'[^run] cached, {cached.bytes} bytes quote="{value} TB/s"'
    conditions = f"level=l2; pattern=read; bytes={cached.bytes}"
    return "measured_bandwidth", value, "TB/s", conditions, "measured", source, note


def _launch_row(launch: IdleRecord) -> tuple[str, ...]:
    value = f"{launch.median_s * 1e6:.2f}"
    note = f"method: median of {launch.count} runs, spread {launch.spread_pct:.1f} %, {LAUNCHES[launch.by]}"
    return (
        "measured_launch",
        value,
        "us",
        f"by={launch.by}",
        "measured",
        f'[^run] launches, {launch.by} quote="{value} us"',
        note,
    )


def _inside_l2(run: CeilingsRun) -> list[CacheRecord]:
    """Return reads of footprints that half of the L2 holds: a large one has two halves that may both keep the data."""
    l2 = run.environment.get("l2_bytes")
    return [one for one in run.cached or () if isinstance(l2, int) and 2 * one.bytes <= l2]


def _compute_row(product: ProductRecord) -> tuple[str, ...]:
    unit = "TOPS" if product.dtype.startswith("int") else "TFLOPS"
    value = f"{product.rate_per_s / 1e12:.1f}"
    names = ("dtype", "engine", "acc", "shape", "data")
    conditions = "; ".join(f"{name}={getattr(product, name)}" for name in names)
    where = f"compute, {product.dtype}, {product.shape}"
    note = _METHOD.format(count=product.count, spread=product.spread_pct) + ", the vendor library's product"
    source = f'[^run] {where} quote="{value} {unit}"'
    return "measured_compute", value, unit, conditions, "measured", source, note


def measured_page(platform: str, vendor: str, run: CeilingsRun, record_path: str, read: str) -> str:
    """Return the Markdown page of a run.

    Args:
        platform: Exact platform id.
        vendor: As on the product's page.
        run: The run's record.
        record_path: Where the run's record is kept, as the page's source.
        read: ISO date of the run.
    """
    env = run.environment
    driver = env.get("driver_version", "unknown")
    versions = f"driver {driver}, torch {env['torch']}, triton {env['triton']}, CUDA {env['cuda']}"
    device = env["device"]
    title = f"{run.command} on {device}"
    document = f'title="{title}"; publisher="kopt-kb"; url="{record_path}"'
    source = f'[^run]: {document}; revision="{versions}"; read="{read}"'
    launches = ["## Measured launches", "", *table(COLUMNS, map(_launch_row, run.launches))] if run.launches else []
    bandwidth = (*map(_bandwidth_row, run.bandwidth), *map(_cached_row, _inside_l2(run)))
    lines = [
        "---", f"platform: {platform}", f"vendor: {vendor}", f"title: {platform}, measured", "---",
        f"# {platform}, measured", "",
        f"Device as the driver names it: {device}. Clocks were left as found. Bandwidth is bytes read plus bytes",
        "written over time; of several launch configurations the fastest is recorded. Results were checked.", "",
        "## Measured bandwidth", "", *table(COLUMNS, bandwidth),
        "## Measured compute", "", *table(COLUMNS, map(_compute_row, run.compute)),
        *launches, source,
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def write_measured_page(
    wiki: Path, platform_name: str, run: CeilingsRun, record_path: str, read: str
) -> tuple[Path, Iterable[str]]:
    """Write `measured/<platform>.md` into a wiki and return its path and the faults it brings.

    Raises:
        BadInput: The device is not one of the platform's aliases, or the wiki can't be written.
    """
    platform = Registry.open(wiki).platform(platform_name)
    one = platform.identity
    device = run.environment["device"]
    if device not in one.aliases:
        names = ", ".join(one.aliases) or "none"
        raise BadInput(
            f"the run is of {device!r}",
            where=one.path,
            fix=f"{one.platform} is printed by the driver as: {names}",
            code="KB098",
        )
    path = wiki / "measured" / f"{one.platform.lower()}.md"
    try:
        path.parent.mkdir(exist_ok=True)
        path.write_text(measured_page(one.platform, one.vendor, run, record_path, read), encoding="utf-8")
    except OSError as error:
        raise BadInput(
            f"the wiki can't be written: {error.strerror}",
            where=str(path),
            fix="`kb wiki copy DIR` makes a copy to write to",
            code="KB112",
        ) from error
    faults = Registry.open(wiki, use_cache=False).platform(one.platform).sheet.faults
    return path, [str(fault) for fault in faults]
