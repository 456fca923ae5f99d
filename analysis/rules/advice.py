"""Advice pages of the wiki: what a limiter means and what to do, by file name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kopt_kb.analysis.rules.table import LIMITERS
from kopt_kb.base.errors import BadInput
from kopt_kb.wiki.places import default_root

__all__ = ["Advice", "AdviceFault", "load_advice"]

_SECTION = "## What to do"
_STEP = re.compile(r"^\d+\. (?P<text>.+?)(?:\s*\[\^[\w.\-]+\])*$")


class AdviceFault(BadInput):
    """An advice page that is missing or says nothing to do."""

    code = "KB212"


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do about one limiter.

    Attributes:
        limiter: Word of the closed table.
        page: `advice/<limiter>.md`.
        steps: Actions, the first first.
    """

    limiter: str
    page: str
    steps: tuple[str, ...]


@lru_cache(maxsize=64)
def load_advice(limiter: str, root: Path | None = None) -> Advice:
    """Return the advice of a limiter; raises `AdviceFault` for a missing page or one without steps.

    Args:
        limiter: Word of the closed table.
        root: Folder of the wiki; None takes KOPT_GPU_WIKI, else the packaged one.
    """
    page = f"advice/{limiter}.md"
    if limiter not in LIMITERS:
        raise AdviceFault(f"{limiter!r} is no limiter", fix=f"one of {', '.join(LIMITERS)}", code="KB106")
    try:
        text = ((root or default_root()) / page).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AdviceFault("the page of advice can't be read", where=page) from error
    found = (_STEP.match(line) for line in text.partition(_SECTION)[2].splitlines())
    steps = tuple(one["text"] for one in found if one)
    if not steps:
        raise AdviceFault(f"no numbered step under {_SECTION!r}", where=page)
    return Advice(limiter, page, steps)
