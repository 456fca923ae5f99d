"""A launcher recorded once with each configuration that its autotuned kernels choose from.

The first record tells what they choose from; each configuration is then recorded alone, and what a device would not
take is removed again and named.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import parse, read
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.counts.own_configs import OwnConfig, OwnConfigs, TunedValues, judged, too_many_threads
from kopt_kb.launch.counts.static_profile import profile_of
from kopt_kb.launch.judge.makers import Made, Makers
from kopt_kb.launch.judge.recorded import recorded
from kopt_kb.launch.record.request import MakerRequest
from kopt_kb.launch.record.statics import STATICS, Statics
from kopt_kb.sandbox.owned import owned_folder

__all__ = ["CONFIGURATIONS", "record_configurations"]

CONFIGURATIONS = "configurations.json"
"""Name of the document beside the records."""


def record_configurations(request: MakerRequest, out: Path, limits: Limits | None, platform: str) -> OwnConfigs:
    """Record a launcher with each configuration that fits into `out/N`, and say of the others what forbids them.

    Args:
        request: What to record; which configuration is chosen here.
        out: A new folder.
        limits: Sourced limits of a product; None judges nothing.
        platform: Its name; empty without one.

    Raises:
        BadInput: `out` exists, or no kernel that is launched has configurations of its own.
        NotRecordedError: The launcher can't be recorded with any configuration.
        MissingTool: Triton or torch is not installed.
    """
    if out.exists():
        fix = "name a new folder; nothing is overwritten"
        raise BadInput("exists already", where=str(out), fix=fix, code="KB113")
    with Makers() as makers, owned_folder("kb-configs-") as scratch:
        makers.make(replace(request, autotune=0, statics=True), scratch / "first").stored()
        configs = _configurations(scratch / "first")
        warp = CompileTarget.parse(request.target).warp_size
        found = {n: no for n, one in enumerate(configs) if (no := too_many_threads(n, one, warp, limits))}
        todo = [number for number in range(len(configs)) if number not in found]
        with _new_folder(out):
            asked = [
                (replace(request, autotune=number, statics=True, strict=True), out / str(number)) for number in todo
            ]
            for position, made in makers.each(asked):
                number = todo[position]
                found[number] = _judged(number, configs[number], made, limits)
            result = OwnConfigs(request.target, platform, tuple(found[number] for number in range(len(configs))))
            text = json.dumps(result.to_json(), indent=1, ensure_ascii=False)
            (out / CONFIGURATIONS).write_text(text + "\n", encoding="utf-8")
    return result


@contextmanager
def _new_folder(out: Path) -> Iterator[None]:
    """Make a folder; remove it again where what is written to it fails."""
    try:
        out.mkdir(parents=True)
        yield
    except OSError as error:
        what = f"nothing could be stored: {error.strerror or error}"
        raise BadInput(what, where=str(out), fix="name a folder that can be written", code="KB113") from error
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise


def _configurations(folder: Path) -> list[TunedValues]:
    """Return what each configuration sets; where several kernels are tuned, by `kernel.name`.

    Raises:
        BadInput: No launched kernel chooses among any.
    """
    path = folder / STATICS
    told = read(Statics, parse(path.read_bytes(), where=STATICS), where=STATICS) if path.is_file() else None
    tuned = {} if told is None else told.tuned
    if not tuned:
        what, fix = "no kernel that is launched has configurations of its own", "leave --autotune out"
        raise BadInput(what, where="--autotune all", fix=fix, code="KB082")
    if len(tuned) == 1:
        return list(next(iter(tuned.values())))
    return [_joined(tuned, one) for one in zip_longest(*tuned.values())]


def _joined(tuned: Mapping[str, object], settings: tuple[TunedValues | None, ...]) -> TunedValues:
    """Return what the kernels of a launcher set together; one that has fewer configurations takes its first."""
    return {
        f"{kernel}.{name}": value
        for kernel, one in zip(tuned, settings, strict=True)
        for name, value in (one or {}).items()
    }


def _judged(number: int, config: TunedValues, made: Made, limits: Limits | None) -> OwnConfig:
    if made.record is None:
        return judged(number, config, made.error or BadInput("the maker answered nothing", code="KB445"), limits)
    found = judged(number, config, [profile_of(one) for one in recorded(made.folder, disassemble=True)], limits)
    if found.reason is not None:
        shutil.rmtree(made.folder)
        return found
    return replace(found, path=str(made.folder))
