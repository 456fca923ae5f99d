"""Operations: id to module, aliases, and suggestions for names that are neither."""

from __future__ import annotations

import difflib
import importlib

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.ops.definition import OpDefinition
from kopt_kb.problem.trials import FOREIGN, Trial
from kopt_kb.wiki.op_ids import FAMILIES, OPS

__all__ = ["ALIASES", "FAMILIES", "OPS", "UnknownOp", "definition", "op_id", "trials"]

ALIASES: dict[str, str] = {"rmsnorm": "rms_norm", "layernorm": "layer_norm", "matmul": "gemm"}


class UnknownOp(BadInput):
    """An operation name that is neither an id nor an alias."""

    code = "KB060"


def op_id(name: str) -> str:
    """Return the id of an operation name or alias; raises `UnknownOp` with near names."""
    wanted = name.strip().lower().replace("-", "_")
    wanted = ALIASES.get(wanted, wanted)
    if wanted in OPS:
        return wanted
    near = difflib.get_close_matches(wanted, [*OPS, *ALIASES], n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(OPS)}."
    raise UnknownOp(f"unknown operation {name!r}", fix=f"{hint} Others: your own with --problem")


def definition(name: str) -> OpDefinition:
    """Return the definition of an operation; only its own module is imported."""
    wanted = op_id(name)
    family = next((one for one, names in FAMILIES.items() if wanted in names), None)
    module = importlib.import_module(f"kopt_kb.problem.ops.{family or wanted}")
    found: OpDefinition = module.DEFINITION if family is None else module.DEFINITIONS[wanted]
    return found


def trials(op: str) -> tuple[Trial, ...]:
    """Return the inputs that a kernel of an operation is checked with; general ones where it is in no list."""
    return definition(op).trials if op in OPS else FOREIGN
