"""Which product of the wiki a device is, by the name its driver prints or its PCI id."""

from __future__ import annotations

from kopt_kb.wiki.names import Identity, fold
from kopt_kb.wiki.registry import Registry

__all__ = ["product_of"]


def product_of(registry: Registry, device: str) -> str:
    """Return the platform id of the product that prints this name or id; empty when no page, or more than one, has it.

    A name of a whole family is no product: only a page's `aliases`, its own id, its part name and its PCI ids
    (`vendor:device`, in hexadecimal) count.
    """
    found = {one.platform for wiki in registry.wikis for one in wiki.names.identities.values() if _prints(one, device)}
    return found.pop() if len(found) == 1 else ""


def _prints(identity: Identity, device: str) -> bool:
    plain = fold(device)
    return bool(plain) and plain in {
        fold(name) for name in (*identity.aliases, identity.platform, identity.sku, *identity.pci)
    }
