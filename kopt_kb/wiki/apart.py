"""What a product rests on where its wiki is not the packaged one: said beside everything that is computed from it."""

from __future__ import annotations

from kopt_kb.base.errors import KoptError
from kopt_kb.wiki.places import packaged_root
from kopt_kb.wiki.registry import Platform
from kopt_kb.wiki.wiki import Wiki

__all__ = ["apart"]


def apart(platform: Platform) -> str:
    """Return the wiki of a product, and in which pages it differs from the packaged one; empty for that one itself."""
    if platform.wiki.root.resolve() == packaged_root().resolve():
        return ""
    identity = platform.identity
    name = f"{platform.wiki.label}, which is not the packaged wiki"
    pages = (identity.path, f"targets/{identity.target}.md", f"measured/{identity.platform.lower()}.md")
    try:
        packaged = Wiki(packaged_root())
        if identity.platform not in {one.platform for one in packaged.names.identities.values()}:
            return f"{name}: it alone has the product {identity.platform}"
        other = [page for page in pages if platform.wiki.read(page) != packaged.read(page)]
    except (KoptError, OSError):
        return name
    return f"{name}: {', '.join(other)} differ from its pages" if other else f"{name}, and has the same pages of it"
