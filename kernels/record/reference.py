"""The trusted half of a replay's check: inputs made from a seed, the float64 reference, and the comparison.

A process of its own that imports the reference file and never the recorded one. On stdin it reads one JSON line at a
time: `prepare` writes the inputs as raw bytes, `compare` reads the replay's outputs and answers with the distances.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kopt_kb.errors import KoptError
from kopt_kb.kernels.compile.loader import load_module
from kopt_kb.kernels.record.model import View
from kopt_kb.problem.dtypes import format_of
from kopt_kb.problem.tolerances import Tolerance, tolerance_of
from kopt_kb.wire import Wire, canonical, read

__all__ = ["Compare", "Distance", "Prepare", "Prepared", "main"]


@dataclass(frozen=True, slots=True)
class Prepare(Wire):
    """Make inputs of a shape from a seed and write each as raw bytes into a folder."""

    file: str
    shape: tuple[int, ...]
    dtype: str
    seed: int
    folder: str


@dataclass(frozen=True, slots=True)
class Prepared(Wire):
    """Files of the inputs, in the order of `make_inputs`, or why there are none."""

    files: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Compare(Wire):
    """Hold an output's bytes against the reference of the inputs prepared last."""

    file: str
    view: View


@dataclass(frozen=True, slots=True)
class Distance(Wire):
    """How far an output is from the reference; `problem` is empty when it is within the tolerance."""

    rel_l2_err: float | None
    problem: str


class _Session:
    def __init__(self) -> None:
        self._inputs: Sequence[Any] = ()
        self._module: Any = None
        self._dtype = ""

    def prepare(self, what: Prepare) -> Prepared:
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
        self._module, self._dtype = load_module(what.file), what.dtype
        self._inputs = self._module.make_inputs(what.shape, what.dtype, device, what.seed)
        files = []
        for number, one in enumerate(self._inputs):
            path = Path(what.folder) / f"in{number}.bin"
            path.write_bytes(_bytes(one))
            files.append(str(path))
        return Prepared(tuple(files))

    def compare(self, what: Compare) -> Distance:
        import torch

        from kopt_kb.kernels.verification import compare

        reference = self._module.reference(*self._inputs)
        view = what.view
        known = format_of(view.dtype)
        width = self._inputs[0].element_size()
        if known is None or not known.torch or view.item_bytes < width:
            return Distance(None, f"the result has elements of {view.dtype}, the problem's have {width} bytes")
        if tuple(view.shape) != tuple(reference.shape):
            return Distance(None, f"the result has shape {view.shape}, the reference {tuple(reference.shape)}")
        raw = torch.frombuffer(bytearray(Path(what.file).read_bytes()), dtype=torch.uint8)
        whole = raw.view(getattr(torch, known.torch)).to(reference.device)
        out = whole.as_strided(view.shape, view.strides, view.offset)
        errors = compare(out, reference)
        limits: Tolerance = tolerance_of(self._dtype)
        return Distance(None if errors.nonfinite else errors.rel_l2_err, errors.failure(limits))


def _bytes(tensor: Any) -> bytes:
    import torch

    if not tensor.numel():
        return b""
    # As the tensor lies in memory: a record's view of a transposed or expanded input counts in its strides.
    span = 1 + sum((extent - 1) * step for extent, step in zip(tensor.shape, tensor.stride(), strict=True))
    flat = tensor.detach().as_strided((span,), (1,), tensor.storage_offset()).cpu()
    return bytes(flat.view(torch.uint8).numpy().tobytes())


def main() -> None:
    """Answer lines until stdin closes."""
    session = _Session()
    for line in sys.stdin:
        body = json.loads(line)
        try:
            if "seed" in body:
                result: Wire = session.prepare(read(Prepare, body, where="prepare"))
            else:
                result = session.compare(read(Compare, body, where="compare"))
        except Exception as error:  # noqa: BLE001 - whatever a reference or a record does, this process answers
            text = error.what if isinstance(error, KoptError) else f"{type(error).__name__}: {error}"[:300]
            result = Prepared(error=text) if "seed" in body else Distance(None, text)
        sys.stdout.write(canonical(result.to_json()).decode() + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
