"""What a column or a member of a log means, by its name: one table for Markdown, CSV, TSV, JSON and JSONL."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

__all__ = ["PERFORMANCE", "is_claim", "is_metric", "plain_name", "role_of", "seconds_in", "unit_of"]

PERFORMANCE = frozenset({"speedup", "cumulative", "score", "time", "baseline time", "throughput", "share"})
"""Roles that make a record a claim about speed."""

_ROLES: tuple[tuple[str, str], ...] = (
    (
        "none",
        (
            r".*tokens?(?:_.*)?|.*_cost.*|(?:.*_)?duration_s|time_?stamp|date|created|updated"
            r"|elapsed_total|wall_clock|.*_at$|timeout|.*_time_of.*|compile_?time.*|.*url"
        ),
    ),
    (
        "spread",
        (
            r".*(?:std|stddev|stdev|std_dev|variance|spread|noise|error_bar|jitter)(?:_.*)?$"
            r"|(?:.*_)?(?:mad|cv|ci|ci95|iqr|sem|p_?value)(?:_.*)?"
        ),
    ),
    ("repeats", r"(?:num_|n_)?(?:trials?|samples?|repeats?|repetitions?|reps|measured_runs|perf_trials)"),
    ("paired", r".*(?:interleav|paired|abba|alternat).*"),
    (
        "share",
        (
            r".*(?:pct|percent|frac\w*|share)_?(?:of_)?(?:peak|roof|sol|bw|bandwidth).*|.*(?:peak|roof"
            r"|sol)_(?:pct|percent|frac).*|mfu|hfu|utili[sz]ation|.*_utili[sz]ation|efficiency"
            r"|sol(?:_score)?"
        ),
    ),
    (
        "target",
        (
            r".*(?:target|goal|roofline|theoretical|ceiling|speed_of_light)(?!.*speed_?up).*|(?:hw_"
            r"|hardware_)?peak(?:_(?:flops|tflops|compute|.*bandwidth.*|bw))?"
        ),
    ),
    ("cumulative", r".*(?:cumulative|overall|total).*speed_?up.*|.*speed_?up.*(?:cumulative|overall|total).*"),
    ("speedup", r".*speed_?up.*|.*_faster|gain|gain_pct|.*improvement.*|vs_?\w+|fast_p"),
    (
        "check",
        (
            r"(?:.*_)?(?:correct|correctness|check|passed|pass|valid|validated|verified|all_?close|n_pass"
            r"|accuracy|numerics|compare)(?:_.*)?|max_(?:abs_|rel_)?(?:diff|err|error)\w*|.*snr.*"
            r"|.*cos(?:ine)?_sim.*"
        ),
    ),
    (
        "baseline time",
        (
            r"(?=.*(?:latency|runtime|time|duration|median|mean|_(?:ms|us|ns))).*(?:baseline|base"
            r"|reference|ref|native|torch|pytorch|eager|compile|original|before|dense|old|cublas"
            r"|hipblaslt)(?:_.*)?|(?:baseline|reference|before|torch|original)_?(?:ms|us|ns|s)"
        ),
    ),
    (
        "time",
        (
            r".*(?:latency|run_?time|duration|kernel_time|median_?(?:ms|us|s)).*|(?:.*_)?time(?:_.*)?"
            r"|.*_(?:ms|us|ns)|(?:ms|us|ns)|cycles"
        ),
    ),
    ("throughput", r".*(?:t_?flop_?s?|g_?flop_?s?|gb_?ps|gb_s|gbps|tb_s|throughput|bandwidth|tok_s|tokens_per).*"),
    ("score", r".*(?:score|ratio|geomean|fitness).*"),
    (
        "round",
        (
            r"(?:round|iteration|iter|experiment|exp|attempt|trial|version|ver|v|generation|gen|epoch|run"
            r"|session)(?:_?(?:id|number|no|num|idx|index))?|"
        ),
    ),
    ("decision", r".*(?:status|decision|verdict|outcome|accepted|kept|action).*|result"),
    (
        "source",
        (
            r".*(?:commit|sha|hash|patch|snapshot|diff)(?:_.*)?|(?:.*_)?(?:code|source|kernel_src"
            r"|kernel_path|source_path|src|checkpoint)"
        ),
    ),
    (
        "item",
        (
            r".*(?:kernel|task|problem|op_name|operator|shape|label|config|model|benchmark|case|test"
            r"|workload|tag|name|\bop\b|size).*|op|m|n|k"
        ),
    ),
    (
        "words",
        (
            r".*(?:description|finding|note|change|hypothesis|summary|analysis|comment|reason|lesson"
            r"|idea).*"
        ),
    ),
)
_COMPARED = frozenset({"speedup", "cumulative", "score", "baseline time", "check", "decision", "round"})
_METRIC = re.compile(
    r"score|ratio|geomean|speed_?up|t?flops|latency|throughput|bandwidth|gap|loss|fwd|bwd|dgrad|wgrad|\btime\b|worst"
)
_COMPILED = tuple((role, re.compile(pattern)) for role, pattern in _ROLES)
_UNITS = {"ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "s": 1.0, "sec": 1.0, "seconds": 1.0}
_UNIT = re.compile(r"(?:^|[\s_(\[])(ms|us|µs|ns|s|sec|seconds)(?=$|[\s_)\]])", re.IGNORECASE)


def plain_name(name: str) -> str:
    """Return a name in lower case with `_` between its words.

    >>> plain_name("CUDA_Speedup Native"), plain_name("Forward Time (ms)"), plain_name("bestPatchSpeedup")
    ('cuda_speedup_native', 'forward_time_ms', 'best_patch_speedup')
    """
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", name.replace("%", " pct "))
    return re.sub(r"[^0-9a-zµ]+", "_", text.casefold()).strip("_")


@cache
def role_of(name: str) -> str:
    """Return what a column or member of that name means; `other` where nothing is known of it."""
    folded = plain_name(name)
    if name.strip() == "#":
        return "round"
    return next((role for role, pattern in _COMPILED if folded and pattern.fullmatch(folded)), "other")


def is_metric(name: str) -> bool:
    """Whether words before a number call it a speed, and no count of registers or bytes."""
    return _METRIC.search(plain_name(name)) is not None


def is_claim(roles: Iterable[str]) -> bool:
    """Whether values of these roles claim a speed: a number about speed, and something it is judged by."""
    given = set(roles)
    return bool(given & PERFORMANCE) and bool(given & _COMPARED)


def unit_of(name: str) -> str:
    """Return the unit of time in a name such as `runtime (ms)`, `latency_us`; empty where there is none."""
    found = _UNIT.search(name)
    return found[1].casefold() if found else ""


def seconds_in(value: float, name: str) -> float:
    """Return seconds, by the unit in a name; a time without a unit stays as it is."""
    return value * _UNITS.get(unit_of(name), 1.0)
