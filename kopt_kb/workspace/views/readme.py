"""The workspace README: the seed's sections, each rendered as a block from the state."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from kopt_kb.analysis.ir.machine.targets import IsaTarget, isa_targets
from kopt_kb.analysis.roofline.basis import attainable_words, basis_name, basis_words
from kopt_kb.analysis.roofline.recorded import DRAM, RecordedCeiling, RecordedRoofline, RecordedTarget
from kopt_kb.problem.own import OwnProblem
from kopt_kb.quantity import Exactness
from kopt_kb.quantity.readable import duration, reached
from kopt_kb.quantity.recorded import RecordedQuantity, RecordedUnknown
from kopt_kb.quantity.units import format_exact
from kopt_kb.wiki.tables import table
from kopt_kb.workspace.journal.setup_events import AGGREGATE
from kopt_kb.workspace.levels import level_words
from kopt_kb.workspace.route import route_text
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.conditions import Condition, StopConditions, wiki_of
from kopt_kb.workspace.targets.floors import floor_s, floor_text, has_floors
from kopt_kb.workspace.targets.short import without_condition
from kopt_kb.workspace.views.blocks import render_block
from kopt_kb.workspace.views.words import citation, is_second_edition, spec_line, unknown_in, unknown_words

__all__ = ["BLOCKS", "gap_lines", "isa_goals", "new_readme", "render_blocks"]

TBD = "TBD"
_TERA = 10**12
_EXACTNESS: Mapping[Exactness, str] = {"exact": "exact", "upper": "an upper bound", "lower": "a lower bound"}
_DEFINITIONS = ("operation", "flops", "bytes", "special")

BLOCKS: dict[str, str] = {
    "target": "Target",
    "execution": "Execution",
    "inputs": "Inputs",
    "hard-constraints": "Hard Constraints",
    "tools": "Tools",
    "hardware-spec": "Hardware Spec",
    "roofline": "Roofline",
    "stop-conditions": "Stop Conditions",
    "task-context": "Task Context",
    "isa-targets": "ISA Optimization Targets",
}
"""Block name → section heading, in the order of the README; Additional Notes stand between and belong to people."""


_PLAIN = {
    "target": """\
- platform: {platform}
- arch: {architecture}
- framework: {framework}
- dtype: {dtype}
- kernel type: {op}""",
    "execution": """\
- execution_mode: local
- local_gpu: the device the measurements name""",
    "inputs": """\
- kernel_demo: {demo}
- shapes: {shapes}
- options: {options}
- reference: {reference}
- correctness threshold: {limits}{stated}""",
    "hard-constraints": """\
- Bottlenecks are found by profiling with {profiler}; timing never names a bottleneck.
- Latency is {latency}; Stop Conditions are judged by it alone.
- Every hardware value used here stands under Hardware Spec or in the current plan, with its citation.
- Targets change only through `kb workspace set`, with a reason and an author.
- One hypothesis a round; correctness before time; every accepted round is a snapshot.
- Knowledge base: {wiki}
- Reference project: {reference_project}""",
    "tools": """\
- `kb audit .` reads every cited value again and recomputes the targets
- `kb lookup PLATFORM METRIC` prints a value with its source
- `kb profile read FILE` reads an ncu or rocprof report
- `kb roofline` recomputes intensity, roofs and targets""",
    "task-context": """\
- platform: {platform}
- arch: {arch}
- framework: {framework}
{route}- dtype: {dtype}
- shapes: {shapes}
- correctness_threshold: {threshold}
- stop_condition: every condition under Stop Conditions, or its aggregate, as the policy says
- reference_project: {reference_project}
- created: {created}""",
}
"""Blocks of words and single values."""

_REFERENCES = {
    "kernel": "the reference in kernel.py",
    "pytorch": "the reference in the PyTorch logic that kernel.py starts as",
    "roofline": "none: nothing is run",
}
_CLOCKS = {
    False: "the median of single calls, each timed by device events after the caches were overwritten, incumbent and "
    "candidate in turns; of repeats the lower median stands",
    True: "what the project's own benchmark prints",
}
"""Is it a project → what latency is."""


_AMD_PROFILER = "rocprofv3 (`kb profile run`, or a project's profile command: the loop itself starts ncu alone)"


def _kernel_file(demo: str) -> str:
    """Return the name that a kernel demo has in its workspace."""
    return "kernel.cu" if demo.endswith(".cu") else "kernel.py"


def _values(state: WorkspaceState) -> dict[str, str]:
    """Return the values that the plain blocks name; what nobody said is TBD."""
    task, problem, created = state.task, state.problem, state.created
    error = format_exact(problem.tolerance.rel_l2_err)
    project = task.project
    own = _REFERENCES[state.route] if project is None else f"the test command of {project.file}"
    if _kernel_file(task.kernel_demo) == "kernel.cu":
        own = f"the package's reference of {problem.op}"
    if problem.own is not None:
        own = f"reference.py, made of {problem.own.file} ({problem.own.source}); sha256 {problem.own.reference}"
    demo = (
        f"{task.kernel_demo} (copied to {_kernel_file(task.kernel_demo)}, sha256 {created.kernel})"
        if created.kernel
        else "none"
    )
    stated = {
        "platform": created.platform,
        "architecture": f"{task.arch} ({task.target})",
        "arch": task.arch,
        "framework": task.framework or ("none" if state.route == "roofline" else ""),
        "dtype": problem.dtype,
        "op": problem.op,
        "demo": demo,
        "shapes": ", ".join(problem.shape_names),
        "options": ", ".join(f"{name}={value}" for name, value in problem.options) or "none",
        "reference": task.reference or own,
        "limits": f"relative error <= {error}, SNR >= {problem.tolerance.snr_db} dB ({problem.tolerance.reason})",
        "threshold": error,
        "reference_project": task.reference_project or "none",
        "created": f"{state.times[1]}, kopt-kb {created.versions.get('kopt-kb', '')}",
    }
    return {name: value or TBD for name, value in stated.items()} | {
        "profiler": "ncu" if task.vendor == "NVIDIA" else _AMD_PROFILER,
        "latency": _CLOCKS[project is not None],
        "wiki": created.wiki.root,
        "stated": "" if problem.own is None else "".join(f"\n- {line}" for line in _stated(problem.own)),
        "route": f"- route: {route_text(state.route)}\n" if task.route is not None else "",
    }


def _stated(own: OwnProblem) -> list[str]:
    """Return what a problem outside the list says of itself besides."""
    works = {
        "declared": f"declared in {own.file}", "counted": "counted from the reference by torch's dispatcher",
        "recorded": f"counted from the IR of what {own.file} launches",
    }  # fmt: skip
    notes = [f"could not be derived, or was decided: {note}" for note in own.notes]
    return [f"dimensions: {own.form}", f"work: {works[own.origin]}", *notes]


def _hardware(state: WorkspaceState) -> str:
    lines = [f"- {spec_line(row)}" for row in state.specs.values()]
    for row in state.unknown.values():
        where = f" <- {citation(row.citation)}" if row.citation else ""
        lines.append(f"- {row.key}: {unknown_in(state, row)}{where}")
        if row.placeholder:
            lines.append(f"  - PLACEHOLDER {row.placeholder}: the user's stand-in, no part of any target")
    return "\n".join(lines) or TBD


def _roof_text(ceiling: RecordedCeiling, state: WorkspaceState) -> str:
    value = ceiling.roof
    if isinstance(value, RecordedUnknown):
        return f"{ceiling.name} UNKNOWN"
    basis = basis_name(ceiling.basis)
    number, unit = _plain(value.value), value.unit
    if is_second_edition(state) and unit in {"MB/s", "GB/s"} and value.si >= _TERA:
        number, unit = format_exact(value.si / _TERA), "TB/s"
    return f"{ceiling.name} {number} {unit} ({basis}, {', '.join(value.grades)})"


def _plain(value: float) -> str:
    return format_exact(Fraction(str(value)))


def _target_line(target: RecordedTarget, state: WorkspaceState) -> str:
    kind = "compute-bound" if target.metric == "compute" else "memory-bound"
    if target.value is None:
        rows = [row for row in state.unknown.values() if any(need.endswith(row.key) for need in target.needs or ())]
        missing = next((row for row in rows if row.citation is None), rows[0] if rows else None)
        return f"{kind} target: {unknown_words(has_row=False) if missing is None else unknown_in(state, missing)}"
    return f"{kind} target >= {_plain(target.value)} {target.unit}"


def _shape_section(state: WorkspaceState, roofline: RecordedRoofline) -> list[str]:
    work = roofline.work
    lines = [f"### {roofline.shape}", ""]
    for flop in work.flops:
        count = flop.useful
        lines.append(f"- useful operations: {count.value} ({flop.dtype} {flop.engine}, {_EXACTNESS[count.exactness]})")
    for each in work.bytes:
        count = each.compulsory
        shown = f"{count.value} ({_EXACTNESS[count.exactness]})"
        lines.append(f"- compulsory bytes, {each.level} {each.direction}: {shown}")
    total, moved = sum(flop.useful.value for flop in work.flops), roofline.amount_under(DRAM)
    lines.append(f"- arithmetic intensity = {total} / {moved} = {_plain(round(roofline.intensity, 6))} FLOP/B")
    ridge = "UNKNOWN" if roofline.ridge is None else f"{_plain(round(roofline.ridge, 6))} FLOP/B"
    lines += [f"- ridge point: {ridge}", f"- roofs: {'; '.join(_roof_text(c, state) for c in roofline.ceilings)}"]
    lines.append(f"- bound: {roofline.bound}" + (f", by the {roofline.limiter} roof" if roofline.limiter else ""))
    for name, value in sorted(roofline.attainable.items()):
        known = f"{_plain(round(float(value.si) / 1e12, 6))} TFLOPS" if isinstance(value, RecordedQuantity) else ""
        shown = known or "UNKNOWN"
        lines.append(f"- attainable under {attainable_words(name)}: {shown}")
    for target in roofline.targets:
        lines.append(
            f"- {_target_line(target, state)} = {_plain(target.factor)} x {basis_words(target.basis)} {target.name}"
        )
    lines += _floor_lines(state, roofline.shape)
    lines += [f"- note: {note}" for note in roofline.notes]
    return [*lines, *_reachable_lines(state, roofline), *gap_lines(state, roofline.shape), ""]


def _floor_lines(state: WorkspaceState, shape: str) -> list[str]:
    """Return the time below which a result is refused, and what the arithmetic adds to it; nothing before floors."""
    seconds = floor_s(state, cold=True).get(shape) if has_floors(state) else None
    if seconds is None:
        return []
    return [
        f"- floor: {duration(seconds)}, a shorter time is refused as impossible: {floor_text(state, shape, seconds)}"
    ]


def _reachable_lines(state: WorkspaceState, roofline: RecordedRoofline) -> list[str]:
    """Return what the machine reached on a shape, and that the target is above it; nothing where nobody measured."""
    seq = state.environment_seq or max(state.environments, default=0)
    found = state.reachable_of(seq).get(roofline.shape)
    if found is None:
        return []
    if found.rate_si is None:
        return [f"- reachable: not measured: {found.reason}"]
    device = state.environments[found.environment].device
    unit, scale = ("TFLOPS", 1e12) if found.roof != DRAM else ("GB/s", 1e9)
    if is_second_edition(state):
        unit, scale = ("TB/s" if found.roof == DRAM else "TFLOPS"), 1e12
    line = f"- reachable: {found.rate_si / scale:.6g} {unit}, {found.probe}, on {device} (event {found.environment})"
    condition = next((one for one in StopConditions.of(state).conditions if one.shape == roofline.shape), None)
    above = condition is not None and condition.roof == found.roof and condition.target_si > found.rate_si
    return [line + ("; the target is above it" if above else "")]


def gap_lines(state: WorkspaceState, shape: str) -> list[str]:
    """Return where the best version's time above the roof of a shape goes; nothing where nobody accounted for it."""
    gap = state.gaps_of(state.best).get(shape) if state.best is not None else None
    if gap is None or state.best is None:
        return []
    head, *parts = gap.text().splitlines()
    return [f"- {state.best.name}, {head}", *(f"  - {line.strip()}" for line in parts)]


def _roofline(state: WorkspaceState) -> str:
    rooflines = state.rooflines
    if not rooflines:
        return TBD
    texts = dict(rooflines[0].work.definitions)
    order = sorted(
        texts, key=lambda name: (_DEFINITIONS.index(name) if name in _DEFINITIONS else len(_DEFINITIONS), name)
    )
    lines = [f"- {name}: {texts[name]}" for name in order]
    lines += ["- bound: the roof with the largest least time; within 5 % of each other is balanced", ""]
    for one in rooflines:
        lines += _shape_section(state, one)
    return "\n".join(lines).rstrip()


def _rounded_down(value: Fraction, digits: int = 5) -> Fraction:
    """Return a positive number at so many significant digits and never above itself: who reaches it meets the limit."""
    step = Fraction(1)
    while value / step >= 10**digits:
        step *= 10
    while value / step < 10 ** (digits - 1):
        step /= 10
    return value // step * step


def _target_lines(state: WorkspaceState) -> list[str]:
    """Return each target once: those that bind a shape first, as they stand, then the others, named as not binding."""
    every = dict.fromkeys(_target_line(target, state) for one in state.rooflines for target in one.targets)
    if not is_second_edition(state):
        return list(every)
    binding = dict.fromkeys(
        _target_line(target, state) + _VENDORS.get(target.basis, "")
        for one in state.rooflines
        for target in (one.targets if one.bound == "unknown" else [one.target])
    )
    plain = {line.partition(", on ")[0] for line in binding}
    return [*binding, *(f"not binding: {line}" for line in every if line not in plain)]


_VENDORS = {"vendor_measured": ", on the vendor's own measurement: nothing is documented"}
"""What a target says of its basis besides."""


_STOP_HEAD = ("Shape", "Quantity", "Condition", "Factor", "Basis", "Grades", "Median latency")


def _stop(state: WorkspaceState) -> str:
    if state.targets is None:
        return TBD
    judged = {one.shape: one for one in StopConditions.of(state).conditions}
    rows: list[tuple[str, ...]] = []
    for one in state.targets.targets:
        grades = ", ".join(one.grades)
        condition = judged.get(one.shape or "")
        if one.quantity == AGGREGATE or condition is None:
            rows.append((one.shape or "all", "geomean of achieved / target", ">= 1", "-", "-", grades, "-"))
            continue
        latency = f"<= {format_exact(_rounded_down(condition.latency_s * 1000))} ms"
        quantity = f"{one.quantity} ({condition.roof})"
        rows.append((condition.shape, quantity, condition.target, one.factor, one.basis, grades, latency))
    return "\n".join(
        [
            *_target_lines(state), "", *table(_STOP_HEAD, rows),
            *(f"No condition for {shape}: {why}." for shape, why in without_condition(state).items()),
            "A rate is what counts under the named roof, operations of that engine or compulsory bytes of that level,",
            "over the median latency.",
            f"Set by event {state.targets_seq} ({state.targets.by}): {state.targets.reason}.",
            *([f"Its values are those of {wiki}."] if (wiki := wiki_of(state.targets)) else []),
            *_measured(state, judged),
        ]
    )  # fmt: skip


def _measured(state: WorkspaceState, conditions: Mapping[str, Condition]) -> list[str]:
    """Return what the best version reaches of each condition, and how far each time can be trusted.

    Nothing without one, for simulated times, those of another product, and journals that state no trust.
    """
    best = state.best
    if best is None or state.is_simulated(best):
        return []
    rows = []
    said = reached if is_second_edition(state) else "{:.3f}".format
    beyond = "below its floor" if has_floors(state) else "above its roof"
    for shape, one in best.own_records.items():
        machine, condition = state.environments.get(one.environment), conditions.get(shape)
        is_other = machine is not None and machine.is_other_than(state.created.platform)
        if condition is None or is_other or one.trust == "unstated":
            continue
        ratio, is_possible = condition.ratio(one.median_s), one.median_s >= condition.floor_s
        met = ("yes" if ratio >= 1 else "no") if is_possible else beyond
        time = f"{one.median_s * 1000:.6g} ms"
        rows.append((shape, f"v{best.number}", time, said(ratio), met, one.source.beside(one.trust), one.id))
    head = ("Shape", "Version", "Median latency", "Achieved / target", "Met", "Trust", "Record")
    own = [f"Of a project: {level_words(state, ())}."] if state.task.project is not None else []
    return ["", *table(head, rows), *own] if rows else []


def isa_goals(state: WorkspaceState) -> tuple[IsaTarget, ...]:
    """Return the ISA targets; matrix instructions are a goal only where the work has operations of that engine."""
    has_matrix = any(flop.engine == "matrix" for one in state.rooflines for flop in one.work.flops)
    return tuple(isa_targets(state.task.instructions, matrix_product=has_matrix))


def _isa(state: WorkspaceState) -> str:
    return "\n".join(f"- {goal.text}: {goal.reason}" for goal in isa_goals(state)) or TBD


_OWN = {"hardware-spec": _hardware, "roofline": _roofline, "stop-conditions": _stop, "isa-targets": _isa}


def render_blocks(state: WorkspaceState) -> dict[str, str]:
    """Return the body of every block of the README, from the state alone."""
    values = _values(state)
    plain = {name: text.format_map(values) for name, text in _PLAIN.items()}
    own = {name: render(state) for name, render in _OWN.items()}
    return {name: plain.get(name) or own[name] for name in BLOCKS}


def new_readme(state: WorkspaceState, notes: str) -> bytes:
    """Return the README of a new workspace; `notes` opens the section that belongs to people."""
    bodies = render_blocks(state)
    return _readme(state.created.name, notes, {name: render_block(name, bodies[name]) for name in BLOCKS})


def new_free_text(name: str, notes: str) -> bytes:
    """Return what stands outside of the blocks of a new workspace's README."""
    return _readme(name, notes, {})


def _readme(name: str, notes: str, blocks: Mapping[str, bytes]) -> bytes:
    parts = [f"# {name}\n\n".encode()]
    for block, heading in BLOCKS.items():
        if block == "tools":
            parts.append(f"## Additional Notes\n\n{notes.strip() or 'none'}\n\n".encode())
        parts += [f"## {heading}\n\n".encode(), blocks.get(block, b""), b"\n"]
    return b"".join(parts)
