"""FILE as a kernel's name: `op:rms_norm` is the package's kernel of that operation, `op:naive/rms_norm` its slow one.

`op:cutile/rms_norm` is the one in cuTile; so of `cute`, `flydsl` and `cuda`. After an install from a wheel they lie
where nobody would look for them.
"""

from __future__ import annotations

from pathlib import Path

from kopt_kb.errors import BadInput

__all__ = ["kernel_file", "kernel_names"]

_PREFIX = "op:"


def kernel_names() -> tuple[str, ...]:
    """Return the names of the package's kernels."""
    folder = _folder()
    found = [*(one for each in (".", "naive", "cutile", "cute", "flydsl") for one in (folder / each).glob("*.py"))]
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
    import kopt_kb.kernels

    return Path(kopt_kb.kernels.__file__ or "").parent
