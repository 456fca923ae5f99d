"""How agents call commands of the core: what each answers, which of its arguments a call may give, which are paths."""

from __future__ import annotations

from kopt_kb.doors.command import AgentTool

__all__ = [
    "AUDIT", "COMPARE", "COMPILE", "COUNT", "INIT", "LOOKUP", "PROFILE", "RECORD", "ROOFLINE", "TUNE", "VERIFY",
]  # fmt: skip

_WORK = ("op", "shape", "option", "flops", "bytes", "engine", "dtype")
_ONE_KERNEL = ("kernel", "arg", "constexpr", "autotune", "grid")
_CASE = ("file", "shape", "dtype", "config", *_ONE_KERNEL, "option", "target")

LOOKUP = AgentTool(
    "Sourced hardware values of one product (H20, H100_SXM, a driver's name) or of all products of a target "
    "(gfx942), each with grade, citation and conditions. Use it before you write any hardware number. What comes "
    "back as unknown is documented by nobody: write UNKNOWN, never a guess.",
    {"": ("platform", "metric", "conditions=axes")},
    ("lookup", "lookup_group"),
)

COMPARE = AgentTool(
    "Two products or more side by side, one metric or all; ratios only where conditions are equal.",
    {"": ("words",)},
    ("compare",),
)

ROOFLINE = AgentTool(
    "Arithmetic intensity, roofs, bound, attainable rate and 90 % target of a piece of work on a product, every "
    "number cited. Give op, shape and dtype, or flops, bytes, engine and dtype, or the file of a Triton kernel; "
    "with time, what share of the roof it is.",
    {"": ("platform", "compare", "file", *_WORK, *_ONE_KERNEL, "problem", "profile", "time", "min_grade")},
    ("roofline", "rooflines", "roofline_kernels"),
    frozenset({"file", "problem", "profile"}),
)

COUNT = AgentTool(
    "Operations and bytes that Triton kernels do, counted from their IR without a GPU.",
    {"": (*_CASE, "mode")},
    ("count",),
    frozenset({"file"}),
)

COMPILE = AgentTool(
    "Registers, spills, shared memory, instructions and occupancy of Triton or CUDA C++ kernels, without a GPU.",
    {"": (*_CASE, "platform")},
    ("compile", "compile_configurations"),
    frozenset({"file"}),
)

RECORD = AgentTool(
    "What a launcher asks a GPU to do (kernels, grids, arguments), recorded without a GPU into a new folder.",
    {"": ("file=words", "shape", "dtype", "config", "problem", "platform", "target", "autotune", "out")},
    ("record", "compile_configurations"),
    frozenset({"file", "problem", "out"}),
    writes=True,
)

VERIFY = AgentTool(
    "Is a kernel right: kernel compares a file with its float64 reference on fresh inputs, record replays a launch "
    "record on a GPU, source looks for library calls, caches and dead kernels without running anything.",
    {
        "kernel": (
            "file",
            "op",
            "shape",
            "dtype",
            "problem",
            "seeds",
            "reference",
            "inputs",
            "judge",
            "platform",
            "device",
            "run_s",
        ),
        "record": ("folder", "checks", "problem", "reference", "inputs"),
        "source": ("file", "framework"),
    },
    ("verify_kernel", "verify_record", "verify_source"),
    frozenset({"file", "folder", "problem", "reference"}),
)

PROFILE = AgentTool(
    "Profiler reports (ncu, rocprof family, recognised by content): read gives one verdict a kernel with evidence, "
    "thresholds and advice; diff holds later reports against a baseline.",
    {"read": ("files", "kernel", "platform", "top", "source"), "diff": ("baseline", "reports", "kernel", "threshold")},
    ("profile_read", "profile_diff"),
    frozenset({"files", "baseline", "reports"}),
)

INIT = AgentTool(
    "Create a tuning workspace kernel_opt_NAME with sourced specs, roofline and Stop Conditions.",
    {
        "": (
            "name",
            "platform",
            "framework",
            "kernel_demo",
            "op",
            "shape",
            "dtype",
            "option",
            "problem",
            "performance_target",
            "route",
            "notes",
            "threshold",
            "parent",
            "min_grade",
            "allow_unknown",
            "placeholder",
        )
    },
    ("init",),
    frozenset({"kernel_demo", "problem", "parent"}),
    writes=True,
)

TUNE = AgentTool(
    "A tuning campaign on a workspace: step does the next thing only, with until_decided all until a round is "
    "decided (with your own hypothesis in plan: category, claim, expected, and source or patch), status says where "
    "it stands, stop ends it. Gates and policy decide what is accepted. simulate is a declared simulator that "
    "measures nothing.",
    {
        "step": (
            "workspace",
            "plan",
            "policy",
            "core_shape",
            "max_rounds",
            "aggregate",
            "close_ledger",
            "no_stop",
            "budget_s",
            "samples",
            "evaluations",
            "search_s",
            "run_s",
            "seed",
            "tips",
            "judge",
            "device",
            "simulate",
            "dry_run",
            "until_decided",
        ),
        "status": ("workspace",),
        "stop": ("workspace",),
    },
    ("tune_report", "tune_plan"),
    frozenset({"workspace", "plan", "tips"}),
    frozenset({"plan"}),
    {"step": ("--yes",)},
    writes=True,
)

AUDIT = AgentTool(
    "Is a workspace, a bundle or a log of others to be trusted: cited values are read again, targets recomputed, "
    "views compared, texts searched for unsourced numbers. Findings come back with their place.",
    {"": ("path", "anchor", "platform")},
    ("audit",),
    frozenset({"path", "anchor"}),
)
