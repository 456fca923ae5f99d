"""What the pack flydsl brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.language import Language
from kopt_kb.doors.later import later
from kopt_kb.doors.pack import Pack

__all__ = ["PACK"]

PACK = Pack(
    name="flydsl",
    what="kernels in FlyDSL",
    words=("flydsl",),
    languages=(
        Language(
            name="FlyDSL",
            what="AMD's layout language in Python",
            vendors=("AMD",),
            backends=("FLYDSL",),
            mark="flydsl.compiler.kernel",
            kernels="flydsl",
            dumps={"FLYDSL_DUMP_IR": "1"},
            package="flydsl",
            modules={"flydsl": "flydsl"},
            header="flydsl",
            function_code=later("kopt_kb.packs.flydsl.compiler:function_code"),
        ),
    ),
    extras={"flydsl": "compile and record FlyDSL kernels without a GPU"},
    doctor=later("kopt_kb.packs.flydsl.health:lines"),
)
