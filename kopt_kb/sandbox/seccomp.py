"""A filter of system calls for untrusted processes: what reaches past a process, or widens the kernel it sees.

Refused with EPERM: sockets other than unix ones; reading, tracing or steering other processes; new namespaces, mounts
and modules; io_uring (which does file work that no filter sees), bpf, performance events, keys, shared memory of
System V, inode flags. `clone3` answers ENOSYS, so that libraries fall back to `clone`, whose flags a filter can read.
What builds and drivers need and a kernel does not is refused unless it is allowed (`AllowedCalls`). It holds for
all that a process starts, and nothing lifts it (seccomp(2), prctl(2), linux/filter.h, linux/seccomp.h).
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from dataclasses import dataclass

__all__ = ["FEWEST", "FILTERED", "AllowedCalls", "filter_calls"]

FILTERED = "filtered system calls"
"""How an isolation names this."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""BPF_LD|BPF_W|BPF_ABS, BPF_JMP with BPF_JEQ, BPF_JGE and BPF_JSET, BPF_RET; all with a constant."""
_ALLOW, _REFUSE, _ABSENT, _PRETEND = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38, 0x00050000
"""SECCOMP_RET_ALLOW, and SECCOMP_RET_ERRNO with EPERM, ENOSYS, and no error though nothing is done."""
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _FIFTH_ARGUMENT = 0, 4, 16, 24, 48
"""Offsets in struct seccomp_data; arguments are of 8 bytes, the low half first."""
_NO_NEW_PRIVILEGES, _SET_FILTER, _MODE_FILTER = 38, 22, 2
_UNIX = 1
_NEW_SPACES = 0x7E020000
"""All CLONE_NEW… flags that clone takes."""

_NONE = -1
"""In place of a number: the architecture has no such call."""

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CALLS: dict[str, tuple[int, int]] = {
    "socket": (41, 198), "clone": (56, 220), "clone3": (435, 435), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    "process_madvise": (440, 440), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "move_mount": (429, 429), "open_tree": (428, 428), "fsopen": (430, 430),
    "mount_setattr": (442, 442), "unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51),
    "open_by_handle_at": (304, 265), "kexec_load": (246, 104), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "acct": (163, 89),
    "quotactl": (179, 60), "syslog": (103, 116), "shmget": (29, 194), "ioctl": (16, 29), "fcntl": (72, 25),
    "flock": (73, 32), "connect": (42, 203), "sendto": (44, 206), "sendmsg": (46, 211), "sendmmsg": (307, 269),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "fchmod": (91, 52), "fchmodat": (268, 53),
    "fchmodat2": (452, 452), "fchown": (93, 55), "fchownat": (260, 54), "utimensat": (280, 88), "setxattr": (188, 5),
    "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16), "setxattrat": (463, 463), "removexattrat": (466, 466), "file_setattr": (469, 469),
    "chmod": (90, _NONE), "chown": (92, _NONE), "lchown": (94, _NONE), "utime": (132, _NONE), "utimes": (235, _NONE),
    "futimesat": (261, _NONE), "prctl": (157, 167),
}  # fmt: skip
"""System call → its numbers on x86_64 and aarch64 (asm/unistd_64.h, asm-generic/unistd.h)."""
_METADATA = frozenset({
    "chmod", "chown", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "file_setattr", "fremovexattr",
    "fsetxattr", "futimesat", "lchown", "lremovexattr", "lsetxattr", "removexattr", "removexattrat", "setxattr",
    "setxattrat", "utime", "utimensat", "utimes",
})  # fmt: skip
_SENDS, _MEMORY_FILES = frozenset({"connect", "sendmsg", "sendmmsg"}), frozenset({"memfd_create", "memfd_secret"})
_BY_RULE = frozenset({"socket", "clone", "clone3", "ioctl", "fcntl", "flock", "prctl", "sendto"})
_LOCK_COMMANDS = (6, 7, 37, 38)
"""F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW of fcntl.h."""
_LEASE, _WATCH, _DUMPABLE = 1024, 1026, 4
"""F_SETLEASE, F_NOTIFY of fcntl.h; PR_SET_DUMPABLE of prctl.h: who hides its descriptors can't be counted."""
_SET_FLAGS = (0x40086602, 0x40046602, 0x401C5820, 0x40087602)
"""FS_IOC_SETFLAGS in both widths, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION of linux/fs.h."""
_X32 = 0x40000000


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


@dataclass(frozen=True, slots=True)
class AllowedCalls:
    """What a child may do besides.

    Attributes:
        network: Open sockets of every family.
        reach: Connect sockets and send descriptors over them; sockets that come in pairs need no connection.
        memory_files: Make files that lie in memory alone.
        locks: Lock files; otherwise taking a lock succeeds and locks nothing.
        metadata: Change modes, owners, times and attributes of files.
    """

    network: bool = False
    reach: bool = False
    memory_files: bool = False
    locks: bool = False
    metadata: bool = False


FEWEST = AllowedCalls()


def filter_calls(calls: AllowedCalls = FEWEST) -> None:
    """Install the filter on this process, which gives up new privileges for it.

    Raises:
        OSError: The kernel has no such filter, or the processor is one whose numbers are not known here.
    """
    machine = platform.machine()
    if machine not in _AUDIT:
        raise OSError(38, f"no filter for {machine}")
    code = _instructions(machine, calls)
    held = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(held, ctypes.c_void_p).value)
    library = ctypes.CDLL(None, use_errno=True)
    for words in ((_NO_NEW_PRIVILEGES, 1, 0), (_SET_FILTER, _MODE_FILTER, ctypes.byref(program))):
        if library.prctl(*words, 0, 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


Instruction = tuple[int, int, int, int]


def _instructions(machine: str, calls: AllowedCalls) -> bytes:
    """Return the program: another architecture and x32 are absent, then rules by call, then the rest is allowed."""
    place = 0 if machine == "x86_64" else 1
    number = {name: both[place] for name, both in _CALLS.items() if both[place] != _NONE}
    code: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _AUDIT[machine]),
        (_RETURN, 0, 0, _ABSENT),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        code += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _ABSENT)]
    for name, body in _rules(calls).items():
        code += [(_EQUAL, 0, len(body), number[name]), *body]
    allowed = set(_BY_RULE)
    allowed |= (_SENDS if calls.reach else set()) | (_MEMORY_FILES if calls.memory_files else set())
    allowed |= _METADATA if calls.metadata else set()
    for name, one in number.items():
        if name not in allowed:
            code += [(_EQUAL, 0, 1, one), (_RETURN, 0, 0, _ABSENT if name in _MEMORY_FILES else _REFUSE)]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *one) for one in code)


def _rules(calls: AllowedCalls) -> dict[str, list[Instruction]]:
    """Return call → what is done about it by its arguments."""
    done, refused = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)
    lock = done if calls.locks else (_RETURN, 0, 0, _PRETEND)
    known = {**dict.fromkeys(_LOCK_COMMANDS, lock), _LEASE: refused, _WATCH: refused}
    rules: dict[str, list[Instruction]] = {
        "clone3": [(_RETURN, 0, 0, _ABSENT)],
        "socket": [
            (_LOAD, 0, 0, _FIRST_ARGUMENT), (_EQUAL, 0, 1, _UNIX), done, done if calls.network else refused,
        ],
        "clone": [(_LOAD, 0, 0, _FIRST_ARGUMENT), (_ANY_BIT, 0, 1, _NEW_SPACES), refused, done],
        "ioctl": _by_command(dict.fromkeys(_SET_FLAGS, refused)),
        "fcntl": _by_command(known),
        "flock": [lock],
        "prctl": [(_LOAD, 0, 0, _FIRST_ARGUMENT), (_EQUAL, 0, 1, _DUMPABLE), refused, done],
    }  # fmt: skip
    if not calls.reach:  # an address in either half of the argument
        rules["sendto"] = [
            (_LOAD, 0, 0, _FIFTH_ARGUMENT), (_EQUAL, 0, 2, 0), (_LOAD, 0, 0, _FIFTH_ARGUMENT + 4), (_EQUAL, 1, 0, 0),
            refused, done,
        ]  # fmt: skip
    return rules


def _by_command(answers: dict[int, Instruction]) -> list[Instruction]:
    code: list[Instruction] = [(_LOAD, 0, 0, _SECOND_ARGUMENT)]
    for command, answer in answers.items():
        code += [(_EQUAL, 0, 1, command), answer]
    return [*code, (_RETURN, 0, 0, _ALLOW)]
