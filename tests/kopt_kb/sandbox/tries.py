"""What a stranger tries from inside a cage, one line of JSON: python tries.py USER MISSING FOLDER OUTSIDER [builds].

Started by test_walls. USER is a number that this process becomes first, MISSING names parts of the cage that fail here
(mounts, landlock, seccomp), FOLDER has what the test laid there, OUTSIDER is a process of the test's.
"""

import codecs
import ctypes
import fcntl
import json
import os
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from kopt_kb.sandbox import cage
from kopt_kb.sandbox.canary import Canary
from kopt_kb.sandbox.isolation import LOCKS, METADATA, READS, SOCKETS, WRITES
from kopt_kb.sandbox.seccomp import AllowedCalls

FS_IOC_SETFLAGS, FS_IOC_GETFLAGS = 0x40086602, 0x80086601


def take_away(parts: str) -> None:
    """Let parts of the cage fail as they do on machines without them."""

    def absent(*_: object, **__: object) -> None:
        raise OSError(38, "taken away")

    names = {"mounts": "_unshare_mounts", "landlock": "restrict", "seccomp": "filter_calls"}
    for part in filter(None, parts.split("+")):
        setattr(cage, names[part], absent)


def become(user: int) -> None:
    """Become another user, if this is root; the interpreter may lie where only root reads."""
    codecs.lookup("ascii"), codecs.lookup("idna")
    if user != os.geteuid():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)


def connect(address: str, kind: int) -> None:
    """Connect a socket, or send to it."""
    with socket.socket(socket.AF_UNIX, kind) as one:
        one.setblocking(False)
        if kind == socket.SOCK_DGRAM:
            one.sendto(b"x", address)
        else:
            one.connect(address)


def send_message(address: str) -> None:
    """Send by sendmsg, which takes an address too."""
    with socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0] as one:
        one.sendmsg([b"x"], [], 0, address)


def call_internet(port: int) -> None:
    """Connect to this machine."""
    with socket.socket() as one:
        one.settimeout(1)
        one.connect(("127.0.0.1", port))


def lock(path: Path, posix: bool) -> None:
    """Lock a file and look from another process whether it is locked."""
    with path.open("rb") as first:
        if posix:
            fcntl.lockf(first, fcntl.LOCK_SH | fcntl.LOCK_NB)
        else:
            fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with path.open("rb") as second:
            request = struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0)
            if posix and struct.unpack("hhqqi", fcntl.fcntl(second, 36, request))[0] == fcntl.F_UNLCK:  # F_OFD_GETLK
                raise OSError("locks nothing")
            if not posix:
                try:
                    fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return
                raise OSError("locks nothing")


def set_flags(path: Path) -> None:
    """Set inode flags to what they are."""
    with path.open("rb") as file:
        flags = fcntl.ioctl(file, FS_IOC_GETFLAGS, struct.pack("l", 0))
        fcntl.ioctl(file, FS_IOC_SETFLAGS, flags)


def change_open(path: Path) -> None:
    """Change the mode by a descriptor."""
    with path.open("rb") as file:
        os.fchmod(file.fileno(), 0o600)


def make_memory_file() -> None:
    """Make a file in memory."""
    os.close(os.memfd_create("tried"))


def share_memory() -> None:
    """Make shared memory of System V, and remove it."""
    library = ctypes.CDLL(None, use_errno=True)
    made = library.shmget(0, 4096, 0o600)
    if made < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    library.shmctl(made, 0, None)


def tries(folder: Path, outsider: int, port: int) -> dict[str, dict[str, Callable[[], object]]]:
    """Return wall → what it should stop."""
    secret, shown = folder / "hidden" / "secret", folder / "shown" / "package.py"
    return {
        READS: {
            "secret": secret.read_bytes,
            "listing": lambda: list((folder / "hidden").iterdir()),
            "through a link": (folder / "shown" / "link").read_bytes,
            "through its parent's root": lambda: Path(f"/proc/{outsider}/root{secret}").read_bytes(),
            "environment": lambda: Path(f"/proc/{outsider}/environ").read_bytes(),
            "memory": lambda: Path(f"/proc/{outsider}/mem").open("rb"),
            "descriptors": lambda: Path(f"/proc/{outsider}/fd/0").readlink(),
            "passwords": lambda: Path("/etc/shadow").read_bytes(),
        },
        WRITES: {
            "secret": lambda: secret.write_bytes(b"x"),
            "package": lambda: shown.write_bytes(b"x"),
            "new": lambda: (shown.parent / "new").write_bytes(b"x"),
            "rename": lambda: shown.rename(shown.parent / "renamed"),
            "link": lambda: (shown.parent / "made").symlink_to("/etc"),
            "hard link": lambda: os.link(shown, folder / "mine" / "hard"),
            "truncate": lambda: os.truncate(shown, 0),
            "remove": shown.unlink,
            "shared memory": lambda: Path(f"/dev/shm/kb-tried-{os.getpid()}").write_bytes(b"x"),
            "temporary": lambda: Path(f"/tmp/kb-tried-{os.getpid()}").write_bytes(b"x"),
        },
        METADATA: {
            **{
                f"{what} of the {name}": one
                for name, path in (("package", shown), ("secret", secret))
                for what, one in {
                    "mode": lambda path=path: path.chmod(0o600),
                    "owner": lambda path=path: os.chown(path, -1, -1),
                    "times": lambda path=path: os.utime(path, (1, 1)),
                    "attribute": lambda path=path: os.setxattr(path, "user.kb", b"x"),
                    "flags": lambda path=path: set_flags(path),
                }.items()
            },
            "mode by descriptor": lambda: change_open(shown),
        },
        SOCKETS: {
            "by path": lambda: connect(str(folder / "hidden" / "stream"), socket.SOCK_STREAM),
            "datagram": lambda: connect(str(folder / "hidden" / "datagram"), socket.SOCK_DGRAM),
            "message": lambda: send_message(str(folder / "hidden" / "datagram")),
            "by name": lambda: connect(f"\0{folder.name}-stream", socket.SOCK_STREAM),
            "datagram by name": lambda: connect(f"\0{folder.name}-datagram", socket.SOCK_DGRAM),
            "internet": lambda: call_internet(port),
        },
        LOCKS: {"flock": lambda: lock(shown, False), "posix": lambda: lock(shown, True)},
        "memory": {"file": make_memory_file, "system v": share_memory},
    }


def main() -> None:
    """Enter the cage and try everything."""
    user, parts, place, outsider, port, *more = sys.argv[1:]
    folder = Path(place)
    become(int(user))
    take_away(parts)
    canary = Canary([str(folder)])
    around = cage.enter()
    reading, writing = os.pipe()
    if os.fork() == 0:
        calls = AllowedCalls(False, True, True, True, True) if more else AllowedCalls()
        held = around + cage.settle(cage.Room([folder / "mine"], (str(folder / "shown"),), calls), canary)
        left, right = socket.socketpair()
        left.send(b"given")
        works = [right.recv(5) == b"given", (folder / "mine" / "own").write_bytes(b"own") == 3]
        works += [(folder / "shown" / "package.py").read_bytes() == b"package", Path("/proc/self/maps").exists()]
        passed = {}
        for wall, each in tries(folder, int(outsider), int(port)).items():
            passed[wall] = []
            for name, one in each.items():
                try:
                    one()
                except OSError:
                    continue
                passed[wall].append(name)
        os.write(writing, json.dumps({"isolation": asdict(held), "passed": passed, "works": works}).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        sys.stdout.write(said.read())
    os.wait()
    canary.end()


if __name__ == "__main__":
    main()
