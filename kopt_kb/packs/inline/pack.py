"""What the pack inline brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.command import JsonDocument
from kopt_kb.doors.later import later
from kopt_kb.doors.pack import Pack

__all__ = ["PACK"]

PACK = Pack(
    name="inline",
    what="profile a function in the user's own Python; fixtures for pytest",
    schemas=(
        JsonDocument(
            "stored_times",
            "kopt_kb.packs.inline.shares:StoredTimes",
            undated="the file of times that tests are held against",
        ),
    ),
    names={"annotate": "kopt_kb.packs.inline.profiled:annotate", "profiled": "kopt_kb.packs.inline.profiled:profiled"},
    causes=later("kopt_kb.packs.inline.codes:CAUSES"),
)
