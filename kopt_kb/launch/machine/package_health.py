"""How a Python package stands: whether it is installed, and within the versions that kb supports."""

from __future__ import annotations

import re

from kopt_kb.base.installed import extra_of
from kopt_kb.launch.machine.health import HealthFinding, Host

__all__ = ["language_line", "package_line", "within"]


def package_line(host: Host, name: str) -> HealthFinding:
    """Return the line of a package that an extra of kb brings."""
    version, wanted = host.package(name), host.ranges.get(name, "")
    if version is None:
        return HealthFinding("packages", name, "absent", f"not installed; the extra [{extra_of(name)}] brings it")
    if within(version, wanted):
        return HealthFinding("packages", name, "ok", f"{version} ({wanted or 'any'})")
    return HealthFinding(
        "packages", name, "wrong", f"{version}, supported are {wanted}", f"pip install '{name}{wanted}'"
    )


def language_line(host: Host, name: str, package: str, extra: str, does: str) -> HealthFinding:
    """Return the line of a kernel language whose compiler is a Python package.

    Args:
        host: The machine.
        name: Of the language.
        package: Distribution that compiles it.
        extra: Extra of kb that brings it.
        does: What is done with its kernels without a GPU.
    """
    group, wanted = "languages", host.ranges.get(package, "")
    version = host.package(package)
    if version is None:
        told = f"no {package} ({wanted or 'any'}): install kopt-kb[{extra}]; then kernels are {does} without a GPU"
        return HealthFinding(group, name, "absent", told)
    if not within(version, wanted):
        fix = f"pip install '{package}{wanted}'"
        return HealthFinding(group, name, "wrong", f"{package} {version}, supported are {wanted}", fix)
    return HealthFinding(group, name, "ok", f"{package} {version} ({wanted or 'any'}): {does} without a GPU")


def within(version: str, wanted: str) -> bool:
    """Return whether a version is within `>=a,<b`: release numbers alone are compared."""
    have = _release(version)
    for part in filter(None, wanted.split(",")):
        sign, asked = re.fullmatch(r"\s*(>=|<=|==|!=|<|>)?\s*(.*)", part).groups()  # type: ignore[union-attr]
        limit = _release(asked)
        size = max(len(have), len(limit))
        a, b = (one + (0,) * (size - len(one)) for one in (have, limit))
        if not {">=": a >= b, "<=": a <= b, "<": a < b, ">": a > b, "!=": a != b}.get(sign, a == b):
            return False
    return True


def _release(version: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()
