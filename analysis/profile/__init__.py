"""One vocabulary for every profiler report.

A reader (package `kopt_kb.analysis.readers`) turns a report into `KernelProfile`s; rules judge them.

For a reader:
    1. Build one `ProfiledLaunch` a dispatch. `metrics` holds normalised values by the ids of `METRICS` (closed list in
       `vocabulary.py`; families such as `stall.*`, `pipe.*_pct`, `flops.<engine>.<dtype>`, `occupancy_limit.*`
       in `families.py`); `raw` holds the tool's counters verbatim in base units (`RawMetric(value, unit)`).
       A counter that was not collected has no entry. Grids are in blocks. Times are seconds, and a zero or
       negative time is no time.
    2. Give each launch to `Collector(Source(...)).add(launch)` and yield from `.profiles(*notes)`: it groups by
       (name, device, grid, block), sums before it divides and takes the median time.
    3. For traces too large for launch objects build `KernelProfile` directly from sums
       (`DurationStats`, `duration_stats`), with `launch_count` the true count and `launches` left short.
    4. Bounds: put `{"dram_read_bytes": "lower"}` into `ProfiledLaunch.bounds` where a counter misses part.

For a rule: `profile.get(id)` (None means not collected), `.absent(*ids)`, `.bound(id)`, `.rate(id)` per second,
`.flops` by (dtype, engine), `.stalls`, `.occupancy_limiters` (a set), `.rules` (the tool's stored verdicts),
`.sol_class` (ncu's own rule).
`run_peak.*` are the tool's peaks at the clock of the run; they are never mixed with sheet peaks.
Amounts (bytes, FLOPs, instructions, cycles) are means of one launch.
"""

from kopt_kb.analysis.profile.collect import Collector, duration_stats
from kopt_kb.analysis.profile.families import ENGINES, FLOP_DTYPES, LIMITERS, PIPES, STALL_REASONS, SolClass, Vendor
from kopt_kb.analysis.profile.kernel_profile import DurationStats, KernelProfile
from kopt_kb.analysis.profile.launch import (
    Dim3,
    HotSpot,
    ProfiledLaunch,
    RawMetric,
    ReportPlace,
    ReportSource,
    StoredRule,
)
from kopt_kb.analysis.profile.sol import SOL_RULE_TITLES, sol_class, stored_sol_class
from kopt_kb.analysis.profile.vocabulary import METRICS, MetricDef, definition_of

__all__ = [
    "ENGINES",
    "FLOP_DTYPES",
    "LIMITERS",
    "METRICS",
    "PIPES",
    "SOL_RULE_TITLES",
    "STALL_REASONS",
    "Collector",
    "Dim3",
    "DurationStats",
    "HotSpot",
    "KernelProfile",
    "MetricDef",
    "ProfiledLaunch",
    "RawMetric",
    "ReportPlace",
    "ReportSource",
    "SolClass",
    "StoredRule",
    "Vendor",
    "definition_of",
    "duration_stats",
    "sol_class",
    "stored_sol_class",
]
