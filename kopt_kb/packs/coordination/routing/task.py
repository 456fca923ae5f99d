"""Which specialists do a task, in which order and by which commands, and what is not to be had."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from kopt_kb.analysis.frameworks import frameworks, kernels_of
from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input
from kopt_kb.base.wire import Wire
from kopt_kb.doors.language import plain_name
from kopt_kb.launch.kernel.declared import packaged_file
from kopt_kb.packs.coordination.routing.intent import Intent, read_intent
from kopt_kb.packs.coordination.routing.specialists import (
    CATEGORIES,
    CUTE_TARGETS,
    NOT_THE_SAME,
    SAFETY_RULES,
    SPECIALISTS,
    Availability,
    Specialist,
    TaskCategory,
)

__all__ = ["Delegation", "TaskRoute", "route_task"]

_MATRIX_PRODUCTS = ("gemm", "batched_gemm", "grouped_gemm", "gemm_bias_act", "int4_gemm", "fp8_gemm")


@dataclass(frozen=True, slots=True)
class Delegation(Wire):
    """One delegation.

    Attributes:
        specialist: Who does it.
        does: What is asked of it.
        availability: Whether kb does it itself, drives a command of yours, or nobody does it.
        command: What to run; empty where nobody does it.
        why: The rule that chose it.
    """

    specialist: str
    does: str
    availability: Availability
    command: str
    why: str


@dataclass(frozen=True, slots=True)
class TaskRoute(Wire):
    """The answer to a task.

    Attributes:
        task: As it was said.
        category: What it asks for.
        op: Operation that it names; empty without one.
        target: Target of the hardware; empty where it was not said.
        answer: The least of the steps' availabilities, or a hardware gate that refuses.
        steps: In order; each needs the one before.
        refused: Hardware gates that do not hold, a clause each.
        notes: What else is to be known.
        rules: What holds for every task.
        context: Where all steps run; empty: here.
    """

    task: str
    category: TaskCategory
    op: str
    target: str
    answer: Availability
    steps: tuple[Delegation, ...]
    refused: tuple[str, ...]
    notes: tuple[str, ...]
    rules: tuple[str, ...] = SAFETY_RULES
    context: str = ""


def route_task(
    text: str, *, target: str = "", kernel: Path | None = None, commands: Collection[str] = (), context: str = ""
) -> TaskRoute:
    """Return who does a task.

    Args:
        text: The request.
        target: Target of the hardware, such as sm_90 or gfx942; empty: not said.
        kernel: An existing kernel; its language is read from the file, which is not run.
        commands: Commands that kb has.
        context: Words that run a command where the work is done; every step gets the same ones.

    Raises:
        BadInput: The words ask for two languages or for nothing that anybody here does.
    """
    intent = read_intent(text)
    language = _language(kernel) if kernel is not None else None
    if language is not None:
        intent = replace(intent, has_kernel=language == "triton", source=language)
    if intent.category is None:
        fix = "name a kernel, a language, CUDA graphs, profiling or parallelism"
        raise BadInput(f"nobody is known for {text[:80]!r}", where="kb route task", fix=fix, code="KB102")
    if intent.category == "other_language" and target.startswith("sm_") and "cuda" not in text.casefold():
        what = f"HIP, CK and FlyDSL build for AMD, and {target} is NVIDIA's"
        raise BadInput(what, where="kb route task", fix="name another language or platform", code="KB103")
    chosen, why, category = _chosen(intent, target)
    given = kernel is not None
    steps = tuple(_step(SPECIALISTS[name], intent, why, commands, text, target, given=given) for name in chosen)
    steps = _delegations(steps, category)
    refused = tuple(gate for name in chosen if (gate := _gate(SPECIALISTS[name], intent, target)))
    order: tuple[Availability, ...] = ("not_available", "outside", "built_in")
    answer = "not_available" if refused else min((one.availability for one in steps), key=order.index)
    return TaskRoute(
        text, category, intent.op, target, answer, steps, refused, _notes(intent, category, target), context=context
    )


_CUTE = "kernel-cute-specialist"


def _language(kernel: Path) -> TaskCategory:
    """Return the language of a kernel file; raises `BadInput` where it holds no kernel that can be recognised."""
    source = read_input(kernel, 1 << 20)
    names: dict[str, TaskCategory] = {"triton": "triton", "gluon": "triton", "cutedsl": "cute_dsl", "cutile": "cutile"}
    try:
        for framework in frameworks():
            if kernels_of(source, framework):
                return names.get(plain_name(framework.name), "other_language")
    except (SyntaxError, ValueError) as error:
        raise BadInput("the kernel is not valid Python", where=str(kernel), fix="fix the file", code="KB116") from error
    fix = f"a function decorated as one of {', '.join(one.mark for one in frameworks())}"
    raise BadInput("the file holds no kernel", where=str(kernel), fix=fix, code="KB116")


def _chosen(intent: Intent, target: str) -> tuple[tuple[str, ...], str, TaskCategory]:
    """Return who does it, by which rule, and the category: a language that is named comes before the hardware."""
    category = intent.category or "kernel"
    if category == "tileir":
        if intent.has_kernel:
            return ("kernel-tileir-specialist",), "a Triton kernel is there: the second step alone", category
        return CATEGORIES["tileir"], "TileIR never writes kernels: Triton first, then TileIR", category
    if category != "kernel":
        return CATEGORIES[category], f"the task names {category.replace('_', ' ')}", category
    if not target:
        return ("perf-profiling-specialist", "kernel-triton-specialist"), "a profile says what to write", "kernel"
    return _by_hardware(intent, target)


def _by_hardware(intent: Intent, target: str) -> tuple[tuple[str, ...], str, TaskCategory]:
    """Return who does it where no language is named."""
    number = _number(target)
    if number is None:
        return ("kernel-triton-specialist",), f"{target} is AMD's: Triton is what kb writes there", "triton"
    if number >= (_number(SPECIALISTS["kernel-tileir-specialist"].least) or 0):
        if intent.has_kernel:
            return ("kernel-tileir-specialist",), f"{target} is Blackwell, and a kernel is there", "tileir"
        return CATEGORIES["tileir"], f"{target} is Blackwell, and the kernel is new", "tileir"
    return ("kernel-triton-specialist",), f"{target} is before Blackwell: Triton, or CuTe DSL by a command", "triton"


def _number(target: str) -> int | None:
    found = re.fullmatch(r"sm_(\d+)[af]?", target)
    return int(found[1]) if found else None


def _step(
    specialist: Specialist, intent: Intent, why: str, commands: Collection[str], text: str, target: str, *, given: bool
) -> Delegation:  # fmt: skip
    """Return a delegation as the commands at hand allow it."""
    availability, command = specialist.availability, specialist.command
    if specialist.needs and specialist.needs not in commands:
        availability, command = "outside", "kb tune run WORKSPACE --proposer COMMAND"
    if specialist.name == "kernel-cutile-specialist" and not intent.has_kernel and intent.op and not given:
        is_packaged = packaged_file(intent.op, "cutile") is not None
        command = command.replace("FILE", f"op:cutile/{intent.op}") if is_packaged else command
    if specialist.name == _CUTE and given and intent.source == "cute_dsl":
        availability = "built_in"
    elif specialist.name == _CUTE and _has_cute(intent.op, target):
        availability, command = "built_in", command.replace("FILE", f"op:cute/{intent.op}")
    elif specialist.name == _CUTE:
        command = f"{command} --proposer COMMAND"
        why = f"{why}; kb has no CuTe DSL kernel of {intent.op or 'this'} there, a command of yours writes it"
    writes_new = specialist.name == "kernel-triton-specialist" and not intent.has_kernel
    if writes_new and intent.op and packaged_file(intent.op) is not None:
        command = command.replace("--kernel-demo FILE", f"--kernel-demo op:{intent.op}")
    elif writes_new:
        availability, command = "outside", f"{command} --proposer COMMAND"
        why = f"{why}; kb has no kernel of {intent.op or 'this'}, a command of yours writes it"
    return Delegation(specialist.name, f"{specialist.does}: {text}"[:300], availability, command, why)


def _delegations(steps: tuple[Delegation, ...], category: TaskCategory) -> tuple[Delegation, ...]:
    """Return the steps of a CUDA graph as its three delegations: look, apply, measure; others as they are."""
    if category != "cuda_graph":
        return steps
    look = steps[0]
    can = look.availability == "built_in"
    apply = replace(
        look, does="capture, replay, verify", command="kb graph write FILE --out FILE" if can else look.command
    )
    measure = SPECIALISTS["perf-profiling-specialist"]
    told = "latency before and after; more than 5 % slower is reverted"
    return look, apply, Delegation(measure.name, told, measure.availability, "python FILE --out DIR", look.why)


def _has_cute(op: str, target: str) -> bool:
    """Whether the package has a CuTe DSL kernel of an operation for a target; without a target, for any."""
    return op in CUTE_TARGETS and (not target or (_number(target) is not None and CUTE_TARGETS[op] in {"", target}))


def _gate(specialist: Specialist, intent: Intent, target: str) -> str:
    """Return the hardware gate that a target fails; empty where it holds, or the target was not said."""
    op = intent.op
    if not target or (specialist.name == _CUTE and CUTE_TARGETS.get(op) == target):
        return ""
    number = _number(target)
    if number is None:
        return "" if specialist.amd else f"{specialist.name} has nothing for {target}"
    least = specialist.least_gemm if specialist.least_gemm and op in _MATRIX_PRODUCTS else specialist.least
    needed = _number(least) or 0
    what = f" of {op}" if least != specialist.least else ""
    return f"{specialist.name} needs {least} or later{what}, {target} is older" if number < needed else ""


def _notes(intent: Intent, category: TaskCategory, target: str) -> tuple[str, ...]:
    notes = []
    if category in {"tileir", "cute_dsl", "cutile"}:
        notes.append(NOT_THE_SAME)
    if category == "tileir" and intent.has_kernel is None and intent.category == "tileir":
        notes.append("with --kernel FILE the first step falls away")
    if category == "tileir" and (_number(target) or 0) >= 120:
        notes.append(f"{target} has no tensor memory: two-CTA configurations are for sm_100 and sm_103")
    if category == "cute_dsl" and CUTE_TARGETS.get(intent.op) == target != "":
        other = SPECIALISTS[_CUTE].least_gemm
        notes.append(f"the package's own {intent.op} is for {target} alone; new products are written from {other} on")
    if category == "kernel":
        notes.append("name the hardware by --platform, and the language follows from it")
    if category in {"distributed", "parallelism"}:
        notes.append("kb judges one kernel on one device; nothing here changes how a job is spread over devices")
    return tuple(notes)
