"""What the pack helion brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.language import Language
from kopt_kb.doors.later import later
from kopt_kb.doors.pack import Pack

__all__ = ["PACK"]

PACK = Pack(
    name="helion",
    what="kernels in Helion",
    words=("helion",),
    languages=(
        Language(
            name="Helion",
            what="Helion, recorded as the Triton kernels that it writes",
            package="helion",
            modules={"helion": "helion"},
        ),
    ),
    extras={"helion": "record Helion kernels without a GPU"},
    doctor=later("kopt_kb.packs.helion.health:lines"),
)
