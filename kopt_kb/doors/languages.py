"""The one table of kernel languages: the core's own, and behind them what packs bring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kopt_kb.doors.language import Language, plain_name
from kopt_kb.doors.later import later
from kopt_kb.doors.table import behind, needed_pack

__all__ = ["CORE", "language_named", "language_of_file", "language_of_module", "languages", "unknown_language"]

_TRITON = later("kopt_kb.launch.recompile.triton_source:recompile_triton")

CORE: tuple[Language, ...] = (
    Language(
        "Triton", "Triton", backends=("TRITON",), topics=("triton",), mark="triton.jit", start="subscript",
        kernels="", dumps={"TRITON_CACHE_DIR": "{folder}"}, modules={"triton": "static"}, recompile=_TRITON,
    ),
    Language(
        "Gluon", "Gluon, Triton's language of layouts", backends=("GLUON",), topics=("gluon",),
        mark="triton.experimental.gluon.jit", start="subscript", recompile=_TRITON,
    ),
    Language(
        "CUDA", "CUDA C++", spellings=("CUDA C", "CUTLASS"), vendors=("NVIDIA",), backends=("CUDA",), topics=("cuda",),
        suffixes=(".cu", ".cuh"), recompile=later("kopt_kb.launch.recompile.cuda_source:recompile_cuda"),
    ),
    Language(
        "HIP", "HIP", vendors=("AMD",), backends=("HIP", "CK", "HIPBLASLT", "TURBO"), topics=("hip", "ck"),
    ),
    Language("PyTorch", "PyTorch", modules={"torch": "gpu"}),
)  # fmt: skip
"""Languages that the core compiles and records itself, or knows by name alone."""


def languages() -> Iterator[Language]:
    """Yield every language, the core's own first; a name that is taken already is left out."""
    seen = set[str]()
    for language in (*CORE, *(brought for _, brought in behind("languages"))):
        if plain_name(language.name) not in seen:
            seen.add(plain_name(language.name))
            yield language


def language_named(name: str) -> Language | None:
    """Return the language that users call so, or None; packs are asked where the core has none of the name."""
    plain = plain_name(name)
    own = next((language for language in CORE if plain in language.names), None)
    return own or next((language for language in languages() if plain in language.names), None)


def language_of_file(path: str) -> Language | None:
    """Return the language whose compiler takes a whole file, by what the file holds; None: the core's own do."""
    return next((one for one in languages() if _takes(one, path)), None)


def _takes(language: Language, path: str) -> bool:
    """Return whether a language's pack says that a file is its own: none of the core's kernels is, and no error is."""
    if language.recognises is None or _is_core(path):
        return False
    try:
        return bool(language.recognises(path))
    except Exception:  # noqa: BLE001 - a stranger's test of a file: what it can't judge is not its own
        return False


def _is_core(path: str) -> bool:
    """Return whether a Python file has a Triton kernel and names no module that a pack's language brings."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    others = (name for one in languages() if one.name not in _CORE_NAMES for name in one.modules)
    return "triton.jit" in text and not any(name in text for name in others)


_CORE_NAMES = frozenset(one.name for one in CORE)


def language_of_module(module: str, path: str) -> Language | None:
    """Return the language that files import a module for, or None.

    Args:
        module: Dotted name of a module that is not installed, or of a package above it.
        path: The file that imports it, which tells languages apart whose modules lie in one package.
    """
    top = module.partition(".")[0]
    for language in languages():
        for name in language.modules:
            alone = name == top or (_takes(language, path))
            if name.partition(".")[0] == top and alone:
                return language
    return None


def unknown_language(name: str) -> str:
    """Return why no language of a name is there: its pack is absent, or nobody knows it."""
    return needed_pack(name) or f"no language is called {name!r}"
