"""The gate of resource limits: compiles a candidate for the platform without a GPU and judges it by sourced limits."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.errors import KoptError, MissingTool
from kopt_kb.problem.shapes import Shape, format_shape
from kopt_kb.static.pruning import Removed
from kopt_kb.tuning.decision import GateResult
from kopt_kb.wiki.registry import Platform

__all__ = ["ResourceGate"]


@dataclass(frozen=True, slots=True)
class ResourceGate:
    """Judges a source on all shapes of a problem; unavailable without triton, a target, or declared launches."""

    platform: Platform
    shapes: tuple[Shape, ...]
    dtype: str

    def __call__(self, source: bytes) -> GateResult:
        """Return pass, fail with the number and the limit it breaks, or unavailable."""
        from kopt_kb.kernels.compile.request import OpCase
        from kopt_kb.static.limits import limits_of
        from kopt_kb.static.pruning import PruneOptions, prune

        shapes = {format_shape(one): one for one in self.shapes}
        with tempfile.TemporaryDirectory(prefix="kb-limits-") as folder:
            file = Path(folder) / "kernel.py"
            file.write_bytes(source)
            cases = {text: OpCase(str(file), shape, self.dtype, {}) for text, shape in shapes.items()}
            try:
                found = prune(
                    {"shape": list(cases)},
                    lambda config: cases[str(config["shape"])],
                    self.platform.identity.target,
                    limits_of(self.platform),
                    PruneOptions(min(len(cases), os.cpu_count() or 1)),
                )
            except (MissingTool, KoptError) as error:
                return GateResult("limits", "unavailable", str(error)[:300])
        return _judged(found.removed)


def _judged(removed: tuple[Removed, ...]) -> GateResult:
    """Return fail for what can't launch; spills are said, not forbidden; what could not be judged is unavailable."""
    texts = {one.reason: f"{one.config['shape']}: {one.detail}"[:300] for one in removed}
    for reason in ("shared_memory", "cannot_launch", "compiler"):
        if reason in texts:
            return GateResult("limits", "fail", texts[reason])
    other = next((text for reason, text in texts.items() if reason != "spills"), "")
    if other:
        return GateResult("limits", "unavailable", other)
    return GateResult("limits", "pass", texts.get("spills", ""))
