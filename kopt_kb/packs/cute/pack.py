"""What the pack cute brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.language import Language
from kopt_kb.doors.later import later
from kopt_kb.doors.pack import Pack

__all__ = ["PACK"]

PACK = Pack(
    name="cute",
    what="kernels in CuTe DSL",
    words=("cute",),
    languages=(
        Language(
            name="CuteDSL",
            what="CuTe DSL, CUTLASS's Python language",
            spellings=("cute",),
            vendors=("NVIDIA",),
            backends=("CUTEDSL",),
            mark="cutlass.cute.kernel",
            inner_marks=("cutlass.cute.jit",),
            kernels="cute",
            variables=("CUTE",),
            package="nvidia-cutlass-dsl",
            modules={"cutlass": "cute"},
            header="cute",
            function_code=later("kopt_kb.packs.cute.compiler:function_code"),
        ),
    ),
    extras={"cute": "compile and record CuTe DSL kernels without a GPU"},
    doctor=later("kopt_kb.packs.cute.health:lines"),
)
