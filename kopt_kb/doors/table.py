"""The one table of packs: whatever is installed under the entry point group `kopt_kb.packs`, read when first asked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kopt_kb.doors.checked import wrong_pack
from kopt_kb.doors.entries import EntryPoint, entry_points
from kopt_kb.doors.language import plain_name
from kopt_kb.doors.pack import Pack

__all__ = ["GROUP", "PackFault", "Packs", "behind", "is_own", "needed_pack", "packs"]

GROUP = "kopt_kb.packs"


@dataclass(frozen=True, slots=True)
class PackFault:
    """A pack that is declared and can't be used.

    Attributes:
        name: Of its entry point.
        why: In one line.
        absent: Whether its modules are not there, which is no fault of a distribution that leaves packs out.
    """

    name: str
    why: str
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Packs:
    """All packs of this environment.

    Attributes:
        usable: Name → pack, in the order of names, this distribution's own first.
        faults: Those that can't be used.
    """

    usable: dict[str, Pack]
    faults: tuple[PackFault, ...]


@cache
def packs() -> Packs:
    """Return the packs that are installed; a broken one is a fault and never an exception."""
    usable: dict[str, Pack] = {}
    faults: list[PackFault] = []
    for entry in sorted(_entries(), key=lambda one: (not is_own(one), one.name, one.value)):
        read = _read(entry)
        if isinstance(read, PackFault):
            faults.append(read)
        elif usable.setdefault(read.name, read) is not read and usable[read.name] != read:
            faults.append(PackFault(entry.name, f"a pack named {read.name} is installed already"))
    return Packs(usable, tuple(faults))


def behind(door: str) -> Iterator[tuple[Pack, Any]]:
    """Yield what packs bring through a door, named as the field of `Pack`, each with its pack."""
    for pack in packs().usable.values():
        for brought in getattr(pack, door):
            yield pack, brought


def needed_pack(name: str) -> str:
    """Return that a pack is needed which is declared and can't be used; nothing where no pack has the name.

    Args:
        name: Of the pack, or of what it brings where that has the same name; case and spaces do not matter.
    """
    plain = plain_name(name)
    for fault in packs().faults:
        if plain and plain == plain_name(fault.name):
            why = "which is not installed" if fault.absent else f"which can't be used: {fault.why}"
            return f"needs the pack {fault.name}, {why}"
    return ""


def _entries() -> tuple[EntryPoint, ...]:
    """Return the entry points of all distributions; those of a checkout that is not installed are in its own file."""
    installed = tuple(entry_points(group=GROUP))
    if any(map(is_own, installed)):
        return installed
    import tomllib  # nobody needs it who installed the package

    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    if not project.is_file():
        return installed
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["entry-points"][GROUP]
    return (*installed, *(EntryPoint(name, value, GROUP) for name, value in declared.items()))


def is_own(entry: EntryPoint) -> bool:
    """Return whether an entry point is one of this distribution."""
    return entry.value.startswith("kopt_kb.packs.")


def _read(entry: EntryPoint) -> Pack | PackFault:
    try:
        with redirect_stdout(sys.stderr):  # what a stranger's module prints must not stand in a command's output
            pack = entry.load()
    except ModuleNotFoundError as error:
        own = entry.module.partition(".")[0] if error.name is None else error.name
        absent = entry.module == own or entry.module.startswith(f"{own}.")
        return PackFault(entry.name, "its modules are not installed" if absent else str(error), absent=absent)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's module: whatever it raises, the core goes on
        return PackFault(entry.name, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
    if not isinstance(pack, Pack):
        return PackFault(entry.name, f"{entry.value} is no Pack")
    if pack.name != entry.name:
        return PackFault(entry.name, f"its pack is named {pack.name}: the entry point has to have the same name")
    if not is_own(entry) and (why := wrong_pack(pack)):  # ours are held by tests
        return PackFault(entry.name, why)
    return pack
