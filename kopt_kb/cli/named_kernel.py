"""FILE as a kernel's name: `op:rms_norm` is the package's kernel of that operation, `op:naive/rms_norm` its slow one.

`op:cutile/rms_norm` is the one in cuTile. After an install from a wheel the package's kernels lie where nobody would
look for them.
"""

from __future__ import annotations

from pathlib import Path

from kopt_kb.errors import BadInput

__all__ = ["kernel_file", "kernel_names"]

_PREFIX = "op:"


def kernel_names() -> tuple[str, ...]:
    """Return the names of the package's kernels."""
    folder = _folder()
    found = [*(one for each in (".", "naive", "cutile") for one in (folder / each).glob("*.py"))]
    found += (folder / "cuda").glob("*.cu")
    named = (path for path in found if path.suffix == ".cu" or b"\ndef launch(" in path.read_bytes())
    return tuple(sorted(path.relative_to(folder).with_suffix("").as_posix() for path in named))


def kernel_file(text: str) -> str:
    """Return the path that a FILE word means: itself, or that of a named kernel.

    Raises:
        BadInput: The package has no kernel of that name.
    """
    if not text.startswith(_PREFIX):
        return text
    name = text[len(_PREFIX) :]
    name = f"{name.removesuffix('gemm')}matmul" if name in {"gemm", "naive/gemm", "cutile/gemm"} else name
    known = kernel_names()
    if name not in known:
        listed = ", ".join(f"{_PREFIX}{one}" for one in known)
        raise BadInput(f"the package has no kernel {text!r}", where="FILE", fix=f"it has {listed}", code="KB110")
    suffix = ".cu" if name.startswith("cuda/") else ".py"
    return str(_folder() / f"{name}{suffix}")


def _folder() -> Path:
    import kopt_kb.kernels

    return Path(kopt_kb.kernels.__file__ or "").parent
