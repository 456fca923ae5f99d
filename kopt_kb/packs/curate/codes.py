"""Error codes that the pack curate alone raises."""

from __future__ import annotations

from kopt_kb.base.error_codes import PackCode
from kopt_kb.doors.pack import PackCause

__all__ = ["BAD_PLATFORM_ID", "CAUSES"]

BAD_PLATFORM_ID = PackCode("KB027")

CAUSES: tuple[PackCause, ...] = (
    PackCause(
        BAD_PLATFORM_ID,
        "bad-platform-id",
        "a name that no page of the wiki can have",
        "Write capital letters, digits and _, such as H100_SXM.",
    ),
)
