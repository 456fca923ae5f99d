"""Sourced GPU values, rooflines, profiler verdicts and a tuning loop that can be audited.

The names below are the public library; each is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str
    from kopt_kb.analysis.occupancy.limits import Resources
    from kopt_kb.analysis.occupancy.occupancy import Occupancy, occupancy
    from kopt_kb.analysis.profile import KernelProfile
    from kopt_kb.analysis.readers import read_profiles
    from kopt_kb.analysis.readers.profiles import Profiles
    from kopt_kb.analysis.roofline.assess import assess
    from kopt_kb.analysis.roofline.peak import peak
    from kopt_kb.analysis.roofline.reach import RooflineInTime
    from kopt_kb.analysis.roofline.roofline import Roofline, roofline
    from kopt_kb.analysis.roofline.what_if import SupposedRoofline, WhatIf, what_if
    from kopt_kb.analysis.rules.classify import classify
    from kopt_kb.analysis.rules.verdict import Verdict
    from kopt_kb.base.errors import KoptError
    from kopt_kb.launch.candidate.job import Executor
    from kopt_kb.launch.counts.limits import limits_of
    from kopt_kb.problem.fused import OnChip, fused
    from kopt_kb.problem.operations import Operation, operations
    from kopt_kb.problem.problem import Problem
    from kopt_kb.problem.work import Work, work
    from kopt_kb.quantity.citation import Citation
    from kopt_kb.quantity.quantity import Absent, Quantity, Unknown
    from kopt_kb.report.pictured import DrawnPicture, picture
    from kopt_kb.tuning.campaign import Campaign
    from kopt_kb.tuning.machine import State
    from kopt_kb.tuning.proposals import Proposer
    from kopt_kb.tuning.report import CampaignReport, campaign_report
    from kopt_kb.wiki.compare import SideBySide, compare
    from kopt_kb.wiki.lookup import Lookup, lookup
    from kopt_kb.wiki.registry import Platform, PlatformId, Registry
    from kopt_kb.workspace.audit.audit import AuditReport, audit
    from kopt_kb.workspace.targets.conditions import Evaluation, StopConditions
    from kopt_kb.workspace.targets.own import stop_conditions
    from kopt_kb.workspace.task import Task
    from kopt_kb.workspace.workspace import Workspace

    # What packs add: users' type checkers read these lines, nothing runs them.
    from kopt_kb.packs.inline.profiled import annotate, profiled  # isort: skip

    __all__ = [
        "Absent",
        "AuditReport",
        "Campaign",
        "CampaignReport",
        "Citation",
        "DrawnPicture",
        "Evaluation",
        "Executor",
        "KernelProfile",
        "KoptError",
        "Lookup",
        "Occupancy",
        "OnChip",
        "Operation",
        "Platform",
        "PlatformId",
        "Problem",
        "Profiles",
        "Proposer",
        "Quantity",
        "Registry",
        "Resources",
        "Roofline",
        "RooflineInTime",
        "SideBySide",
        "State",
        "StopConditions",
        "SupposedRoofline",
        "Task",
        "Unknown",
        "Verdict",
        "WhatIf",
        "Work",
        "Workspace",
        "__version__",
        "annotate",
        "assess",
        "audit",
        "campaign_report",
        "classify",
        "compare",
        "fused",
        "limits_of",
        "lookup",
        "occupancy",
        "operations",
        "peak",
        "picture",
        "profiled",
        "read_profiles",
        "roofline",
        "stop_conditions",
        "what_if",
        "work",
    ]

_HOME = {
    "Absent": "quantity.quantity",
    "AuditReport": "workspace.audit.audit",
    "Campaign": "tuning.campaign",
    "CampaignReport": "tuning.report",
    "Citation": "quantity.citation",
    "DrawnPicture": "report.pictured",
    "Evaluation": "workspace.targets.conditions",
    "Executor": "launch.candidate.job",
    "KernelProfile": "analysis.profile",
    "KoptError": "base.errors",
    "Lookup": "wiki.lookup",
    "Occupancy": "analysis.occupancy.occupancy",
    "OnChip": "problem.fused",
    "Operation": "problem.operations",
    "Platform": "wiki.registry",
    "PlatformId": "wiki.registry",
    "Problem": "problem.problem",
    "Profiles": "analysis.readers.profiles",
    "Proposer": "tuning.proposals",
    "Quantity": "quantity.quantity",
    "Registry": "wiki.registry",
    "Resources": "analysis.occupancy.limits",
    "Roofline": "analysis.roofline.roofline",
    "RooflineInTime": "analysis.roofline.reach",
    "SideBySide": "wiki.compare",
    "State": "tuning.machine",
    "StopConditions": "workspace.targets.conditions",
    "SupposedRoofline": "analysis.roofline.what_if",
    "Task": "workspace.task",
    "Unknown": "quantity.quantity",
    "Verdict": "analysis.rules.verdict",
    "WhatIf": "analysis.roofline.what_if",
    "Work": "problem.work",
    "Workspace": "workspace.workspace",
    "assess": "analysis.roofline.assess",
    "audit": "workspace.audit.audit",
    "campaign_report": "tuning.report",
    "classify": "analysis.rules.classify",
    "compare": "wiki.compare",
    "fused": "problem.fused",
    "limits_of": "launch.counts.limits",
    "lookup": "wiki.lookup",
    "occupancy": "analysis.occupancy.occupancy",
    "operations": "problem.operations",
    "peak": "analysis.roofline.peak",
    "picture": "report.pictured",
    "read_profiles": "analysis.readers",
    "roofline": "analysis.roofline.roofline",
    "stop_conditions": "workspace.targets.own",
    "what_if": "analysis.roofline.what_if",
    "work": "problem.work",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("kopt_kb.base.installed").version_of("kopt-kb", "unknown")
    if name == "__all__":
        return sorted({*_HOME, *_added(), "__version__"})
    if name in _HOME:
        return getattr(import_module(f"kopt_kb.{_HOME[name]}"), name)
    if name.startswith("_") or name not in _added():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _added()[name].partition(":")
    return getattr(import_module(module), attribute)


def _added() -> dict[str, str]:
    """Return the public names that packs add, none of them one of the core's."""
    packs = import_module("kopt_kb.doors.table").packs().usable.values()
    return {name: place for pack in packs for name, place in pack.names.items() if name not in _HOME}


def __dir__() -> list[str]:
    return sorted({*_HOME, *_added(), "__version__"})
