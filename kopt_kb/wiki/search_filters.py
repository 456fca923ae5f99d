"""Filters of search and routing: operation, backend, exact target, kind; unknown values are errors with suggestions."""

from __future__ import annotations

from dataclasses import dataclass, fields

from kopt_kb.base.errors import BadInput
from kopt_kb.wiki.knowledge import KINDS, OPS, VENDORS
from kopt_kb.wiki.page import read_front_matter
from kopt_kb.wiki.wiki import Wiki

__all__ = ["SEARCH_KINDS", "Filters", "check_filters", "vendor_of"]

SEARCH_KINDS: tuple[str, ...] = (*KINDS, "hardware", "target")
_ALIASES = {"rmsnorm": "rms_norm", "layernorm": "layer_norm", "matmul": "gemm"}


@dataclass(frozen=True, slots=True)
class Filters:
    """What a page must be about before it is ranked; empty fields filter nothing.

    Attributes:
        arch: Exact target; a page for another target of the family does not fit.
        platform: The product that was named instead of its target.
    """

    op: str = ""
    backend: str = ""
    arch: str = ""
    kind: str = ""
    platform: str = ""

    @property
    def given(self) -> dict[str, str]:
        """The filters that are set."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name))}


def _known(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return a filter value of the vocabulary in its own spelling; raises `BadInput` with near ones."""
    folded = value.strip().lower().replace("-", "_")
    folded = _ALIASES.get(folded, folded) if name == "op" else folded
    if folded in allowed:
        return folded
    import difflib

    near = difflib.get_close_matches(folded, allowed, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"{name}: {', '.join(allowed)}"
    raise BadInput(f"unknown {name} {value!r}", fix=hint, code="KB056")


def check_filters(wiki: Wiki, given: Filters) -> Filters:
    """Return the filters in the vocabulary's spelling; a product's name stands for its target.

    Raises:
        BadInput: A value is not in the vocabulary; near ones are suggested.
    """
    arch, platform = given.arch, given.platform
    if arch:
        try:
            arch = _known("arch", arch, wiki.targets)
        except BadInput as error:
            owners = [one for one in wiki.names.identities.values() if one.platform.lower() == arch.lower()]
            if not owners:
                raise error from None
            arch, platform = owners[0].target, owners[0].platform
    return Filters(
        _known("op", given.op, OPS) if given.op else "",
        _known("backend", given.backend, wiki.backends) if given.backend else "",
        arch,
        _known("kind", given.kind, SEARCH_KINDS) if given.kind else "",
        platform,
    )


def vendor_of(wiki: Wiki, target: str) -> str:
    """Return the vendor word of a target: AMD's are called gfx…, and its page says it."""
    found = read_front_matter((wiki.read(f"targets/{target}.md") or b"").decode("utf-8", "replace"))
    vendor = str(found[0].get("vendor", "")).lower() if found else ""
    return vendor if vendor in VENDORS else ""
