"""What the launch records of a version say of its gap: the grid that its SMs share, whole tiles, empty launches.

The records are those that its check rested on, read from the journal with their code objects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from kopt_kb.analysis.gap.account import GapCase
from kopt_kb.analysis.gap.spent import wave_loss_pct
from kopt_kb.analysis.roofline.shortest import empty_launch
from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import parse
from kopt_kb.base.wire import read as read_wire
from kopt_kb.launch.counts.device_facts import device_facts
from kopt_kb.launch.counts.launch_facts import LaunchFacts, launch_facts
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.launch.record.bounds import check_record
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.problem.shapes import format_shape
from kopt_kb.wiki.registry import Platform
from kopt_kb.workspace.rounds import Round

__all__ = ["records_of", "with_launches"]


def records_of(best: Round, blob: Callable[[str], bytes]) -> dict[str, LaunchRecord]:
    """Return shape → the record of a version; empty where it was not judged by records."""
    runs = [run.finished for run in best.attempts(best.name, "check") if run.finished is not None]
    found = {}
    for digest in runs[-1].records if runs else ():
        try:
            record = read_wire(LaunchRecord, parse(blob(digest), where="record"), where="record")
            check_record(record, "record")
        except KoptError:
            continue  # the audit names it
        found[format_shape(record.shape)] = record
    return found


def with_launches(
    case: GapCase, record: LaunchRecord | None, config: Mapping[str, object], blob: Callable[[str], bytes]
) -> GapCase:
    """Return a case with what a record and the wiki say of launches, grid and tiles.

    Args:
        case: Time, product and work of a shape.
        record: Of the version on it; None: nobody recorded it.
        config: Configuration of the version on it.
        blob: Gives code objects by sha256.

    Raises:
        BadInput: A page of the wiki that it needs is broken.
    """
    if case.platform is None:
        return case
    sources: dict[str, str] = {}
    empty = empty_launch(case.platform)
    if empty is not None:
        where = ", ".join(str(one.location) for one in empty.citations())
        sources["empty_launch_s"] = f"an empty launch, by events on {case.platform.id} ({where})"
    facts = None if record is None else _facts(record, case.platform, blob)
    tiles = _tiles(case, config)
    loss = None
    if facts is not None:
        sms = device_facts(case.platform).get("multi_processor_count")
        if tiles is not None and tiles.count > facts.blocks:  # blocks that stay and walk tiles
            loss = wave_loss_pct(tiles.count, facts.blocks, tiles.count / facts.blocks)
            sources["waves_loss_pct"] = f"{tiles.count} tiles on {facts.blocks} blocks of the record"
        else:
            loss = facts.grid_loss_pct(sms)
            where = f"{facts.blocks_per_sm} resident on each of {sms} SMs"
            sources["waves_loss_pct"] = f"{facts.blocks} blocks of the record, {where}"
    if tiles is not None:
        sources["padding"] = tiles.words
    return replace(
        case,
        empty_launch_s=None if empty is None else float(empty.si),
        waves_loss_pct=loss,
        padding=None if tiles is None else tiles.padding,
        launches=max(1, len(record.launches)) if record is not None else 1,
        sources=sources,
    )


def _facts(record: LaunchRecord, platform: Platform, blob: Callable[[str], bytes]) -> LaunchFacts | None:
    try:
        return launch_facts(record, blob, limits_of(platform))
    except (KoptError, OSError):
        return None  # a code object that was too large to be kept


@dataclass(frozen=True, slots=True)
class _Tiles:
    """Tiles of a result: how many, their operations over those of the shape, both in words."""

    count: int
    padding: float
    words: str


def _tiles(case: GapCase, config: Mapping[str, object]) -> _Tiles | None:
    """Return the whole tiles that cover a product's shape, by the names that tiles of products have; None of others."""
    work = case.work
    sides = [one for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K") if isinstance(one := config.get(name), int) and one > 0]
    if work is None or work.op != "gemm" or len(work.shape) != len(sides):
        return None
    counts = [-(-extent // side) for extent, side in zip(work.shape, sides, strict=True)]
    whole = math.prod(count * side for count, side in zip(counts, sides, strict=True))
    words = f"{counts[0]} x {counts[1]} tiles of {'x'.join(map(str, sides))} cover {case.name}"
    return _Tiles(counts[0] * counts[1], whole / math.prod(work.shape), words)
