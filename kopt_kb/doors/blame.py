"""Which pack of another distribution an exception comes from."""

from __future__ import annotations

from types import TracebackType

from kopt_kb.doors.entries import entry_points
from kopt_kb.doors.table import GROUP, is_own

__all__ = ["strange_frame"]


def strange_frame(error: BaseException) -> tuple[str, str]:
    """Return the pack that an exception was raised in or passed through last, and `file:line` there.

    Both are empty where the traceback meets no module of a pack that another distribution brings.
    """
    packs = {entry.module.partition(".")[0]: entry.name for entry in entry_points(group=GROUP) if not is_own(entry)}
    pack, place = "", ""
    frame: TracebackType | None = error.__traceback__
    while frame is not None:
        top = str(frame.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if top in packs:
            pack, place = packs[top], f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}"
        frame = frame.tb_next
    return pack, place
