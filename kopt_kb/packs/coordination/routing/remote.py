"""Words that run a command where the work is done: over ssh, in one SLURM allocation, in a container."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire

__all__ = ["RemoteContext", "remote_context"]

_HOST = re.compile(r"(?:[A-Za-z0-9_.-]+@)?[A-Za-z0-9][A-Za-z0-9_.-]*")
_IMAGE = re.compile(r"[A-Za-z0-9][\w./:@+-]*|/[\w./+-]+\.sqsh")


@dataclass(frozen=True, slots=True)
class RemoteContext(Wire):
    """One place for all steps of a task.

    Attributes:
        allocate: What makes the allocation, once; empty where none is asked for, or one is named.
        wrapper: Words that stand before each command; a launcher for `--executor-command` and `--search-command`.
        release: What gives the allocation back, once.
    """

    allocate: str
    wrapper: str
    release: str

    def block(self) -> str:
        """Return the context as each delegation carries it."""
        lines = ["Remote Execution Context"]
        lines += [f"  allocate once: {self.allocate}"] if self.allocate else []
        lines.append(f"  before each command: {self.wrapper}")
        lines += [f"  release once: {self.release}"] if self.release else []
        return "\n".join([*lines, "  every step reuses this allocation; files stay there for the next step"])


def remote_context(*, host: str = "", job: str = "", image: str = "", folder: str = "") -> RemoteContext:
    """Return the words for a host, an allocation, a container and a folder, from the outside in.

    Args:
        host: For ssh; empty: here.
        job: Number of a SLURM job, or `new`: `$KB_JOB` then holds what was allocated; empty: no SLURM.
        image: Of a container; empty: none.
        folder: Where commands run; empty: where they land.

    Raises:
        BadInput: A value could be read as something else by a shell.
    """
    for name, value, form in (
        ("--ssh", host, _HOST),
        ("--image", image, _IMAGE),
        ("--job", job, re.compile(r"\d+|new")),
    ):
        if value and not form.fullmatch(value):
            raise BadInput(f"{name} {value[:80]!r} is none", where="kb route remote", fix="a plain name", code="KB105")
    inner: list[str] = []
    if job:
        inner += ["srun", f"--jobid={'$KB_JOB' if job == 'new' else job}", "--overlap", "--ntasks=1"]
        inner += [f"--container-image={image}"] if image else []
        inner += [f"--chdir={shlex.quote(folder)}"] if folder else []
    elif image:
        inner += [
            "docker",
            "run",
            "--rm",
            "--gpus=all",
            *([f"--workdir={shlex.quote(folder)}"] if folder else []),
            image,
        ]
    far = ["ssh", "-o", "BatchMode=yes", host] if host else []
    wrapper = " ".join([*far, *inner])
    if not wrapper:
        fix = "give --ssh, --job or --image"
        raise BadInput("no place is named", where="kb route remote", fix=fix, code="KB102")
    before = f"{' '.join(far)} " if far else ""
    if job == "new":
        return RemoteContext(
            f"export KB_JOB=$({before}salloc --no-shell --gpus=1 2>&1 | grep -oE '[0-9]+' | head -1)",
            wrapper,
            f"{before}scancel $KB_JOB",
        )
    return RemoteContext("", wrapper, "")
