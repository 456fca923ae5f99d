"""Words for commands elsewhere, tried with stand-ins for ssh and srun."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.coordination.routing.remote import remote_context


def test_every_command_reuses_one_allocation(tmp_path: Path) -> None:
    """Two commands behind the wrapper name the same job, and run."""
    log = tmp_path / "log"
    for name in ("ssh", "srun"):
        skip = 'while [ $# -gt 0 ] && [ "${1#-}" != "$1" ]; do [ $1 = -o ] && shift; shift; done'
        host = "shift" if name == "ssh" else ":"
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {log}\n{skip}\n{host}\nexec "$@"\n')
        (tmp_path / name).chmod(0o755)
    wrapper = remote_context(host="me@node7", job="4711").wrapper
    for word in ("one", "two"):
        command = f"{wrapper} echo {word}"
        done = subprocess.run(
            ["sh", "-c", command], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, check=True
        )
        assert done.stdout.decode().strip() == word
    assert log.read_text().count("--jobid=4711 --overlap") == 4


def test_an_allocation_is_made_and_released_once() -> None:
    """By words of their own, not by the wrapper."""
    found = remote_context(job="new", image="nvcr.io/nvidia/pytorch:25.01-py3", folder="/w s")
    assert "salloc" in found.allocate
    assert "salloc" not in found.wrapper
    assert "'/w s'" in found.wrapper
    assert found.release == "scancel $KB_JOB"
    assert found.allocate in found.block()
    assert remote_context(image="x").wrapper == "docker run --rm --gpus=all x"


@pytest.mark.parametrize("words", [{}, {"host": "a; rm -rf b"}, {"job": "1 2"}, {"image": "$(x)", "job": "1"}])
def test_what_a_shell_would_read_otherwise(words: dict[str, str]) -> None:
    """Is refused."""
    with pytest.raises(BadInput):
        remote_context(**words)
