"""The commands of the core, and the documents of the core that no command of its own prints.

A command that is new is one entry here; `kb COMMAND` reads no other table.
"""

from __future__ import annotations

from kopt_kb.doors.command import Command, CommandExample, JsonDocument
from kopt_kb.doors.later import later

__all__ = ["CORE_COMMANDS", "CORE_DOCUMENTS"]

_IN_ORDER = (
    Command(
        "lookup",
        "print the sourced values of one product",
        "kopt_kb.cli.values.lookup",
        documents=(
            JsonDocument("lookup", "kopt_kb.wiki.lookup:Lookup"),
            JsonDocument("lookup_group", "kopt_kb.wiki.group:ProductGroup"),
        ),
        examples=(CommandExample("lookup H20", "lookup"), CommandExample("lookup gfx942", "lookup_group")),
        tool=later("kopt_kb.cli.kit.agent_tools:LOOKUP"),
    ),
    Command(
        "list",
        "list the products of the wiki",
        "kopt_kb.cli.values.list_",
        documents=(
            JsonDocument("list", "kopt_kb.cli.kit.documents:Products"),
            JsonDocument("list_ops", "kopt_kb.problem.operations:Operations"),
        ),
        examples=(CommandExample("list", "list"), CommandExample("list --ops", "list_ops")),
    ),
    Command(
        "compare",
        "put products side by side",
        "kopt_kb.cli.values.compare",
        documents=(JsonDocument("compare", "kopt_kb.wiki.compare:SideBySide"),),
        examples=(CommandExample("compare H20 MI300X", "compare"),),
        tool=later("kopt_kb.cli.kit.agent_tools:COMPARE"),
    ),
    Command(
        "search",
        "search the wiki's pages, filtered by operation, backend and target",
        "kopt_kb.cli.values.search",
        documents=(JsonDocument("search", "kopt_kb.wiki.search:SearchResult"),),
        examples=(CommandExample("search softmax", "search"),),
    ),
    Command(
        "roofline",
        "intensity, roofs, bound and 90 % target of a piece of work",
        "kopt_kb.cli.roofline.command",
        documents=(
            JsonDocument("roofline", "kopt_kb.analysis.roofline.reach:RooflineInTime"),
            JsonDocument("roofline_kernels", "kopt_kb.launch.counts.kernel_roofline:KernelRooflines"),
            JsonDocument("rooflines", "kopt_kb.analysis.roofline.reach:RooflinesInTime"),
            JsonDocument("supposed_rooflines", "kopt_kb.analysis.roofline.what_if:SupposedRooflines"),
        ),
        examples=(
            CommandExample("roofline --platform H20 --op rms_norm --shape 64x64 --dtype bf16", "roofline"),
            CommandExample(
                "roofline --platform H20 --op rms_norm --shape 8192x4096 --shape 4096x4096 --dtype bf16", "rooflines"
            ),
            CommandExample(
                "roofline --platform H20 --op rms_norm --shape 64x64 --dtype bf16 --what-if memory_bandwidth=2",
                "supposed_rooflines",
            ),
        ),
        tool=later("kopt_kb.cli.kit.agent_tools:ROOFLINE"),
    ),
    Command(
        "count",
        "count the work of Triton kernels from their IR",
        "kopt_kb.cli.roofline.count",
        documents=(JsonDocument("count", "kopt_kb.launch.counts.counting:CountedKernels"),),
        examples=(CommandExample("count nothing.py", "count", code=2),),
        tool=later("kopt_kb.cli.kit.agent_tools:COUNT"),
    ),
    Command(
        "compile",
        "compile Triton kernels without a GPU: registers, spills, instructions",
        "kopt_kb.cli.launch.compile",
        documents=(
            JsonDocument("compile", "kopt_kb.launch.counts.static_profile:CompiledKernels"),
            JsonDocument("compile_configurations", "kopt_kb.launch.counts.own_configs:OwnConfigs"),
        ),
        examples=(CommandExample("compile nothing.py --target sm_90", "compile", code=2),),
        tool=later("kopt_kb.cli.kit.agent_tools:COMPILE"),
    ),
    Command(
        "upgrade",
        "compare kernels under two versions of Triton without a GPU, then time what changed",
        "kopt_kb.cli.launch.upgrade",
        documents=(JsonDocument("upgrade", "kopt_kb.cli.launch.upgrade:TimedUpgrade"),),
        examples=(
            CommandExample(
                "upgrade nothing.py --shape 2x2 --dtype bf16 --to python3 --target sm_90", "upgrade", code=2
            ),
        ),
    ),
    Command(
        "record",
        "record a launcher's kernels, grids and arguments without a GPU",
        "kopt_kb.cli.launch.record",
        documents=(JsonDocument("record", "kopt_kb.cli.launch.record:RecordedLaunch"),),
        examples=(
            CommandExample(
                "record nothing.py --shape 2x2 --dtype bf16 --target sm_90 --out made", "record", code=2, needs="torch"
            ),
        ),
        tool=later("kopt_kb.cli.kit.agent_tools:RECORD"),
    ),
    Command(
        "isa",
        "scan machine code against the ISA targets",
        "kopt_kb.cli.launch.isa",
        documents=(JsonDocument("isa", "kopt_kb.analysis.ir.machine.scan:JudgedScans"),),
        examples=(CommandExample("isa kernel.sass", "isa", code=1),),
    ),
    Command(
        "occupancy",
        "blocks and warps that fit on one SM or CU",
        "kopt_kb.cli.roofline.occupancy",
        documents=(
            JsonDocument("occupancy", "kopt_kb.analysis.occupancy.occupancy:PlatformOccupancy"),
            JsonDocument("occupancy_record", "kopt_kb.analysis.occupancy.occupancy:PlatformOccupancies"),
        ),
        examples=(
            CommandExample("occupancy --platform H20 --threads 128", "occupancy"),
            CommandExample("occupancy --platform H200_SXM --record compiled.json", "occupancy_record"),
        ),
    ),
    Command(
        "init",
        "create a tuning workspace with sourced Stop Conditions",
        "kopt_kb.cli.workspace.init",
        documents=(JsonDocument("init", "kopt_kb.cli.workspace.init:Created"),),
        examples=(
            CommandExample(
                "init other --platform H20 --op rms_norm --shape 256x256 --dtype bf16 --framework triton", "init"
            ),
        ),
        tool=later("kopt_kb.cli.kit.agent_tools:INIT"),
    ),
    Command(
        "render",
        "bring the rendered files of a workspace up to its journal",
        "kopt_kb.cli.workspace.render",
        documents=(JsonDocument("render", "kopt_kb.workspace.views.render:RenderReport"),),
        examples=(CommandExample("render ws", "render"),),
    ),
    Command(
        "workspace",
        "change what a workspace was asked for, write plans, add a note",
        "kopt_kb.cli.workspace.command",
        documents=(
            JsonDocument("workspace_note", "kopt_kb.cli.workspace.command:NoteTaken"),
            JsonDocument("workspace_plan", "kopt_kb.cli.workspace.command:PlanFile"),
            JsonDocument("workspace_set", "kopt_kb.workspace.retarget:Retargeting"),
        ),
        examples=(
            CommandExample("workspace set ws --target-factor 0.8 --reason a --by b", "workspace_set"),
            CommandExample("workspace plan ws", "workspace_plan"),
            CommandExample("workspace note ws --topic user --text a", "workspace_note"),
        ),
    ),
    Command(
        "audit",
        "read every cited value of a workspace again",
        "kopt_kb.cli.workspace.audit",
        documents=(JsonDocument("audit", "kopt_kb.workspace.audit.audit:AuditReport"),),
        examples=(CommandExample("audit ws", "audit"),),
        tool=later("kopt_kb.cli.kit.agent_tools:AUDIT"),
    ),
    Command(
        "trust",
        "show what a workspace would start, and allow it",
        "kopt_kb.cli.workspace.trust",
        documents=(JsonDocument("trust", "kopt_kb.cli.workspace.trust:Allowed"),),
        examples=(CommandExample("trust", "trust"), CommandExample("trust ws", "trust")),
    ),
    Command(
        "profile",
        "read, record and judge profiler reports",
        "kopt_kb.cli.profile.command",
        documents=(
            JsonDocument("profile_diff", "kopt_kb.cli.profile.diff:ProfileDiff"),
            JsonDocument("profile_explain", "kopt_kb.cli.profile.explain:ExplainedRule"),
            JsonDocument("profile_gap", "kopt_kb.analysis.gap.document:Gaps"),
            JsonDocument("profile_read", "kopt_kb.cli.kit.judged:JudgedReports"),
            JsonDocument("profile_roofline", "kopt_kb.cli.profile.roofline:ReportRoofline"),
            JsonDocument("profile_run_plan", "kopt_kb.cli.profile.run:PlannedRun"),
        ),
        examples=(
            CommandExample("profile read report.csv", "profile_read"),
            CommandExample("profile run --dry-run --tool ncu -- echo", "profile_run_plan"),
            CommandExample("profile diff report.csv report.csv", "profile_diff"),
            CommandExample("profile gap report.csv", "profile_gap"),
            CommandExample("profile roofline report.csv", "profile_roofline"),
            CommandExample("profile explain BN-DIVERGENCE", "profile_explain"),
        ),
        tool=later("kopt_kb.cli.kit.agent_tools:PROFILE"),
    ),
    Command(
        "explain",
        "explain a code of an error, a fault, a rule or a finding",
        "kopt_kb.cli.values.explain",
        documents=(JsonDocument("explain", "kopt_kb.cli.kit.documents:Codes"),),
        examples=(CommandExample("explain", "explain"), CommandExample("explain KB063", "explain")),
    ),
    Command(
        "completion",
        "print the completion script of a shell",
        "kopt_kb.cli.machine.completion",
        examples=(CommandExample("completion bash"),),
    ),
    Command(
        "doctor",
        "look at this machine: driver, profilers, clocks, packages, isolation, caches",
        "kopt_kb.cli.machine.doctor",
        documents=(JsonDocument("doctor", "kopt_kb.launch.machine.health:Health"),),
        examples=(CommandExample("doctor", "doctor"),),
    ),
    Command(
        "wiki",
        "check, index, compare and copy a wiki, show its conflicts",
        "kopt_kb.cli.values.wiki",
        documents=(
            JsonDocument("wiki_check", "kopt_kb.wiki.check:WikiReport"),
            JsonDocument("wiki_conflicts", "kopt_kb.wiki.conflicts:Conflicts"),
        ),
        examples=(
            CommandExample("wiki check wiki", "wiki_check", code=1),
            CommandExample("wiki conflicts", "wiki_conflicts"),
            CommandExample("wiki index wiki", "written_file"),
            CommandExample("wiki copy copy", "written_file"),
            CommandExample("wiki conflicts", "wiki_conflicts", golden="wiki_conflicts"),
            CommandExample("wiki check ROOT", "wiki_check", code=1, golden="wiki_check"),
        ),
    ),
    Command(
        "verify",
        "check a kernel file against its reference in a child process",
        "kopt_kb.cli.launch.verify",
        documents=(
            JsonDocument("verify_kernel", "kopt_kb.cli.launch.verify_kernel:KernelVerdict"),
            JsonDocument("verify_record", "kopt_kb.launch.judge.records:Replayed"),
            JsonDocument("verify_source", "kopt_kb.tuning.lint:LintedFile"),
        ),
        examples=(
            CommandExample("verify kernel empty --shape 2x2 --dtype bf16", "verify_kernel", code=2),
            CommandExample("verify record folder", "verify_record", code=2),
            CommandExample("verify source text.py", "verify_source", code=1),
        ),
        tool=later("kopt_kb.cli.kit.agent_tools:VERIFY"),
    ),
    Command(
        "tune",
        "run a tuning campaign on a workspace",
        "kopt_kb.cli.tune.command",
        documents=(
            JsonDocument("tune_patch", "kopt_kb.cli.tune.project:Patch"),
            JsonDocument("tune_plan", "kopt_kb.cli.tune.text:CampaignParameters"),
            JsonDocument("tune_project_plan", "kopt_kb.cli.tune.project:ProjectParameters"),
            JsonDocument("tune_report", "kopt_kb.tuning.report:CampaignReport"),
            JsonDocument(
                "bundle_statement",
                "kopt_kb.workspace.bundle:Statement",
                undated="an in-toto statement, printed as the bundle holds it",
            ),
        ),
        examples=(
            CommandExample("tune run ws --simulate", "tune_report", code=2),
            CommandExample("tune resume ws --simulate", "tune_report", code=2),
            CommandExample("tune step ws --simulate", "tune_report", code=2),
            CommandExample("tune status ws", "tune_report"),
            CommandExample("tune report ws", "tune_report"),
            CommandExample("tune stop ws", "tune_report", code=2),
            CommandExample("tune dismiss ws --opportunity v0:verdict:dram --reason a", "tune_report", code=2),
            CommandExample("tune patch ws", "tune_patch", code=2),
            CommandExample("tune patch campaign", "tune_patch"),
            CommandExample("tune bundle ws --output new.kbb", "bundle_statement"),
        ),
        tool=later("kopt_kb.cli.kit.agent_tools:TUNE"),
        resume_hint="`kb tune resume` goes on",
    ),
    Command(
        "bench",
        "measure the ceilings of this GPU, or a workspace's kernel against its Stop Conditions",
        "kopt_kb.cli.bench.command",
        documents=(
            JsonDocument("bench_ceilings", "kopt_kb.launch.kernel.ceilings:CeilingsRun", is_stored=True),
            JsonDocument("bench_compare", "kopt_kb.launch.judge.revisions:RunComparison"),
            JsonDocument("bench_plan", "kopt_kb.tuning.bench:BenchPlan"),
            JsonDocument("bench_record", "kopt_kb.launch.judge.contest:ContestResult"),
            JsonDocument("bench_record_confirmation", "kopt_kb.launch.judge.confirm:Confirmation"),
            JsonDocument("bench_workspace", "kopt_kb.workspace.targets.bench:BenchReport"),
        ),
        examples=(
            CommandExample("bench bandwidth", "bench_ceilings", code=3, needs="gpu"),
            CommandExample("bench ceilings --dry-run", "bench_ceilings", code=2),
            CommandExample("bench page text.json --platform T10 --wiki wiki --read 2026-01-01", "written_page", code=2),
            CommandExample("bench kernel ws --dry-run", "bench_plan"),
            CommandExample("bench kernel campaign --dry-run", "bench_plan"),
            CommandExample("bench utilization ws", "bench_workspace", code=1),
            CommandExample("bench utilization campaign", "bench_workspace"),
            CommandExample("bench record folder folder", "bench_record", code=2),
            CommandExample("bench compare none none --platform T10", "bench_compare", code=2),
        ),
    ),
)

CORE_COMMANDS: dict[str, Command] = {one.name: one for one in _IN_ORDER}
"""Word → command, in the order of `kb --help`."""

CORE_DOCUMENTS: tuple[JsonDocument, ...] = (
    JsonDocument("error", "kopt_kb.cli.kit.documents:ErrorDocument"),
    JsonDocument("launch_record", "kopt_kb.launch.record.model:LaunchRecord", undated="a file of a record's folder"),
    JsonDocument(
        "problem", "kopt_kb.problem.problem:Problem", undated="a member of other documents and of the journal"
    ),
    JsonDocument(
        "proposer_state",
        "kopt_kb.tuning.proposals:ProposerState",
        undated="the question that a proposer is asked; its roofs carry their citations",
    ),
    JsonDocument("proposer_answer", "kopt_kb.tuning.proposals:ProposerAnswer", undated="others write it", is_read=True),
    JsonDocument("proposer_asks", "kopt_kb.tuning.proposals:EvidenceAsked", undated="others write it", is_read=True),
    JsonDocument(
        "recorded_roofline", "kopt_kb.analysis.roofline.recorded:RecordedRoofline", undated="a member of journal events"
    ),
    JsonDocument("written_file", "kopt_kb.cli.kit.documents:WrittenFile"),
    JsonDocument("written_files", "kopt_kb.cli.kit.documents:WrittenFiles"),
    JsonDocument("written_page", "kopt_kb.cli.kit.documents:WrittenPage"),
)
"""Members of others, files, and what several commands print."""
