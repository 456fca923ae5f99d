"""FILE as a kernel's name: `op:rms_norm` is the package's kernel of that operation, `op:naive/rms_norm` its slow one.

`op:cuda/rms_norm` is the one in CUDA C++; so of every language that the package has kernels in. After an install from a
wheel they lie where nobody would look for them.
"""

from __future__ import annotations

from pathlib import Path

import kopt_kb.kernels
from kopt_kb.base.errors import BadInput
from kopt_kb.doors.languages import languages

__all__ = ["kernel_file", "kernel_names"]

_PREFIX = "op:"


def kernel_names() -> tuple[str, ...]:
    """Return the names of the package's kernels."""
    folder = _folder()
    folders = ("naive", *(language.kernels for language in languages() if language.kernels is not None))
    found = [path for each in folders for path in (folder / each).glob("*.py")]
    found += (folder / "cuda").glob("*.cu")
    named = (path for path in found if any(mark in path.read_bytes() for mark in (b"\ndef launch(", b"/* kb\n")))
    return tuple(sorted(path.relative_to(folder).with_suffix("").as_posix() for path in named))


def kernel_file(text: str) -> str:
    """Return the path that a FILE word means: itself, or that of a named kernel.

    Raises:
        BadInput: The package has no kernel of that name.
    """
    if not text.startswith(_PREFIX):
        return text
    name = text[len(_PREFIX) :]
    known = kernel_names()
    product = f"{name.removesuffix('gemm')}matmul"
    name = product if name.rpartition("/")[2] == "gemm" and product in known else name
    if name not in known:
        listed = ", ".join(f"{_PREFIX}{one}" for one in known)
        raise BadInput(f"the package has no kernel {text!r}", where="FILE", fix=f"it has {listed}", code="KB110")
    suffix = ".cu" if name.startswith("cuda/") else ".py"
    return str(_folder() / f"{name}{suffix}")


def _folder() -> Path:
    return Path(kopt_kb.kernels.__file__ or "").parent
