"""The error code of the strange pack."""

from __future__ import annotations

from kopt_kb.base.error_codes import PackCode
from kopt_kb.doors.pack import PackCause

__all__ = ["CAUSES", "NIGHTMARE"]

NIGHTMARE = PackCode("STRANGE1")

CAUSES = (PackCause(NIGHTMARE, "nightmare", "nobody sleeps after such a dream", "Dream of sheep."),)
