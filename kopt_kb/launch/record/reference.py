"""The trusted half of a replay's check: inputs of a trial, the float64 reference, and the comparison.

A process of its own that imports the reference file and never the recorded one. On stdin it reads one JSON line at a
time: `prepare` writes the inputs as raw bytes, `compare` reads the replay's outputs and answers with the distances.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kopt_kb.base.wire import Wire, canonical, read
from kopt_kb.launch.compile.loader import load_module
from kopt_kb.launch.kernel.blocked import preload
from kopt_kb.launch.kernel.judgement import Case, limits_of, trials_of
from kopt_kb.launch.record import exchange
from kopt_kb.launch.record.contents import Contents, answered, said, span_of, tensor_of
from kopt_kb.launch.record.model import TensorView
from kopt_kb.problem.dtypes import format_of
from kopt_kb.problem.trials import RANDOM

__all__ = ["CompareFile", "Distance", "Other", "Prepare", "Prepared", "main"]


@dataclass(frozen=True, slots=True)
class Prepare(Wire):
    """Make the inputs of a trial and write each as raw bytes into a folder.

    Attributes:
        file: File with `make_inputs` and `reference`.
        shape: Of the problem.
        dtype: Storage type.
        seed: Of all that is random.
        folder: Where the inputs go.
        trial: Name of the trial.
        op: Operation whose trials it is one of; empty: the one that the file declares.
        part: 0, or 1 for the second run of the trial that was prepared last.
        device: Where they are drawn and the reference computes; empty: on a GPU where there is one.
    """

    file: str
    shape: tuple[int, ...]
    dtype: str
    seed: int
    folder: str
    trial: str = RANDOM.name
    op: str = ""
    part: int = 0
    device: str = ""


@dataclass(frozen=True, slots=True)
class Prepared(Wire):
    """Files of the inputs, in the order of `make_inputs`, or why there are none.

    `skipped` says why the trial does not apply to such inputs; `views` are the inputs in their files.
    """

    files: tuple[str, ...] = ()
    error: str = ""
    skipped: str = ""
    views: tuple[TensorView, ...] = ()


@dataclass(frozen=True, slots=True)
class Other(Wire):
    """Another output of the same run."""

    file: str
    view: TensorView


@dataclass(frozen=True, slots=True)
class CompareFile(Wire):
    """Hold an output's bytes, and those of further outputs, against the reference of the inputs prepared last."""

    file: str
    view: TensorView
    others: tuple[Other, ...] = ()


@dataclass(frozen=True, slots=True)
class Distance(Wire):
    """How far an output is from the reference.

    Attributes:
        rel_l2_err: ‖out − ref‖₂ / ‖ref‖₂; null without a comparable result.
        problem: Why the output is wrong; empty when it is within the tolerance.
        block_err: The same of the worst part of a row, less what rounding of its terms explains.
        element_err: Largest error of an element as a share of the largest of its row, less likewise.
        relation_err: Distance of a trial's second run from what the first demands of it.
        skipped: Why the trial says nothing about this operation.
        unable: Why the reference could not be computed: no fault of the output.
    """

    rel_l2_err: float | None
    problem: str
    block_err: float | None = None
    element_err: float | None = None
    relation_err: float | None = None
    skipped: str = ""
    unable: str = ""

    @property
    def error(self) -> str:
        """Why there is no answer, by the name that all answers of this process have."""
        return self.unable


_MESSAGES: Mapping[str, type[Any]] = {
    "open": exchange.Open, "fill": exchange.FillSlots, "compare": exchange.CompareSlots, "close": exchange.Close,
}  # fmt: skip


class _Session:
    def __init__(self) -> None:
        self._case: Case | None = None
        self._asked: Prepare | None = None
        self._contents: Contents | None = None

    def answer(self, line: str) -> Wire:
        """Return the answer to one question: of an exchange, or of a check by files."""
        body = json.loads(line)
        if "message" in body:
            self._contents = self._contents or Contents()
            return answered(self._contents, read(_MESSAGES[str(body["message"])], body, where="exchange"))
        try:
            if "seed" in body:
                return self.prepare(read(Prepare, body, where="prepare"))
            return self.compare(read(CompareFile, body, where="compare"))
        except Exception as error:  # noqa: BLE001 - whatever a reference or a record does, this process answers
            text = said(error)
            return Prepared(error=text) if "seed" in body else Distance(None, text)

    def prepare(self, what: Prepare) -> Prepared:
        import torch

        device = what.device or ("cuda" if torch.cuda.is_available() else "cpu")
        if what.part and self._case is not None:
            self._case.second()
        else:
            self._case = None  # memory of the trial before this one
            module = load_module(what.file)
            op = what.op or str(getattr(module, "OP", ""))
            (trial,) = trials_of(op, [what.trial])
            self._case = Case(module, what.shape, what.dtype, trial, what.seed, device, op)
        self._asked = what
        if self._case.skipped:
            return Prepared(skipped=self._case.skipped)
        files, views = [], []
        for number, one in enumerate(self._case.inputs):
            known = format_of(str(one.dtype))
            name = known.triton if known is not None else str(one.dtype)
            views.append(TensorView(f"in{number}", 0, tuple(one.shape), tuple(one.stride()), name))
            path = Path(what.folder) / f"in{number}.bin"
            path.write_bytes(span_of(one).cpu().numpy().tobytes())
            files.append(str(path))
        return Prepared(tuple(files), views=tuple(views))

    def compare(self, what: CompareFile) -> Distance:
        import torch

        if self._case is None or self._asked is None:
            return Distance(None, "", unable="no inputs were prepared")
        outs = []
        for one in (Other(what.file, what.view), *what.others):
            held = bytearray(Path(one.file).read_bytes())
            raw = torch.frombuffer(held, dtype=torch.uint8) if held else torch.empty(0, dtype=torch.uint8)
            out = tensor_of(raw, one.view, self._case.inputs)
            if isinstance(out, str):
                return Distance(None, out)
            outs.append(out)
        try:
            reference = self._case.reference()
        except Exception as error:  # noqa: BLE001 - the reference is a user's file, and not the output's fault
            return Distance(None, "", unable=said(error))
        limits = limits_of(self._case.module, self._asked.dtype)
        found = self._case.judge(outs[0] if len(outs) == 1 else tuple(outs), limits, reference)
        errors = found.errors
        if errors is None or errors.nonfinite:
            return Distance(None, found.problem, skipped=found.skipped)
        norms = (errors.rel_l2_err, errors.block_err, errors.element_err)
        whole_err, block_err, element_err = (one if math.isfinite(one) else None for one in norms)
        return Distance(whole_err, found.problem, block_err, element_err, found.relation_err, found.skipped)


def main() -> None:
    """Answer lines until stdin closes."""
    preload(wake=True)  # the asker is busy elsewhere
    session = _Session()
    for line in sys.stdin:
        sys.stdout.write(canonical(session.answer(line).to_json()).decode() + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
