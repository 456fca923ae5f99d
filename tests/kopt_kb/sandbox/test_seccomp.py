"""Claims about the filter: what it refuses, what it lets through, and that its numbers are the kernel's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.sandbox import seccomp
from kopt_kb.sandbox.process import environment

_TRY = """
import ctypes, errno, os, platform, socket, subprocess, sys, threading
from kopt_kb.sandbox.seccomp import AllowedCalls, filter_calls, _BY_RULE, _CALLS, _MEMORY_FILES, _METADATA, _SENDS
allowed = sys.argv[1:]
try:
    filter_calls(AllowedCalls(**dict.fromkeys(allowed, True)))
except OSError as error:
    print("unavailable:", error)
    raise SystemExit
library = ctypes.CDLL(None, use_errno=True)
place = 0 if platform.machine() == "x86_64" else 1
def number(name):
    ctypes.set_errno(0)
    library.syscall(_CALLS[name][place], -1, -1, 0, 0, 0, 0)
    return ctypes.get_errno()
there = {name for name in _CALLS if _CALLS[name][place] >= 0} - _BY_RULE - _MEMORY_FILES
free = (_SENDS if "reach" in allowed else set()) | (_METADATA if "metadata" in allowed else set())
assert {name for name in there if number(name) == errno.EPERM} == there - free
assert {number(name) == errno.ENOSYS for name in _MEMORY_FILES - {"memfd_secret"}} == {"memory_files" not in allowed}
assert number("clone3") == errno.ENOSYS
library.syscall(_CALLS["clone"][place], 0x10000000, 0, 0, 0, 0)
assert ctypes.get_errno() == errno.EPERM
socket.socketpair()[0].close()
socket.socket(socket.AF_UNIX).close()
thread = threading.Thread(target=print, args=("thread",))
thread.start(); thread.join()
print(subprocess.run([sys.executable, "-c", "print('child')"], capture_output=True, text=True).stdout.strip())
try:
    socket.socket(socket.AF_INET).close()
    print("network")
except PermissionError:
    print("no network")
"""


def _tried(*words: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _TRY, *words], env=environment(ours=True), capture_output=True, text=True, timeout=600,
        check=True,
    )  # fmt: skip
    said = done.stdout.splitlines()
    if said and said[0].startswith("unavailable"):
        pytest.skip(f"no filter of system calls here: {said[0]}")
    return said


def test_what_is_refused_and_what_works() -> None:
    """Each call of the list with EPERM, new namespaces too; threads, programs and unix sockets work."""
    assert _tried() == ["thread", "child", "no network"]


def test_some_calls_may_be_allowed() -> None:
    """For commands whose file asks for the network, and for builds; nothing else is let through with them."""
    assert _tried("network") == ["thread", "child", "network"]
    assert _tried("reach", "memory_files", "locks", "metadata") == ["thread", "child", "no network"]


@pytest.mark.parametrize(
    ("machine", "header"),
    [("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), ("aarch64", "/usr/include/asm-generic/unistd.h")],
)
def test_numbers_are_those_of_the_kernels_headers(machine: str, header: str) -> None:
    """A wrong number would refuse another call."""
    if not Path(header).exists():
        pytest.skip(f"no {header}")
    known = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", Path(header).read_text()))
    place = list(seccomp._AUDIT).index(machine)
    newer = {"fchmodat2", "setxattrat", "removexattrat", "file_setattr", "memfd_secret"} - known.keys()
    ours = {name: str(both[place]) for name, both in seccomp._CALLS.items() if both[place] >= 0}
    assert {name: ours[name] for name in ours.keys() - newer} == {name: known[name] for name in ours.keys() - newer}
    assert not {name for name in seccomp._CALLS if name not in ours} & known.keys()


def test_an_unknown_processor_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """No filter is better than one with the wrong numbers."""
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(OSError, match="no filter for riscv64"):
        seccomp.filter_calls()
