"""Whether what is judged comes from its source: the code objects of each side's records, made again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from kopt_kb.launch.judge.makers import Made
from kopt_kb.launch.judge.shelf import RecordTarget, Shelf
from kopt_kb.launch.kernel.declared import kernel_name
from kopt_kb.launch.recompile.binding import Binder, Origin, codes_of, named_truly
from kopt_kb.launch.record.source import CodeBound

__all__ = ["bound_sides"]


def bound_sides(
    binder: Binder, shelf: Shelf, target: RecordTarget, sources: Mapping[str, bytes],
    made: Mapping[str, Mapping[str, Made]], ends_at: float,
) -> dict[str, tuple[CodeBound, ...]]:  # fmt: skip
    """Return side → what became of its code objects; what the binder knows already is not made again.

    Args:
        binder: Makes them.
        shelf: Has the sources as files.
        target: For what they are compiled.
        sources: Side → its source.
        made: Side → shape → its record.
        ends_at: Moment of `time.monotonic`.

    Raises:
        TimeoutError: They are not made by then.
    """
    found = {}
    for side, records in made.items():
        source = sources[side]
        path = shelf.file_of(source, kernel_name(source))
        folder, digest = str(path.parent.resolve()), hashlib.sha256(source).hexdigest()
        origin = Origin(target.target, (folder,), target.device, target.facts, digest)
        codes = {one.digest: one for each in records.values() for one in codes_of(each.folder)}
        outcomes = binder.bound([*codes.values()], origin, ends_at)
        found[side] = tuple(named_truly(one, path) for one in outcomes)
    return found
