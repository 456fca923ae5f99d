"""What a request asks for, from its words: technologies, whether a kernel exists, the operation; nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.coordination.routing.specialists import NOT_THE_SAME, TaskCategory
from kopt_kb.problem.ops import ALIASES, OPS

__all__ = ["Intent", "read_intent"]

_MENTIONS: Mapping[TaskCategory, str] = {
    "tileir": r"tile[\s-]?ir\b|nv-?triton|enable_tile\b",
    "cute_dsl": r"cu[\s-]?te[\s-]?dsl\b|\bcute\b(?!\s*tile)|cutlass\.cute",
    "cutile": r"\bcu[\s-]?tile\b|cuda\.tile|ct\.kernel",
    "other_language": r"\bhip\b|\bck\b|composable kernel|flydsl|\bcuda c\+\+|\bptx\b",
    "triton": r"(?<!nv)(?<!nv-)\btriton\b",
    "cuda_graph": r"cuda[\s_-]?graphs?\b|cudagraph\w*|graph capture|graph replay",
    "distributed": r"comm(?:unication)?s? overlap|overlap\w* (?:of )?comm\w*|gradient bucket\w*|all-?reduce|all-?gather"
    r"|\bnccl\b|\bddp\b|distributed",
    "parallelism": r"\b(?:tp|pp|fsdp|dp)\b|(?:tensor|pipeline|data|expert|sequence)[\s-]parallel\w*|parallelism",
    "profiling": r"\bprofil\w*|\bmeasur\w*|\bbenchmark\w*|\bbottleneck\w*|\broofline\b|why .{0,40}\bslow\b"
    r"|\blatency of\b",
    "kernel": r"flash[\s-]?attention|\bfus(?:e|es|ed|ing|ion)\b|\bkernels?\b|\boptimi[sz]\w+|\bfaster\b|\bspeed up\b",
}
"""Category → words that ask for it; languages before what any language may serve."""

_LANGUAGES: tuple[TaskCategory, ...] = ("tileir", "cute_dsl", "cutile", "other_language", "triton")
_NOT = (
    r"(?:\bnot|\bno|\bwithout|\binstead of|\brather than|\bnever|\bavoid|\bdon't use)\s+"
    r"(?:a |an |the |any |use |using )*"
)
_FROM_TO = re.compile(
    r"\b(?:convert|port|translate|rewrite|migrate|move)\b(?P<source>.*?)\b(?:to|into|in|as|use)\b(?P<rest>.*)",
    re.DOTALL,
)
_EXISTING = re.compile(
    r"\bexisting\b|\bconvert\b|\bport\b|\bmigrate\b|\bmy\b.{0,30}\bkernel\b|[\w/]+\.py\b|\badd\b.{0,30}\bconfigs?\b"
)
_FUSED = {"", "attention", "swiglu", "geglu", "add_rms_norm", "gemm_bias_act", "moe_gate"}
"""Operations that are a fusion by themselves; another one that is to be fused with something is none of the list."""
_NEW = re.compile(r"\b(?:generate|write|create|implement|author|from scratch|new)\b")


@dataclass(frozen=True, slots=True)
class Intent:
    """What a request asks for.

    Attributes:
        category: The kind of work; empty where no word says it.
        mentions: Technologies named, those ruled out by a `not` left out.
        has_kernel: Whether it speaks of a kernel that is there; None: it does not say.
        op: Operation that it names; empty without one.
        source: Language that an existing kernel is converted from; empty without one.
    """

    category: TaskCategory | None
    mentions: tuple[TaskCategory, ...]
    has_kernel: bool | None
    op: str
    source: TaskCategory | None = None


def read_intent(text: str) -> Intent:
    """Return what a request asks for.

    Raises:
        BadInput: Two languages are asked for at once, or nothing here is.
    """
    words = " ".join(text.split()).casefold()
    if not words:
        raise BadInput("the task has no words", where="kb route task", fix="say what is to be done", code="KB102")
    source, wanted = _converted(words)
    found = _mentioned(wanted)
    languages = tuple(one for one in found if one in _LANGUAGES)
    if languages[:1] == ("tileir",):  # TileIR is Triton's backend: both words name one thing
        languages = tuple(one for one in languages if one != "triton")
    if len(languages) > 1:
        what = f"the task names {' and '.join(languages)}"
        raise BadInput(what, where="kb route task", fix=f"name one; {NOT_THE_SAME}", code="KB103")
    category = languages[0] if languages else next(iter(found), None)
    return Intent(category, found, _has_kernel(words, source), _op(words), source)


def _converted(words: str) -> tuple[TaskCategory | None, str]:
    """Return the language a kernel is converted from, and the words that say what is wanted."""
    moved = _FROM_TO.search(words)
    if moved is None:
        return None, words
    before, after = _mentioned(moved["source"]), _mentioned(moved["rest"])
    if not any(one in _LANGUAGES for one in before) or not any(one in _LANGUAGES for one in after):
        return None, words
    return next(one for one in before if one in _LANGUAGES), moved["rest"]


def _mentioned(words: str) -> tuple[TaskCategory, ...]:
    """Return the categories whose words stand there and are not denied."""
    return tuple(
        name for name, pattern in _MENTIONS.items() if re.search(pattern, re.sub(f"{_NOT}(?:{pattern})", " ", words))
    )


def _has_kernel(words: str, source: TaskCategory | None) -> bool | None:
    if source is not None:
        return source == "triton"
    if _EXISTING.search(words):
        return True
    return False if _NEW.search(words) else None


def _op(words: str) -> str:
    """Return the operation with the longest name that stands in the words."""
    plain = re.sub(r"[_\-/]+", " ", words)
    names = {one.replace("_", " "): one for one in OPS} | dict(ALIASES)
    names |= {
        "silu mul": "swiglu",
        "flash attention": "attention",
        "flashattention": "attention",
        "layer norm": "layer_norm",
    }
    found = [name for name in names if re.search(rf"\b{re.escape(name)}\b", plain)]
    op = names[max(found, key=len)] if found else ""
    return "" if op not in _FUSED and re.search(r"\bfus", words) else op
