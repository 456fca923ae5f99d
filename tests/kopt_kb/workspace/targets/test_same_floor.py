"""One floor: library, JSON, README and gate say the same of every operation that is a product, on several parts."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.floor import work_floor
from kopt_kb.analysis.roofline.reach import reach
from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.base.errors import KoptError
from kopt_kb.problem.ops import OPS
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.tolerances import tolerance_of
from kopt_kb.quantity.readable import duration
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.targets.floors import floor_s
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace

REGISTRY = Registry.open()
PRODUCTS = ("H100_SXM", "H20", "MI300X", "RTX_4090")


def _shape(form: str) -> str:
    """Extents that every operation takes: powers of two."""
    return "x".join("8" if one in {"B", "G", "E"} else "256" for one in form.split("x"))


def _works() -> list[tuple[str, str]]:
    """Every operation and its shape."""
    from kopt_kb.problem.ops import definition

    return [(op, _shape(definition(op).form)) for op in OPS]


@pytest.mark.parametrize("platform", PRODUCTS)
def test_library_and_json_agree_over_all_operations(platform: str) -> None:
    """In the library's value, and in the document that the command prints."""
    product, counted = REGISTRY.platform(platform), 0
    for op, shape in _works():
        for dtype in ("bf16", "fp32"):
            try:
                found = roofline(Problem.of(op, [shape], dtype).works()[0], product)
            except KoptError:
                continue
            floor, told = work_floor(found.work, product), reach(found, product).to_json()["floor"]
            assert (None if floor is None else floor.to_json()) == told
            counted += 1
    assert counted > len(OPS)


@pytest.mark.parametrize("platform", PRODUCTS)
@pytest.mark.parametrize(
    ("op", "shape"), [("gemm", "1024x1024x1024"), ("gemm", "1x4096x4096"), ("rms_norm", "4096x8192")]
)
def test_gate_and_readme_say_what_the_library_says(tmp_path: Path, platform: str, op: str, shape: str) -> None:
    """At the tolerance of the problem, which decides the route."""
    tolerance = replace(tolerance_of("fp32"), rel_l2_err=Fraction(1, 100))
    problem = Problem.of(op, [shape], "fp32", tolerance=tolerance)
    made = Workspace.create(tmp_path, "w", Task(platform, "", None, problem), REGISTRY)
    library = work_floor(problem.works()[0], REGISTRY.platform(platform), tolerance)
    gate = floor_s(made.state(), cold=True)[shape]
    assert library is not None and gate == pytest.approx(library.seconds, rel=1e-12)
    line = re.search(r"^- floor: ([^,]+), a shorter time is refused", made.layout.readme.read_text(), re.MULTILINE)
    assert line is not None and line[1] == duration(library.seconds)
