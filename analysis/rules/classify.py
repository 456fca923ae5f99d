"""From a profile to its verdict: total, so that every profile gets one."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.analysis.profile import METRICS, KernelProfile
from kopt_kb.analysis.roofline.ceilings import memory_ceiling
from kopt_kb.analysis.rules.advice import load_advice
from kopt_kb.analysis.rules.base import Finding
from kopt_kb.analysis.rules.derived import DerivedMetrics
from kopt_kb.analysis.rules.headroom import headroom_of
from kopt_kb.analysis.rules.recording import AMD_DECIDES, recording_of
from kopt_kb.analysis.rules.table import RULES
from kopt_kb.analysis.rules.thresholds import load_thresholds
from kopt_kb.analysis.rules.verdict import Verdict
from kopt_kb.analysis.rules.worth import worth_of
from kopt_kb.problem.work import Work
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform, Product, platform_of

__all__ = ["classify"]

_WHOLE_PCT = 100.0
_APART_PCT = 5.0  # what passes of one kernel were seen to differ by


def classify(
    profile: KernelProfile, product: Product | None = None, work: Work | None = None, *, wiki: Path | None = None
) -> Verdict:
    """Return what limits a kernel.

    Args:
        profile: One kernel of a report.
        product: The exact product or its name, for headroom and for reports that hold bytes but no share of peak.
        work: Useful work, so that headroom is of useful and not of executed operations.
        wiki: Folder of the wiki with thresholds and advice; None takes KOPT_GPU_WIKI, else the packaged one.

    Raises:
        BadInput: A page of thresholds or advice is missing or broken.
    """
    platform = None if product is None else platform_of(product)
    kernel = DerivedMetrics(profile, load_thresholds(wiki, profile.source.vendor), _dram_peak(platform))
    found = [one for rule in RULES if (one := rule.find(kernel)) is not None]
    needs = AMD_DECIDES if profile.source.vendor == "amd" else [one for rule in RULES for one in rule.needs]
    absent = profile.absent(*dict.fromkeys(needs))
    primary = found[0] if found else Finding("BN-DATA", "insufficient-data", ())
    ranked = tuple({one.limiter: one for one in reversed(found[1:]) if one.limiter != primary.limiter}.values())
    return Verdict(
        bottleneck=primary.bottleneck,
        limiter=primary.limiter,
        code=primary.code,
        evidence=primary.evidence,
        absent=absent,
        advice=load_advice(primary.limiter, wiki),
        others=ranked[::-1],
        headroom=headroom_of(kernel, primary.limiter, platform, work),
        doubts=_doubts(profile),
        worth={one.limiter: worth for one in (primary, *ranked[::-1]) if (worth := worth_of(kernel, one)) is not None},
        recording=recording_of(profile, primary.limiter),
    )


def _doubts(profile: KernelProfile) -> tuple[str, ...]:
    """Return what can't be: shares above the whole."""
    found = []
    for metric, value in profile.metrics.items():
        if METRICS[metric].unit == "%" and value > _WHOLE_PCT:
            why = (
                "counters of different passes" if value < _WHOLE_PCT + _APART_PCT else "impossible, a counter is wrong"
            )
            found.append(f"{metric} is {value:.5g} %: {why}")
    return tuple(found)


def _dram_peak(platform: Platform | None) -> float | None:
    if platform is None:
        return None
    roof = memory_ceiling(platform, "copy", 0).documented
    return float(roof.si) if isinstance(roof, Quantity) else None
