"""Sourced GPU values, rooflines, profiler verdicts and a tuning loop that can be audited.

The names below are the public library; each is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kopt_kb.analysis.occupancy import Occupancy, occupancy
    from kopt_kb.analysis.occupancy_limits import Resources
    from kopt_kb.analysis.profile import KernelProfile
    from kopt_kb.analysis.readers import read_profiles
    from kopt_kb.analysis.roofline import Roofline, roofline
    from kopt_kb.analysis.rules import Verdict, classify
    from kopt_kb.errors import KoptError
    from kopt_kb.problem.problem import Problem
    from kopt_kb.problem.work import Work, work
    from kopt_kb.registry.citation import Citation
    from kopt_kb.registry.quantity import Absent, Quantity, Unknown
    from kopt_kb.registry.registry import Platform, PlatformId, Registry
    from kopt_kb.services.candidate.job import Executor
    from kopt_kb.services.limits import limits_of
    from kopt_kb.tuning.campaign import Campaign
    from kopt_kb.tuning.proposals import Proposer
    from kopt_kb.tuning.report import CampaignReport
    from kopt_kb.tuning.states import State
    from kopt_kb.workspace.audit import AuditReport, audit
    from kopt_kb.workspace.conditions import Evaluation, StopConditions
    from kopt_kb.workspace.task import Task
    from kopt_kb.workspace.workspace import Workspace

_HOME = {
    "Absent": "registry.quantity",
    "AuditReport": "workspace.audit",
    "Campaign": "tuning.campaign",
    "CampaignReport": "tuning.report",
    "Citation": "registry.citation",
    "Evaluation": "workspace.conditions",
    "Executor": "services.candidate.job",
    "KernelProfile": "analysis.profile",
    "KoptError": "errors",
    "Occupancy": "analysis.occupancy",
    "Platform": "registry.registry",
    "PlatformId": "registry.registry",
    "Problem": "problem.problem",
    "Proposer": "tuning.proposals",
    "Quantity": "registry.quantity",
    "Registry": "registry.registry",
    "Resources": "analysis.occupancy_limits",
    "Roofline": "analysis.roofline",
    "State": "tuning.states",
    "StopConditions": "workspace.conditions",
    "Task": "workspace.task",
    "Unknown": "registry.quantity",
    "Verdict": "analysis.rules",
    "Work": "problem.work",
    "Workspace": "workspace.workspace",
    "audit": "workspace.audit",
    "classify": "analysis.rules",
    "limits_of": "services.limits",
    "occupancy": "analysis.occupancy",
    "read_profiles": "analysis.readers",
    "roofline": "analysis.roofline",
    "work": "problem.work",
}

__all__ = [
    "Absent",
    "AuditReport",
    "Campaign",
    "CampaignReport",
    "Citation",
    "Evaluation",
    "Executor",
    "KernelProfile",
    "KoptError",
    "Occupancy",
    "Platform",
    "PlatformId",
    "Problem",
    "Proposer",
    "Quantity",
    "Registry",
    "Resources",
    "Roofline",
    "State",
    "StopConditions",
    "Task",
    "Unknown",
    "Verdict",
    "Work",
    "Workspace",
    "audit",
    "classify",
    "limits_of",
    "occupancy",
    "read_profiles",
    "roofline",
    "work",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"kopt_kb.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
