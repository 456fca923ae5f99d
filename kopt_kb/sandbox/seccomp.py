"""A filter of system calls for untrusted processes: what reaches past a process, or widens the kernel it sees.

Refused with EPERM: sockets other than unix ones; reading, tracing or steering other processes; new namespaces, mounts
and modules; io_uring (which does file work that no filter sees), bpf, performance events, keys. `clone3` answers
ENOSYS, so that libraries fall back to `clone`, whose flags a filter can read. It holds for all that a process starts,
and nothing lifts it (seccomp(2), prctl(2), linux/filter.h, linux/seccomp.h).
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

__all__ = ["FILTERED", "filter_calls"]

FILTERED = "filtered system calls"
"""How an isolation names this."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""BPF_LD|BPF_W|BPF_ABS, BPF_JMP with BPF_JEQ, BPF_JGE and BPF_JSET, BPF_RET; all with a constant."""
_ALLOW, _REFUSE, _ABSENT = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38
"""SECCOMP_RET_ALLOW, and SECCOMP_RET_ERRNO with EPERM and ENOSYS."""
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in struct seccomp_data; arguments are of 8 bytes, the low half first."""
_NO_NEW_PRIVILEGES, _SET_FILTER, _MODE_FILTER = 38, 22, 2
_UNIX = 1
_NEW_SPACES = 0x7E020000
"""All CLONE_NEW… flags that clone takes."""

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
    "quotactl": (179, 60), "syslog": (103, 116),
}  # fmt: skip
"""System call → its numbers on x86_64 and aarch64 (asm/unistd_64.h, asm-generic/unistd.h)."""
_BY_RULE = {"socket", "clone", "clone3"}
_X32 = 0x40000000


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def filter_calls(*, sockets: bool = False) -> None:
    """Install the filter on this process, which gives up new privileges for it.

    Args:
        sockets: Whether sockets of every family may be opened.

    Raises:
        OSError: The kernel has no such filter, or the processor is one whose numbers are not known here.
    """
    machine = platform.machine()
    if machine not in _AUDIT:
        raise OSError(38, f"no filter for {machine}")
    code = _instructions(machine, sockets=sockets)
    held = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(held, ctypes.c_void_p).value)
    library = ctypes.CDLL(None, use_errno=True)
    for words in ((_NO_NEW_PRIVILEGES, 1, 0), (_SET_FILTER, _MODE_FILTER, ctypes.byref(program))):
        if library.prctl(*words, 0, 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def _instructions(machine: str, *, sockets: bool) -> bytes:
    """Return the program: another architecture and x32 are absent, then rules by call, then the rest is allowed."""
    place = 0 if machine == "x86_64" else 1
    number = {name: both[place] for name, both in _CALLS.items()}
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _AUDIT[machine]),
        (_RETURN, 0, 0, _ABSENT),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        code += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _ABSENT)]
    code += [
        (_EQUAL, 0, 1, number["clone3"]), (_RETURN, 0, 0, _ABSENT),
        (_EQUAL, 0, 4, number["socket"]), (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 0, 1, _UNIX), (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ALLOW if sockets else _REFUSE),
        (_EQUAL, 0, 4, number["clone"]), (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, _NEW_SPACES), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW),
    ]  # fmt: skip
    for name, one in number.items():
        if name not in _BY_RULE:
            code += [(_EQUAL, 0, 1, one), (_RETURN, 0, 0, _REFUSE)]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *one) for one in code)
