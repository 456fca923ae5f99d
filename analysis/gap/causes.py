"""The closed table of causes that a gap can have, and whose method each is computed by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["CAUSES", "UNEXPLAINED", "CauseName", "Certainty", "LossCause"]

CauseName = Literal[
    "clock", "reach", "tile", "extra-bytes", "instructions", "launch", "tail", "imbalance", "latency", "unexplained"
]

Certainty = Literal["measured", "estimate", "at most"]
"""How sure a part is: by counters or counts, spread evenly where nobody says when, or no more than that."""


@dataclass(frozen=True, slots=True)
class LossCause:
    """One cause.

    Attributes:
        words: What people call it.
        method: How its share is computed.
        source: Who published the method.
    """

    words: str
    method: str
    source: str


UNEXPLAINED: CauseName = "unexplained"

CAUSES: Mapping[CauseName, LossCause] = {
    "clock": LossCause(
        "clock below boost",
        "the engine's documented peak holds at a clock; at the mean clock of the run its operations take longer in "
        "that proportion",
        "Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009: a compute ceiling is units x clock",
    ),
    "reach": LossCause(
        "roof out of reach",
        "the documented roof against the best rate that was measured with the same footprint or shape, or against the "
        "rate at which the profiler counts device memory as busy all the time",
        "Lo et al.: Roofline Model Toolkit, PMBS 2014: empirical ceilings below the theoretical ones",
    ),
    "tile": LossCause(
        "tile quantisation",
        "operations executed on the engine beyond those that the result needs, at the rate reached so far",
        "NVIDIA: Matrix Multiplication Background User's Guide, section Tile Quantization",
    ),
    "extra-bytes": LossCause(
        "extra bytes",
        "by how much the bytes that a level moved make it, and not the roof, what takes longest",
        "Yang, Kurth, Williams: Hierarchical Roofline analysis for GPUs, Concurrency and Computation 32(20), 2020",
    ),
    "instructions": LossCause(
        "instruction overhead",
        "by how much the issue slots or an arithmetic pipe take longer than all roofs before",
        "Ding, Williams: An Instruction Roofline Model for GPUs, PMBS 2019",
    ),
    "launch": LossCause(
        "launch",
        "cycles of the launch in which not even the busiest SM had a block, or an empty launch as it was timed",
        "NVIDIA: Nsight Compute documentation, Metrics Reference: elapsed and active cycles",
    ),
    "tail": LossCause(
        "tail wave",
        "SM time without a block that a partly filled last wave predicts; as measured where cycles of SMs were",
        "NVIDIA: Matrix Multiplication Background User's Guide, section Wave Quantization",
    ),
    "imbalance": LossCause(
        "imbalance",
        "SM time without a block beyond what the last wave predicts",
        "NVIDIA: Nsight Compute documentation, Metrics Reference: active cycles, mean and maximum over SMs",
    ),
    "latency": LossCause(
        "exposed latency",
        "of the time left, the share in which no warp could issue and the reason was a wait, spread evenly over the "
        "run; nothing where a unit is high, since waiting for it is its own time",
        "Volkov: Understanding Latency Hiding on GPUs, 2016; NVIDIA: Nsight Compute, Warp State Statistics",
    ),
    "unexplained": LossCause("unexplained", "what no evidence at hand accounts for", ""),
}
"""Causes in the order in which the time is charged to them; each second is charged once, to the first that explains it.

Charging in a fixed order so that parts sum to the whole: Eyerman, Eeckhout, Karkhanis, Smith, "A performance counter
architecture for computing accurate CPI components", ASPLOS 2006.
"""
