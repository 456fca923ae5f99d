"""Error codes that the pack inline alone raises."""

from __future__ import annotations

from kopt_kb.base.error_codes import PackCode
from kopt_kb.doors.pack import PackCause

__all__ = ["BELOW_THE_SHARE", "CAUSES", "FASTER_THAN_THE_ROOF", "NO_EARLIER_TIME", "REGRESSION", "UNDECIDED_REGRESSION"]

FASTER_THAN_THE_ROOF = PackCode("KB470")
BELOW_THE_SHARE = PackCode("KB471")
NO_EARLIER_TIME = PackCode("KB472")
REGRESSION = PackCode("KB473")
UNDECIDED_REGRESSION = PackCode("KB478")

CAUSES: tuple[PackCause, ...] = (
    PackCause(
        FASTER_THAN_THE_ROOF,
        "faster-than-the-roof",
        "a time is shorter than the roof of its work allows",
        "Check what was timed: the right work, finished when the clock stops, with operands outside the caches.",
    ),
    PackCause(
        BELOW_THE_SHARE,
        "below-the-share",
        "work reaches less of its roof than was asserted",
        "Profile it; or lower the share, if the assertion was too high.",
    ),
    PackCause(
        NO_EARLIER_TIME,
        "no-earlier-time",
        "a file of times has none of this test",
        "Run with --kopt-update-baseline to take up its time.",
    ),
    PackCause(
        REGRESSION,
        "regression",
        "work takes longer than before by more than the tolerance",
        "Find the change; or take up the new time with --kopt-update-baseline.",
    ),
    PackCause(
        UNDECIDED_REGRESSION,
        "undecided-regression",
        "whether a kernel is slower than in another revision could not be decided",
        "Let the device be alone and cool, then run again; the message says what spoiled the comparison.",
    ),
)
