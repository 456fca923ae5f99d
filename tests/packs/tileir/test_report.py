"""The report has every place, filled or with a reason."""

from __future__ import annotations

from kopt_kb.packs.tileir.report import Report, TileirComparison, TileirTiming, render_report
from kopt_kb.packs.tileir.rewrite import Applied


def test_report() -> None:
    kernel = Applied("k", "dot-related", "TMA + 2CTA", ("a change",), ("line 3: a reason",), 1, 2)
    passed = TileirComparison("passed", 0.0, True, "interpreter", "")
    absent = TileirComparison("not run", None, False, "", "no GPU")
    times = (
        TileirTiming("PTX (ENABLE_TILE=0)", 0.5, 1.0, ""),
        TileirTiming("TileIR (ENABLE_TILE=1)", None, None, "no backend"),
    )
    text = render_report(Report((kernel,), passed, absent, times, "k_tileir.py", ""))
    for line in (
        "## TileIR Optimization: k", "- Kernel type: dot-related", "- Strategy: TMA + 2CTA", "- a change",
        "PASSED — Max difference: 0.0e+00, every bit equal (interpreter)", "NOT RUN — no GPU",
        "| PTX (ENABLE_TILE=0) | 0.500 | 1.00x |", "| TileIR (ENABLE_TILE=1) |  |  |", "not measured: no backend",
        "File: k_tileir.py", "- line 3: a reason",
    ):  # fmt: skip
        assert line in text
