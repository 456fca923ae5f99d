"""Fields of a workspace out of a sentence: what it says for certain, and what is missing; nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kopt_kb.analysis.frameworks import frameworks
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.doors.language import plain_name
from kopt_kb.packs.coordination.routing.intent import read_intent
from kopt_kb.problem.dtypes import ALIASES as TYPE_ALIASES
from kopt_kb.problem.dtypes import DTYPES
from kopt_kb.wiki.names import AmbiguousPlatform, NameIndex

__all__ = ["PromptFields", "read_prompt"]

_SHAPE = re.compile(r"(?<![\w.])\d+(?:\s*[x×*]\s*\d+){1,5}(?![\w.])")
_FILE = re.compile(r"(?<![\w/])(?:[\w.~-]+/)*[\w-]+\.(?:py|cu|hip|cuh)\b")
_PERCENT = re.compile(
    r"(?:>=?\s*)?\d+(?:\.\d+)?\s*%\s*(?:of\s+)?peak|(?:>=?\s*)\d+(?:\.\d+)?\s*(?:TFLOPS|TB/s|GB/s)", re.IGNORECASE
)
_OTHERS = {"hip": "HIP", "cuda": "CUDA", "ck": "HIP"}
_LONGEST = 5
"""Most words of a product's name."""


@dataclass(frozen=True, slots=True)
class PromptFields(Wire):
    """What a sentence says; empty where it says nothing, or says two things.

    Attributes:
        platform: The one product that it names.
        framework: Language.
        op: Operation.
        dtype: Storage type.
        shapes: Shapes.
        kernel_demo: File.
        performance_target: Target in words.
        doubtful: What it says in a way that could mean several things, a clause each.
        missing: Options that still have to be given.
    """

    platform: str = ""
    framework: str = ""
    op: str = ""
    dtype: str = ""
    shapes: tuple[str, ...] = ()
    kernel_demo: str = ""
    performance_target: str = ""
    doubtful: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def read_prompt(text: str, names: NameIndex) -> PromptFields:
    """Return the fields of a sentence such as "optimize rms_norm on H20 in CuteDSL, bf16, 8192x4096".

    Raises:
        BadInput: There are no words.
    """
    if not text.strip():
        raise BadInput("the prompt has no words", where="kb init --prompt", fix="say what is wanted", code="KB102")
    file = _FILE.findall(text)
    plain = _FILE.sub(" ", text)
    platforms, doubts = _platforms(plain, names)
    shapes = tuple(dict.fromkeys(re.sub(r"\s*[x×*]\s*", "x", one) for one in _SHAPE.findall(plain)))
    types = _types(_SHAPE.sub(" ", plain))
    languages = _languages(plain)
    try:
        op = read_intent(_SHAPE.sub(" ", plain)).op
    except BadInput:
        op = ""
    found = {"platform": platforms, "framework": languages, "dtype": types, "kernel demo": file}
    doubts += [f"{name}: {' or '.join(said)}" for name, said in found.items() if len(said) > 1]
    one = {name: said[0] if len(said) == 1 else "" for name, said in found.items()}
    target = _PERCENT.search(plain)
    fields = PromptFields(
        one["platform"], one["framework"], op, one["dtype"], shapes, one["kernel demo"],
        target[0].strip() if target else "", tuple(doubts),
    )  # fmt: skip
    wanted = {
        "--platform": fields.platform, "--framework": fields.framework, "--kernel-demo": fields.kernel_demo,
        "--op": op or fields.kernel_demo, "--dtype": fields.dtype, "--shape": shapes,
    }  # fmt: skip
    missing = tuple(name for name, value in wanted.items() if not value)
    return replace(fields, missing=missing)


def _platforms(text: str, names: NameIndex) -> tuple[list[str], list[str]]:
    """Return the products that are named exactly, longest names first, and names that several products share."""
    words = re.findall(r"[\w.+-]+", text)
    found: list[str] = []
    doubts: list[str] = []
    at = 0
    while at < len(words):
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            name = " ".join(words[at : at + length])
            if not any(letter.isdigit() for letter in name):
                continue
            try:
                found.append(names.resolve(name).platform)
            except AmbiguousPlatform as error:
                doubts.append(f"platform: {name} may be {', '.join(error.candidates)}")
            except BadInput:
                continue
            at += length
            break
        else:
            at += 1
    return list(dict.fromkeys(found)), doubts


def _types(text: str) -> list[str]:
    words = [word.lower() for word in re.findall(r"[\w.]+", text)]
    return list(dict.fromkeys(TYPE_ALIASES.get(one, one) for one in words if TYPE_ALIASES.get(one, one) in DTYPES))


def _languages(text: str) -> Sequence[str]:
    """Return the frameworks that are named; TileIR is Triton's backend and no framework."""
    plain = re.sub(r"\bnv-?triton\b|cuda graphs?", " ", text.casefold())
    found = [
        one.name for one in frameworks() for key in [plain_name(one.name)]
        if re.search(rf"(?<![a-z]){re.escape(key[:2])}[\s-]?{re.escape(key[2:])}(?![a-z])", plain)
    ]  # fmt: skip
    found += [name for word, name in _OTHERS.items() if re.search(rf"\b{word}\b", plain)]
    return list(dict.fromkeys(found))
