"""Claims about calls of the C library: a failure is an error with its number and what it was about."""

from __future__ import annotations

import errno

import pytest

from kopt_kb.sandbox.kernel import invoke, mount, pivot_root


def test_a_failure_is_an_error() -> None:
    """With errno; what succeeds returns its value."""
    assert invoke("getpid") > 0
    with pytest.raises(OSError, match="Bad file descriptor") as caught:
        invoke("close", -1)
    assert caught.value.errno == errno.EBADF


def test_a_mount_that_fails_names_its_target() -> None:
    """A folder that is not there, as root and as any other user."""
    with pytest.raises(OSError, match=r"\(/no/such/place\)"):
        mount("none", "/no/such/place", "tmpfs", 0)


def test_an_unknown_processor_has_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another call would be made in its place."""
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(OSError, match="riscv64"):
        pivot_root()
