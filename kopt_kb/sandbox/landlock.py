"""Landlock: which files a process may read and write, which sockets it reaches; it needs no privileges.

Rights by version as in linux/landlock.h: what a kernel knows is used, the rest is left to the other walls. It says
nothing of modes, times and attributes, and nothing of sockets that lie in folders (kernels before 7).
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

from kopt_kb.sandbox.kernel import invoke

__all__ = ["restrict"]

_RULESET, _RULE, _RESTRICT = 444, 445, 446
"""Numbers of the three calls of Landlock, the same on every architecture that has them."""
_NO_NEW_PRIVILEGES = 38
_EXECUTE, _WRITE, _READ, _LIST, _TRUNCATE, _DEVICE = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
_READS = _EXECUTE | _READ | _LIST
_OF_A_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE | _DEVICE
_RIGHTS = ((1, (1 << 13) - 1), (2, 1 << 13), (3, _TRUNCATE), (5, _DEVICE))
"""First version that knows them, and rights on files."""
_TCP, _SCOPES = 3, 3
"""Binding and connecting TCP sockets (version 4); abstract unix sockets and signals of others (version 6)."""
_WITH_NETWORK, _WITH_SCOPES = 4, 6


def restrict(
    readable: Iterable[str], writable: Iterable[str], *, listed: Iterable[str] = (), network: bool = False
) -> None:
    """Bind this process and all it will start to these places; it gives up new privileges for it.

    Args:
        readable: Files and folders that may be read and run.
        writable: Those that may be written too; devices among them may be controlled (ioctl).
        listed: Folders whose names may be listed, and those below them.
        network: Whether TCP sockets may be bound and connected.

    Raises:
        OSError: The kernel has no Landlock, or a place is not there.
    """
    invoke("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    version = invoke("syscall", _RULESET, None, ctypes.c_size_t(0), 1)
    rights = sum(bits for first, bits in _RIGHTS if version >= first)
    handled = struct.pack("=QQQ", rights, 0 if network else _TCP, _SCOPES)
    size = 24 if version >= _WITH_SCOPES else 16 if version >= _WITH_NETWORK else 8
    ruleset = invoke("syscall", _RULESET, ctypes.create_string_buffer(handled, 24), ctypes.c_size_t(size), 0)
    try:
        for places, allowed in ((readable, rights & _READS), (writable, rights), (listed, rights & _LIST)):
            for place in places:
                _allow(ruleset, place, allowed)
        invoke("syscall", _RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, place: str, rights: int) -> None:
    opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
    try:
        allowed = rights if os.path.isdir(place) else rights & _OF_A_FILE  # noqa: PTH112
        rule = ctypes.create_string_buffer(struct.pack("=Qi", allowed, opened), 12)
        invoke("syscall", _RULE, ruleset, 1, rule, 0)
    finally:
        os.close(opened)
