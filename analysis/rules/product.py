"""The product a profile was recorded on: named by the report, checked against what the caller says."""

from __future__ import annotations

import re
from functools import lru_cache

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.base.errors import BadInput
from kopt_kb.wiki.registry import Platform, Registry

__all__ = ["product_of"]

_STEPPING = re.compile(r"_[A-Z]\d$")  # rocprof-compute prints `MI300X_A1`


def product_of(profile: KernelProfile, registry: Registry, asked: Platform | None = None) -> Platform | None:
    """Return the product whose roofs hold for a profile, None when neither report nor caller names one.

    Args:
        profile: A kernel of a report; its device name and target decide.
        registry: Where products are looked up.
        asked: The product that the caller says it is.

    Raises:
        BadInput: The report names another product or target than the caller.
    """
    named = _named(profile.device, registry)
    if asked is None:
        return named
    if named is not None and named.id != asked.id:
        raise _contradiction(profile, asked, f"{profile.device}, which is {named.id}")
    target = asked.identity.target
    if profile.target and target and profile.target != target:
        raise _contradiction(profile, asked, f"{profile.device or 'a device'} of target {profile.target}, not {target}")
    return asked


@lru_cache(maxsize=256)
def _named(device: str, registry: Registry) -> Platform | None:
    for name in dict.fromkeys((device, _STEPPING.sub("", device))):
        try:
            return registry.platform(name)
        except BadInput:
            continue
    return None


def _contradiction(profile: KernelProfile, asked: Platform, what: str) -> BadInput:
    return BadInput(
        f"--platform {asked.id} contradicts the report: it was recorded on {what}",
        where=profile.source.file,
        fix="leave --platform out, or name the product of the run",
        code="KB208",
    )
