"""Outputs of a kernel handed from the process that ran it to the process that judges it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kopt_kb.base.errors import BadInput

__all__ = ["load_output", "release_memory", "save_output"]


def save_output(out: Any, path: Path) -> None:
    """Write an output for another process: a tensor, or several in a tuple or list."""
    import torch

    kept = [one.detach().cpu() for one in out] if isinstance(out, tuple | list) else out.detach().cpu()
    torch.save(kept, path)


def load_output(path: Path, device: str) -> Any:
    """Return an output that another process wrote, of several results a tuple; no code of the file is ever run.

    Raises:
        BadInput: The file holds something else than tensors.
    """
    import torch

    found = torch.load(path, map_location=device, weights_only=True)
    if isinstance(found, list) and found and all(isinstance(one, torch.Tensor) for one in found):
        return tuple(found)
    if not isinstance(found, torch.Tensor):
        raise BadInput(f"holds a {type(found).__name__}, not a tensor", where=path.name, code="KB116")
    return found


def release_memory() -> None:
    """Give cached device memory back, for a process that runs beside this one."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
