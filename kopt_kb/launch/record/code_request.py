"""What a compiler was asked for a code object, as the recorder says it: a claim, by which the object is made again.

Only what is in the source's text, and what is in these fields, reaches the second compiler. A constant that JSON lacks
travels as an object with one member: `float` (`inf`, `-inf`, `nan`), `triton.dtype`, `tuple`, `kernel` (a function of
the source), `layout` (one of Gluon's), or `unknown` with the name of its type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kopt_kb.base.wire import JsonMap, Wire

__all__ = ["OPTIONS", "CodeRequest", "UnboundReason"]

OPTIONS = frozenset(
    {
        "num_warps", "num_ctas", "num_stages", "maxnreg", "cluster_dims", "enable_fp_fusion", "launch_cooperative_grid",
        "launch_pdl", "default_dot_input_precision", "max_num_imprecise_acc_default", "debug", "sanitize_overflow",
        "waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint", "allow_flush_denorm",
    }
)  # fmt: skip
"""Options that a request may set: numbers of resources and the arithmetic. Those that replace the code are none."""

UnboundReason = Literal[
    "differs", "language", "option", "constant", "decorator", "condition", "import", "nested", "outside", "statement",
    "body", "compiler", "not_asked", "not_replayed", "recorded_before",
]  # fmt: skip
"""Why a code object is not known to come from its source.

`differs`: made again, it is another one. `language`: nothing makes objects of this language again. `option`: an option
that may replace the code. `constant`, `decorator`, `condition`, `import`, `nested`, `statement`, `body`: what in the
source can't be taken without running it. `outside`: its file is none of the candidate's. `compiler`: the second
compiler failed. `not_asked`: the recorder does not say how it was compiled. `not_replayed`: no record was judged.
`recorded_before`: the journal is older than this field.
"""


@dataclass(frozen=True, slots=True)
class CodeRequest(Wire):
    """How one code object was compiled.

    Attributes:
        language: Name of the language.
        file: Path of the file that defines the kernel.
        module: Dotted name that the file was imported under.
        kernel: Name of the kernel in it.
        signature: Parameter → type, as the compiler spells it.
        constants: Place of a parameter, or of a member of a tuple, such as `3.1` → value.
        attributes: Place → attribute → value, such as `tt.divisibility` → 16.
        options: Options of `OPTIONS` that were in force.
        refused: Options that were in force, are none of those, and are not the compiler's own choice.
    """

    language: str
    file: str
    module: str
    kernel: str
    signature: JsonMap = field(default_factory=dict)
    constants: JsonMap = field(default_factory=dict)
    attributes: Mapping[str, JsonMap] = field(default_factory=dict)
    options: JsonMap = field(default_factory=dict)
    refused: tuple[str, ...] = ()
