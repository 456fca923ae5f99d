"""Backends of kernels as campaigns name them, and the language each is written in."""

from __future__ import annotations

from kopt_kb.doors.language import plain_name
from kopt_kb.doors.languages import languages

__all__ = ["backend_of", "backends", "language_of"]


def backends() -> dict[str, str]:
    """Return backend → language, of every language that is here."""
    return {backend: language.name for language in languages() for backend in language.backends}


def language_of(backend: str) -> str:
    """Return the language of a backend; empty for one that nobody knows."""
    return backends().get(backend.upper(), "")


def backend_of(framework: str) -> str:
    """Return the backend of a framework as users write it: the first that is written in it, else its own letters."""
    plain, known = plain_name(framework).upper(), backends()
    own = plain if plain in known else ""
    return own or next((name for name, spoken in known.items() if spoken.upper() == framework.upper()), plain)
