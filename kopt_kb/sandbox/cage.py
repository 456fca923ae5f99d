"""What keeps an untrusted child inside: namespaces, folders it may write, and an end of all that it starts.

Plain system calls, no import beside the standard library. Whoever forks such a child calls `enter` in a process that
is to have one child, then `settle` in that child. What the machine does not offer is reported, never taken for held:
an `Isolation` goes into the record of what the child did.

- user, mount and pid namespaces: it sees no other process, and the kernel ends all of its own with its first one,
  whatever sessions, groups or daemons they made of themselves;
- a net namespace without a network, an ipc namespace;
- Landlock, or else read-only mounts: it writes below its own folders only;
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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kopt_kb.sandbox.isolation import Isolation
from kopt_kb.sandbox.mounts import PROC, keep_private, machine_files_kept, own_proc, read_only
from kopt_kb.sandbox.seccomp import FILTERED, filter_calls

__all__ = ["adopt_orphans", "below", "end_all", "enter", "resident_bytes", "settle", "unreadable"]

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
_DEATH_SIGNAL, _DUMPABLE, _SUBREAPER, _NO_NEW_PRIVILEGES = 1, 4, 36, 38
"""PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS of prctl.h."""
_RULESET, _RULE, _RESTRICT = 444, 445, 446
"""Numbers of the three calls of Landlock, the same on every architecture that has them."""
_WRITES = ((1 << 1) | (((1 << 13) - 1) & ~((1 << 4) - 1)), 1 << 13, 1 << 14)
"""Rights of landlock.h that change files: of ABI 1 all from removing on and writing, then renaming, then truncating."""
_FILES, _PROC = "write-protected files", "own /proc"
_OF_A_FILE = (1 << 1) | (1 << 14)
_END_S = 5.0


def _call(name: str, *words: object) -> int:
    """Return what a function of the C library returned; raises `OSError`."""
    library = ctypes.CDLL(None, use_errno=True)
    done = int(getattr(library, name)(*words))
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return done


def adopt_orphans() -> None:
    """Make this process the parent of whatever its descendants leave behind."""
    with contextlib.suppress(OSError):
        _call("prctl", _SUBREAPER, 1, 0, 0, 0)


def unreadable() -> None:
    """Close this process's memory and descriptors to others of the same user."""
    with contextlib.suppress(OSError):
        _call("prctl", _DUMPABLE, 0, 0, 0, 0)


def enter(*, network: bool = False) -> Isolation:
    """Take this process out of what others share, as far as the machine allows; its next child is in it.

    That child is the first of its pid namespace. This process may have one thread only.

    Args:
        network: Whether it keeps the machine's network.
    """
    user, group, missing = os.getuid(), os.getgid(), {}
    with contextlib.suppress(OSError):
        _call("prctl", _DUMPABLE, 1, 0, 0, 0)  # the files of a process that is closed to its user belong to root
    try:
        _call("unshare", _USER)
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
            _call("unshare", flag)
            held.append(name)
        except OSError as error:
            missing[name] = error.strerror or str(error)
    unreadable()
    if "pid namespace" not in held:
        adopt_orphans()
    return Isolation(tuple(held), missing)


def settle(
    folders: Sequence[Path], *, memory_bytes: int = 0, file_bytes: int = 0, own_session: bool = True,
    sockets: bool = False,
) -> Isolation:  # fmt: skip
    """Bind this process and all it will start to what it may use; it dies with its parent.

    Args:
        folders: Where it may write, besides /dev/null; a device or other file among them may be written too. /proc
            among them is what processes have there, and left out where the machine's own files could be written.
        memory_bytes: Address space of each process, beyond what this one has; 0: no limit.
        file_bytes: Size of a file; 0: no limit.
        own_session: Whether it leads a session of its own.
        sockets: Whether it may open sockets other than unix ones.
    """
    if own_session:
        os.setsid()
    held: list[str] = []
    missing: dict[str, str] = {}
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        _call("prctl", _DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    for kind, most in (
        (resource.RLIMIT_AS, memory_bytes and used + memory_bytes),
        (resource.RLIMIT_FSIZE, file_bytes),
    ):
        if most:
            resource.setrlimit(kind, (most, most))
    # Of its own, not of whoever watches it: that one has to see all of /proc.
    _guarded("mount namespace", held, missing, _unshare_mounts)
    _guarded(_PROC, held, missing, own_proc)
    folders = [one for one in folders if one != PROC or machine_files_kept()]
    if not _guarded(_FILES, held, missing, lambda: _landlock(folders)):
        reason = missing.pop(_FILES)
        if not _guarded(_FILES, held, missing, lambda: read_only(folders)):
            missing[_FILES] = f"Landlock: {reason}; mounts: {missing[_FILES]}"
    _guarded("no capabilities", held, missing, _drop_capabilities)
    _guarded(FILTERED, held, missing, lambda: filter_calls(sockets=sockets))
    return Isolation(tuple(held), missing)


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
    _call("unshare", _MOUNT)
    keep_private()


def _landlock(folders: Sequence[Path]) -> None:
    _call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _write_only(folders)


def _drop_capabilities() -> None:
    """Give up all capabilities, for programs that it starts too: root without them is one user among others."""
    for one in range(_MOST_CAPABILITIES):
        try:
            _call("prctl", _READ_CAPABILITY, one, 0, 0, 0)
        except OSError:
            break
        with contextlib.suppress(OSError):  # whoever may not drop it does not have it
            _call("prctl", _DROP_CAPABILITY, one, 0, 0, 0)
    head = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITIES_3, 0), 8)
    _call("capset", head, ctypes.create_string_buffer(24))


def _write_only(folders: Sequence[Path]) -> None:
    version = _call("syscall", _RULESET, None, ctypes.c_size_t(0), 1)
    rights = sum(_WRITES[: max(1, min(version, 3))])
    handled = ctypes.c_uint64(rights)
    ruleset = _call("syscall", _RULESET, ctypes.byref(handled), ctypes.c_size_t(8), 0)
    try:
        for place in (*folders, Path(os.devnull)):
            allowed = rights if place.is_dir() else rights & _OF_A_FILE
            opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
            try:
                rule = ctypes.create_string_buffer(struct.pack("=Qi", allowed, opened), 12)
                _call("syscall", _RULE, ruleset, 1, rule, 0)
            finally:
                os.close(opened)
        _call("syscall", _RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def below(root: int) -> list[int]:
    """Return the processes that descend from one, as far as /proc shows them."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found, next_ones = [], [root]
    while next_ones:
        next_ones = [child for one in next_ones for child in children.pop(one, ())]
        found += next_ones
    return found


def _parents() -> Iterator[tuple[int, int]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):  # it ended meanwhile
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z":
                    yield int(folder.name), int(parent)


def resident_bytes(pids: Sequence[int]) -> int:
    """Return the memory that processes hold together; shared pages count for each."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return total * os.sysconf("SC_PAGE_SIZE")


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
