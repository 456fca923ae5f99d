"""Error codes that the pack memory_form alone raises."""

from __future__ import annotations

from kopt_kb.base.error_codes import PackCode
from kopt_kb.doors.pack import PackCause

__all__ = ["BAD_MEMORY_FILE", "CAUSES", "FIELD_REFUSED", "LOOP_OWNS_ROUNDS", "MASKED", "NO_FIELD", "VERSION_ORDER"]

BAD_MEMORY_FILE = PackCode("KB313")
MASKED = PackCode("KB315")
FIELD_REFUSED = PackCode("KB316")
NO_FIELD = PackCode("KB322")
CANT_MASK = PackCode("KB323")
VERSION_ORDER = PackCode("KB324")
LOOP_OWNS_ROUNDS = PackCode("KB325")

CAUSES: tuple[PackCause, ...] = (
    PackCause(
        BAD_MEMORY_FILE,
        "bad-memory-file",
        "a memory file or entry does not have the form of the schema",
        "docs/schema holds the schema.",
    ),
    PackCause(
        MASKED,
        "masked",
        "the version is masked: it must not reach a reader",
        "`kb memory unmask` shows it again.",
    ),
    PackCause(
        FIELD_REFUSED,
        "field-refused",
        "a field of the memory that nobody may type",
        "The message says where its content comes from.",
    ),
    PackCause(
        NO_FIELD,
        "no-field",
        "the memory has no such field",
        "`kb memory search --help` lists the fields.",
    ),
    PackCause(
        CANT_MASK,
        "can't-mask",
        "a version that may not be masked, or too few that may",
        "Mask another one.",
    ),
    PackCause(
        VERSION_ORDER,
        "version-order",
        "a version is not the next one, or the one before it is still open",
        "Finish the open version, then take the next number.",
    ),
    PackCause(
        LOOP_OWNS_ROUNDS,
        "loop-owns-rounds",
        "the tuning loop begins the rounds of this workspace",
        "Give the hypothesis to `kb tune step --plan`.",
    ),
)
