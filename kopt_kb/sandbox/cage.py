"""What keeps an untrusted child inside: namespaces, a file tree of its own, and an end of all that it starts.

Plain system calls, no import beside the standard library. Whoever forks such a child calls `enter` in a process that
is to have one child, then `settle` in that child. What the machine does not offer is reported, never taken for held:
an `Isolation` goes into the record of what the child did, and each wall in it was tried from inside (`canary.py`).

- user, mount and pid namespaces: it sees no other process, and the kernel ends all of its own with its first one,
  whatever sessions, groups or daemons they made of themselves;
- a net namespace without a network, an ipc namespace;
- a file tree of its own (`tree.py`) and Landlock, both: it reads what is listed and writes below its own folders only;
- no capabilities, and a filter of system calls (`seccomp.py`);
- where no pid namespace can be had, this process adopts orphans (subreaper) and `end_all` kills what is left.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kopt_kb.sandbox.canary import Canary
from kopt_kb.sandbox.isolation import LANDLOCK, PROC, TREE, WALLS, Isolation
from kopt_kb.sandbox.kernel import invoke
from kopt_kb.sandbox.landlock import restrict
from kopt_kb.sandbox.mounts import PROC as PROC_FOLDER
from kopt_kb.sandbox.mounts import keep_private, machine_files_kept, own_proc
from kopt_kb.sandbox.seccomp import FEWEST, FILTERED, AllowedCalls, filter_calls
from kopt_kb.sandbox.shown import DEVICES, SYSTEM
from kopt_kb.sandbox.tree import ShownPlaces, own_tree, plan
from kopt_kb.sandbox.used import below

__all__ = ["Room", "adopt_orphans", "countable", "end_all", "enter", "settle", "unreadable"]

_USER, _PID, _NET, _IPC = 0x10000000, 0x20000000, 0x40000000, 0x08000000
"""CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC of sched.h."""
_MOUNT = 0x00020000
"""CLONE_NEWNS."""
_NETWORK = "net namespace"
_SPACES = {"pid namespace": _PID, _NETWORK: _NET, "ipc namespace": _IPC}
_READ_CAPABILITY, _DROP_CAPABILITY, _MOST_CAPABILITIES = 23, 24, 64
"""PR_CAPBSET_READ, PR_CAPBSET_DROP, and more than any kernel has."""
_CAPABILITIES_3 = 0x20080522
"""_LINUX_CAPABILITY_VERSION_3."""
_DEATH_SIGNAL, _DUMPABLE, _SUBREAPER = 1, 4, 36
"""PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER of prctl.h."""
_END_S = 5.0


@dataclass(frozen=True, slots=True)
class Room:
    """What an untrusted child may use.

    Attributes:
        folders: Where it may write; a device among them may be written too. /proc among them is what processes have
            there, and left out where the machine's own files could be written; /dev/shm is an empty one of its own.
        shown: What it may read besides: packages, and what it is about.
        calls: System calls that it may make beside those of every child. It reaches sockets only where the machine's
            are not in its tree, and changes metadata where those of others can't be.
        memory_bytes: Address space of each process, beyond what this one has; 0: no limit.
        file_bytes: Size of a file; 0: no limit.
        shared_bytes: Most bytes in a /dev/shm of its own; 0: half of the machine's memory.
        own_session: Whether it leads a session of its own.
    """

    folders: Sequence[Path]
    shown: Sequence[str] = ()
    calls: AllowedCalls = FEWEST
    memory_bytes: int = 0
    file_bytes: int = 0
    shared_bytes: int = 0
    own_session: bool = True


def adopt_orphans() -> None:
    """Make this process the parent of whatever its descendants leave behind."""
    with contextlib.suppress(OSError):
        invoke("prctl", _SUBREAPER, 1, 0, 0, 0)


def unreadable() -> None:
    """Close this process's memory and descriptors to others of the same user."""
    with contextlib.suppress(OSError):
        invoke("prctl", _DUMPABLE, 0, 0, 0, 0)


def countable() -> None:
    """Open this process's descriptors to its keeper again, which counts what they hold."""
    with contextlib.suppress(OSError):
        invoke("prctl", _DUMPABLE, 1, 0, 0, 0)


def enter(*, network: bool = False) -> Isolation:
    """Take this process out of what others share, as far as the machine allows; its next child is in it.

    That child is the first of its pid namespace. This process may have one thread only.

    Args:
        network: Whether it keeps the machine's network.
    """
    user, group, missing = os.getuid(), os.getgid(), {}
    with contextlib.suppress(OSError):
        invoke("prctl", _DUMPABLE, 1, 0, 0, 0)  # the files of a process that is closed to its user belong to root
    try:
        invoke("unshare", _USER)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
        held = ["user namespace"]
    except OSError as error:
        held, missing = [], {"user namespace": error.strerror or str(error)}
    for name, flag in _SPACES.items():
        if network and name == _NETWORK:
            missing[name] = "the network was asked for"
            continue
        try:
            invoke("unshare", flag)
            held.append(name)
        except OSError as error:
            missing[name] = error.strerror or str(error)
    unreadable()
    if "pid namespace" not in held:
        adopt_orphans()
    return Isolation(tuple(held), missing)


def settle(room: Room, canary: Canary | None = None) -> Isolation:
    """Bind this process and all it will start to what it may use; it dies with its parent.

    Args:
        room: What it may use.
        canary: What tries the walls, planted outside; None: none is held, since none was tried.
    """
    if room.own_session:
        os.setsid()
    _limit(room)
    with contextlib.suppress(OSError):
        invoke("prctl", _DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
    held: list[str] = []
    missing: dict[str, str] = {}
    # Of its own, not of whoever watches it: that one has to see all of /proc.
    has_mounts = _guarded("mount namespace", held, missing, _unshare_mounts)
    if has_mounts:
        _guarded(PROC, held, missing, own_proc)
    else:
        missing[PROC] = missing["mount namespace"]
    folders = [one for one in room.folders if one != PROC_FOLDER or machine_files_kept()]
    shown, writable, devices = _places(room, folders, canary)
    if has_mounts and canary is not None:
        stage = canary.stage
        _guarded(TREE, held, missing, lambda: own_tree(stage, shown, writable, shared_bytes=room.shared_bytes))
    else:
        missing[TREE] = missing.get("mount namespace", "no place to make it")
    both = (*(str(one) for one in writable), *devices)
    listed = ("/",) if TREE in held else ()  # the tree has no names but those that are shown
    _guarded(LANDLOCK, held, missing, lambda: restrict(shown.places, both, listed=listed, network=room.calls.network))
    _guarded("no capabilities", held, missing, _drop_capabilities)
    calls = replace(
        room.calls,
        reach=room.calls.network or (room.calls.reach and TREE in held),
        metadata=room.calls.metadata or TREE in held,
    )
    _guarded(FILTERED, held, missing, lambda: filter_calls(calls))
    tried = canary.tried() if canary is not None else Isolation((), dict.fromkeys(WALLS, "could not be tried"))
    return Isolation(tuple(held), missing) + tried


def _limit(room: Room) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    for kind, most in (
        (resource.RLIMIT_AS, room.memory_bytes and used + room.memory_bytes),
        (resource.RLIMIT_FSIZE, room.file_bytes),
    ):
        if most:
            resource.setrlimit(kind, (most, most))


def _places(room: Room, folders: Sequence[Path], canary: Canary | None) -> tuple[ShownPlaces, list[Path], list[str]]:
    """Return what is shown, folders that may be written, and devices that may be."""
    own = [] if canary is None else [str(canary.shown)]
    files = [str(one) for one in folders if not one.is_dir()]
    writable = plan(str(one) for one in folders if one.is_dir())
    devices = [one for one in (*DEVICES, *files) if os.path.exists(one)]  # noqa: PTH110
    shown = plan((*SYSTEM, *room.shown, *devices, *own))
    return ShownPlaces({**shown.links, **writable.links}, shown.places), [Path(one) for one in writable.places], devices


def _guarded(name: str, held: list[str], missing: dict[str, str], do: Callable[[], None]) -> bool:
    """Do one thing and write down whether it holds, or why not."""
    try:
        do()
    except OSError as error:
        missing[name] = error.strerror or str(error)
        return False
    held.append(name)
    return True


def _unshare_mounts() -> None:
    invoke("unshare", _MOUNT)
    keep_private()


def _drop_capabilities() -> None:
    """Give up all capabilities, for programs that it starts too: root without them is one user among others."""
    for one in range(_MOST_CAPABILITIES):
        try:
            invoke("prctl", _READ_CAPABILITY, one, 0, 0, 0)
        except OSError:
            break
        with contextlib.suppress(OSError):  # whoever may not drop it does not have it
            invoke("prctl", _DROP_CAPABILITY, one, 0, 0, 0)
    head = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITIES_3, 0), 8)
    invoke("capset", head, ctypes.create_string_buffer(24))


def end_all() -> bool:
    """Kill every process that descends from this one, those that it adopts meanwhile too; return whether none is left.

    All are stopped before one is killed, so that none starts another in between.
    """
    end = time.monotonic() + _END_S
    while left := below(os.getpid()):
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        _collect()
        if time.monotonic() > end:
            return False
    _collect()
    return True


def _collect() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
