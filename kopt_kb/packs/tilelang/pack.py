"""What the pack tilelang brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.language import Language
from kopt_kb.doors.later import later
from kopt_kb.doors.pack import Pack

__all__ = ["PACK"]

PACK = Pack(
    name="tilelang",
    what="kernels in TileLang",
    words=("tilelang",),
    languages=(
        Language(
            name="TileLang",
            what="TileLang, compiled by way of CUDA C++",
            package="tilelang",
            modules={"tilelang": "tilelang"},
            header="tilelang",
            function_code=later("kopt_kb.packs.tilelang.compiler:function_code"),
        ),
    ),
    extras={"tilelang": "compile and record TileLang kernels without a GPU"},
    doctor=later("kopt_kb.packs.tilelang.health:lines"),
)
