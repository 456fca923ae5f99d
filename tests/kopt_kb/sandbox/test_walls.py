"""Each wall of the cage is run against, with each part of the cage taken away in turn, as root and as another user."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.sandbox.isolation import LOCKS, METADATA, READS, SOCKETS, WALLS, WRITES
from kopt_kb.sandbox.process import environment

_NOBODY = 65534
USERS = (0, _NOBODY) if os.geteuid() == 0 else (os.geteuid(),)

ALL = set(WALLS)
EXPECTED = {
    "": ALL,
    "landlock": ALL,
    "mounts": ALL,
    "seccomp": ALL - {LOCKS},
    "mounts+landlock": {METADATA, SOCKETS, LOCKS},
    "mounts+seccomp": {READS, WRITES},
    "landlock+seccomp": ALL - {LOCKS},
    "mounts+landlock+seccomp": set[str](),
}
"""Parts that are taken away → walls that still stand."""


class Outside:
    """Files, sockets and a process outside the cage, of one user."""

    def __init__(self, user: int, stack: ExitStack) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kb-walls-"))  # pytest's own folders are closed to other users
        stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        for name in ("mine", "shown", "hidden"):
            (self.folder / name).mkdir()
        (self.folder / "hidden" / "secret").write_bytes(b"secret")
        (self.folder / "shown" / "package.py").write_bytes(b"package")
        (self.folder / "shown" / "link").symlink_to(self.folder / "hidden" / "secret")
        for kind, name in ((socket.SOCK_STREAM, "stream"), (socket.SOCK_DGRAM, "datagram")):
            for address in (str(self.folder / "hidden" / name), f"\0{self.folder.name}-{name}"):
                one = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
                one.bind(address)
                if kind == socket.SOCK_STREAM:
                    one.listen()
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.port = listening.getsockname()[1]
        for one_path in (self.folder, *self.folder.rglob("*")):
            if os.geteuid() == 0 and not one_path.is_symlink():
                os.chown(one_path, user, user)
        drop = {"user": user, "group": user, "extra_groups": []} if os.geteuid() == 0 and user else {}
        self.process = subprocess.Popen(["sleep", "600"], env={"SECRET": "1", "PATH": os.environ["PATH"]}, **drop)
        stack.callback(self.process.wait)
        stack.callback(self.process.kill)

    def tried(self, user: int, missing: str, *more: str) -> dict[str, Any]:
        """Return what held, what passed, and what still worked."""
        words = [str(user), missing, str(self.folder), str(self.process.pid), str(self.port), *more]
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("tries.py")), *words], env=environment(ours=True),
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(params=USERS)
def outside(request: pytest.FixtureRequest) -> Iterator[tuple[Outside, int]]:
    """What lies outside, and whose it is."""
    with ExitStack() as stack:
        yield Outside(request.param, stack), request.param


@pytest.mark.parametrize("missing", EXPECTED)
def test_a_wall_that_is_called_held_is_passed_by_nothing(outside: tuple[Outside, int], missing: str) -> None:
    """Reads, writes, metadata, sockets and locks; and those walls are held that the parts that are left can hold."""
    place, user = outside
    said = place.tried(user, missing)
    held = set(said["isolation"]["held"])
    passed = {wall: said["passed"][wall] for wall in WALLS if said["passed"][wall]}
    assert not set(passed) & held, f"called held, and passed: {passed}"
    assert all(said["isolation"]["missing"][wall] for wall in ALL - held)
    assert all(said["works"]), said["works"]
    if {"user namespace", "pid namespace", "net namespace"} <= held and _has_landlock_6(held, missing):
        assert held & ALL == EXPECTED[missing], said["isolation"]["missing"]
    if "seccomp" not in missing:
        assert said["passed"]["memory"] == []


def _has_landlock_6(held: set[str], missing: str) -> bool:
    """Return whether this machine has what the table assumes: a kernel with all that was not taken away."""
    return all(
        part in held for word, part in (("mounts", "own file tree"), ("landlock", "Landlock")) if word not in missing
    )


def test_a_build_keeps_its_calls_and_the_walls_that_need_none(outside: tuple[Outside, int]) -> None:
    """Locks and files in memory work, and locks are said not to be held; all else stands."""
    place, user = outside
    said = place.tried(user, "", "builds")
    held = set(said["isolation"]["held"])
    if "own file tree" in held:
        assert (held & ALL, said["passed"]["memory"]) == (ALL - {LOCKS}, ["file"])
    assert not {wall for wall in WALLS if said["passed"][wall]} & held


def test_a_build_without_a_tree_of_its_own_reaches_no_socket(outside: tuple[Outside, int]) -> None:
    """The calls that it needs for its own sockets reach those of others then, and are refused."""
    place, user = outside
    said = place.tried(user, "mounts", "builds")
    assert said["passed"][SOCKETS] == []
    assert METADATA not in said["isolation"]["held"] and LOCKS not in said["isolation"]["held"]
