"""Run a torch callable twice on a CPU in a child and note what its operators say about capture as a CUDA graph.

The file offers `make_inputs(seed)`, which returns a tuple of tensors, and the callable that is named.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["main", "run_twice"]

_HOST = {
    "aten._local_scalar_dense.default": "reads a value on the host",
    "aten.nonzero.default": "gives a shape that depends on values",
    "aten.masked_select.default": "gives a shape that depends on values",
    "aten._unique2.default": "gives a shape that depends on values",
    "aten.unique_consecutive.default": "gives a shape that depends on values",
    "aten.is_nonzero.default": "reads a value on the host",
    "aten.equal.default": "reads a value on the host",
}


class _Notes(TorchDispatchMode):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note an operator with the shapes it is given."""
        shapes = [tuple(one.shape) for one in args if isinstance(one, torch.Tensor)]
        self.calls.append(f"{func} {shapes}")
        return func(*args, **(kwargs or {}))


def run_twice(path: str, name: str) -> dict[str, object]:
    """Return what operators forbid a capture, and whether two inputs of one shape take the same operators."""
    spec = importlib.util.spec_from_file_location("candidate", path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    spec.loader.exec_module(module)
    target = getattr(module, name)
    call = target() if isinstance(target, type) else target
    traces = []
    for seed in (0, 1):
        inputs = module.make_inputs(seed)
        with _Notes() as notes:
            call(*inputs)
        traces.append(notes.calls)
    first = [(one.split(" ")[0], one) for one in traces[0]]
    found = {op: _HOST[op] for op, _ in first if op in _HOST}
    differ = next((at for at, pair in enumerate(zip(*traces, strict=False)) if pair[0] != pair[1]), None)
    if differ is None and len(traces[0]) != len(traces[1]):
        differ = min(map(len, traces))
    changed = "" if differ is None else (traces[0] + ["nothing"])[differ]
    return {"operators": len(traces[0]), "forbidden": found, "changed": changed}


def main() -> None:
    """Print what was noted of a file's callable."""
    sys.stdout.write(json.dumps(run_twice(sys.argv[1], sys.argv[2])))


if __name__ == "__main__":
    main()
