"""Replays records beside their originals on inputs that no judge drew: `python adversarial_beside.py LIST`.

LIST is JSON: for each record its folder, its original's, and the file that makes inputs and reference. One line each:
`same bits`, `within tolerance` or `WRONG`, with why. It ends at the first record that the device refuses.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kopt_kb.base.errors import KoptError
from kopt_kb.launch.compile.loader import load_module
from kopt_kb.launch.kernel.comparison import compare
from kopt_kb.launch.record.contents import span_of, tensor_of
from kopt_kb.launch.record.judge import driver_for, load_record, stored
from kopt_kb.launch.record.replay import Replay
from kopt_kb.problem.tolerances import tolerance_of

_DRAWS = 24
"""Inputs on which a record is replayed beside its original."""


def beside_all(words: Sequence[Sequence[str]]) -> int:
    """Print what each record is beside its original; end at the first that the device refuses."""

    driver = driver_for(load_record(Path(words[0][1])).target)
    for one, two, reference in words:
        try:
            print(beside(Path(one), Path(two), reference, driver), flush=True)
        except KoptError as error:
            print(f"WRONG: {error.what}", flush=True)
            return 1
    return 0


def beside(one: Path, two: Path, reference: str, driver: Any) -> str:
    """Return what a record's results are beside those of its original, on inputs that no judge drew."""

    (changed, code), (base, own) = stored(one), stored(two)
    module, worst = load_module(reference), "same bits"
    with Replay(changed, code, driver) as first, Replay(base, own, driver) as second:
        for draw in range(_DRAWS):
            made = module.make_inputs(base.shape, base.dtype, "cpu", 10_000 + draw)
            inputs = [part * (1, 30, 1e-3)[draw % 3] if part.is_floating_point() else part for part in made]
            spans = [span_of(part).numpy().tobytes() for part in inputs]
            named = {given.view.buffer: span for given, span in zip(base.inputs, spans, strict=True)}
            left, right = first.run(named), second.run(named)
            if left.touched:
                return f"WRONG: {'; '.join(left.touched)}"
            if left.outputs[0] == right.outputs[0]:
                continue
            raw = torch.frombuffer(bytearray(left.outputs[0]), dtype=torch.uint8)
            out = tensor_of(raw, changed.outputs[0], tuple(inputs))
            limits = tolerance_of(base.dtype)
            wrong = out if isinstance(out, str) else compare(out, module.reference(*inputs)).failure(limits)
            if wrong:
                return f"WRONG: draw {draw}: {wrong}"
            worst = "within tolerance"
    return f"{worst}: {_DRAWS} draws beside the original"


if __name__ == "__main__":
    sys.exit(beside_all(json.loads(Path(sys.argv[1]).read_text())))
