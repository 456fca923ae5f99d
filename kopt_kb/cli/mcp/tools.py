"""The tools: which command answers, which of its arguments a call may give, which of them are paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["TOOLS", "ServedTool"]


@dataclass(frozen=True, slots=True)
class ServedTool:
    """One tool.

    Attributes:
        name: As clients call it.
        text: What it answers, for whoever chooses a tool.
        command: The command of kb that answers.
        takes: Action of the command → its arguments that a call may give, each `dest` or `name=dest`; the action is
            empty where the command has none.
        documents: Class of each document that may come back.
        paths: Arguments that name files or folders.
        inline: Arguments whose document may stand in the call itself instead of a path.
        always: Words that are added.
        writes: Whether it may change files.
    """

    name: str
    text: str
    command: str
    takes: Mapping[str, tuple[str, ...]]
    documents: tuple[str, ...]
    paths: frozenset[str] = frozenset()
    inline: frozenset[str] = frozenset()
    always: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    writes: bool = False


_WORK = ("op", "shape", "option", "flops", "bytes", "engine", "dtype")
_ONE_KERNEL = ("kernel", "arg", "constexpr", "autotune", "grid")
_CASE = ("file", "shape", "dtype", "config", *_ONE_KERNEL, "option", "target")

_ALL = (
    ServedTool(
        "lookup",
        "Sourced hardware values of one product (H20, H100_SXM, a driver's name) or of all products of a target "
        "(gfx942), each with grade, citation and conditions. Use it before you write any hardware number. What comes "
        "back as unknown is documented by nobody: write UNKNOWN, never a guess.",
        "lookup",
        {"": ("platform", "metric", "conditions=axes")},
        ("wiki.lookup:Lookup", "wiki.group:ProductGroup"),
    ),
    ServedTool(
        "compare",
        "Two products or more side by side, one metric or all; ratios only where conditions are equal.",
        "compare",
        {"": ("words",)},
        ("wiki.compare:SideBySide",),
    ),
    ServedTool(
        "roofline",
        "Arithmetic intensity, roofs, bound, attainable rate and 90 % target of a piece of work on a product, every "
        "number cited. Give op, shape and dtype, or flops, bytes, engine and dtype, or the file of a Triton kernel; "
        "with time, what share of the roof it is.",
        "roofline",
        {"": ("platform", "compare", "file", *_WORK, *_ONE_KERNEL, "problem", "profile", "time", "min_grade")},
        (
            "analysis.roofline.reach:RooflineInTime", "analysis.roofline.reach:RooflinesInTime",
            "static.kernel_roofline:KernelRooflines",
        ),
        frozenset({"file", "problem", "profile"}),
    ),
    ServedTool(
        "count",
        "Operations and bytes that Triton kernels do, counted from their IR without a GPU.",
        "count",
        {"": (*_CASE, "mode")},
        ("static.counting:CountedKernels",),
        frozenset({"file"}),
    ),
    ServedTool(
        "compile",
        "Registers, spills, shared memory, instructions and occupancy of Triton or CUDA C++ kernels, without a GPU.",
        "compile",
        {"": (*_CASE, "platform")},
        ("static.static_profile:CompiledKernels", "static.own_configs:OwnConfigs"),
        frozenset({"file"}),
    ),
    ServedTool(
        "record",
        "What a launcher asks a GPU to do (kernels, grids, arguments), recorded without a GPU into a new folder.",
        "record",
        {"": ("file=words", "shape", "dtype", "config", "problem", "platform", "target", "autotune", "out")},
        ("cli.record:RecordedLaunch", "static.own_configs:OwnConfigs"),
        frozenset({"file", "problem", "out"}),
        writes=True,
    ),
    ServedTool(
        "verify",
        "Is a kernel right: kernel compares a file with its float64 reference on fresh inputs, record replays a launch "
        "record on a GPU, source looks for library calls, caches and dead kernels without running anything.",
        "verify",
        {
            "kernel": (
                "file", "op", "shape", "dtype", "problem", "seeds", "reference", "inputs", "judge", "platform",
                "device", "run_s",
            ),
            "record": ("folder", "checks", "problem", "reference", "inputs"),
            "source": ("file", "framework"),
        },
        ("cli.verify_kernel:KernelVerdict", "runners.records:Replayed", "tuning.lint:LintedFile"),
        frozenset({"file", "folder", "problem", "reference"}),
    ),
    ServedTool(
        "profile",
        "Profiler reports (ncu, rocprof family, recognised by content): read gives one verdict a kernel with evidence, "
        "thresholds and advice; diff holds later reports against a baseline.",
        "profile",
        {
            "read": ("files", "kernel", "platform", "top", "source"),
            "diff": ("baseline", "reports", "kernel", "threshold"),
        },
        ("cli.profile_read:JudgedReports", "cli.profile_diff:ProfileDiff"),
        frozenset({"files", "baseline", "reports"}),
    ),
    ServedTool(
        "init",
        "Create a tuning workspace kernel_opt_NAME with sourced specs, roofline and Stop Conditions.",
        "init",
        {
            "": (
                "name", "platform", "framework", "kernel_demo", "op", "shape", "dtype", "option", "problem",
                "performance_target", "route", "notes", "threshold", "parent", "min_grade", "allow_unknown",
                "placeholder",
            ),
        },
        ("cli.init:Created",),
        frozenset({"kernel_demo", "problem", "parent"}),
        writes=True,
    ),
    ServedTool(
        "tune",
        "A tuning campaign on a workspace: step does the next thing only, with until_decided all until a round is "
        "decided (with your own hypothesis in plan: category, claim, expected, and source or patch), status says where "
        "it stands, stop ends it. Gates and policy decide what is accepted. simulate is a declared simulator that "
        "measures nothing.",
        "tune",
        {
            "step": (
                "workspace", "plan", "policy", "core_shape", "max_rounds", "aggregate", "close_ledger", "no_stop",
                "budget_s", "samples", "evaluations", "search_s", "run_s", "seed", "tips", "judge", "device",
                "simulate", "dry_run", "until_decided",
            ),
            "status": ("workspace",),
            "stop": ("workspace",),
        },
        ("tuning.report:CampaignReport", "cli.tune_text:CampaignParameters"),
        frozenset({"workspace", "plan", "tips"}),
        frozenset({"plan"}),
        {"step": ("--yes",)},
        writes=True,
    ),
    ServedTool(
        "audit",
        "Is a workspace, a bundle or a log of others to be trusted: cited values are read again, targets recomputed, "
        "views compared, texts searched for unsourced numbers. Findings come back with their place.",
        "audit",
        {"": ("path", "anchor", "platform")},
        ("workspace.audit.audit:AuditReport", "workspace.foreign.audit:ForeignReport"),
        frozenset({"path", "anchor"}),
    ),
    ServedTool(
        "lint_text",
        "Hardware numbers in texts and code that contradict the sourced values, are guessed, or have no source. Use it "
        "before a text is archived.",
        "lint-text",
        {"": ("files", "level")},
        ("wiki.lint.lint:TextReport",),
        frozenset({"files"}),
    ),
)  # fmt: skip

TOOLS: Mapping[str, ServedTool] = {tool.name: tool for tool in _ALL}
"""Name → tool."""
