"""The facts of one problem: its graph at full extents, and what a smaller version of it was seen to depend on."""

from __future__ import annotations

import operator
from collections import Counter
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

from kopt_kb.launch.compile.loader import load_module
from kopt_kb.packs.problem_sets.bounds.facts import InputFact, OperationFact, OutputFact, ProblemFacts
from kopt_kb.packs.problem_sets.bounds.masks import needed_elements
from kopt_kb.packs.problem_sets.bounds.needed import Needs, needs_of
from kopt_kb.packs.problem_sets.bounds.products import products_of
from kopt_kb.packs.problem_sets.bounds.traced import StartTensor, Traced, tensors_of_node, traced
from kopt_kb.packs.problem_sets.bounds.witness import ResultSeen, Witness, witness_of
from kopt_kb.packs.problem_sets.torch_formulas import formula_of
from kopt_kb.problem.dtypes import format_of

__all__ = ["established"]


def established(file: Path) -> ProblemFacts:
    """Return the facts of a problem's file; what its own code raises is raised.

    Args:
        file: With Model, get_inputs and get_init_inputs.
    """
    found = traced(load_module(str(file)))
    needs, unknown = needs_of(found)
    seen = witness_of(file.read_text(encoding="utf-8"), str(file))
    notes = [f"what {name} needs is not known" for name in unknown]
    if seen is None:
        notes.append("no smaller version of it runs: what its results depend on was not seen")
    inputs = tuple(_input(one, needs, seen) for one in found.given if not _is_counter(one))
    live = frozenset(one.name for one in inputs if one.needed_bytes and one.kind == "input")
    return ProblemFacts(
        inputs=inputs,
        outputs=tuple(_output(at, node, seen) for at, node in enumerate(found.results)),
        products=products_of(found, live),
        operations=tuple(_operations(found)),
        state_written_bytes=_state_written(found),
        notes=tuple(notes),
    )


def _is_counter(one: StartTensor) -> bool:
    """Return whether a buffer counts calls: no result rests on it, and adding one to it is no work."""
    return one.kind == "buffer" and one.tensor.ndim == 0 and not one.tensor.is_floating_point()


def _input(one: StartTensor, needs: Needs, seen: Witness | None) -> InputFact:
    total, size = int(one.tensor.numel()), int(one.tensor.element_size())
    elements = needed_elements(needs.get(one.node))
    parts = [] if elements == total else [f"{elements} of {total} elements are reached"]
    if one.drawn is not None and one.drawn.share < 1:
        elements = int(elements * one.drawn.share)
        parts.append(f"{one.drawn.why}: {float(one.drawn.share):.6g} of it is free")
    if seen is None or one.name not in seen.read:
        elements = 0
        share = 0.0 if seen is None else seen.partly.get(one.name, 0.0)
        parts.append(f"not shown to matter ({share:.0%} of its rows seen)" if share else "not shown to matter")
    else:
        parts.append(f"every row of every axis seen to matter ({seen.how})")
    return InputFact(
        one.name, one.kind, _dtype(one.tensor), _shape(one.tensor), total * size, elements * size, "; ".join(parts)
    )


def _output(at: int, node: Any, seen: Witness | None) -> OutputFact:
    tensor = node.meta["val"]
    total, size = int(tensor.numel()), int(tensor.element_size())
    shown = None if seen is None or at >= len(seen.results) else seen.results[at]
    elements, basis = _written(node, total, _shape(tensor), shown)
    return OutputFact(f"out{at or ''}", _dtype(tensor), _shape(tensor), total * size, elements * size, basis)


def _written(node: Any, total: int, shape: tuple[int, ...], shown: ResultSeen | None) -> tuple[int, str]:
    """Return how many elements of a result have to be written, and why."""
    name = _name(node)
    if node.op == "placeholder":
        return 0, "an input as it is"
    if shown is None or not shown.varying:
        return 0, "not seen to vary" if shown is None else "constant over all contents that were tried"
    repeated = prod(shape[axis] for axis in shown.repeated)
    if name in {"tril", "triu"} and len(shape) >= 2:
        return int(total * _kept(node, shape)), f"zeros of {name} are known"
    if shown.varying < 1:
        return 0, f"a part is constant ({shown.varying:.1%} seen to vary): which part is not known at full extents"
    return total // repeated, "equal along an axis" if repeated > 1 else "every element seen to vary"


def _kept(node: Any, shape: tuple[int, ...]) -> Fraction:
    rows, columns = shape[-2:]
    offset = int(node.args[1]) if len(node.args) > 1 else 0
    below = sum(min(max(row + offset + (_name(node) == "tril"), 0), columns) for row in range(rows))
    return Fraction(below if _name(node) == "tril" else rows * columns - below, rows * columns)


def _state_written(found: Traced) -> int:
    """Return the bytes of buffers that a call brings up to date, counters left out."""
    buffers = {one.node: one for one in found.given if one.kind == "buffer" and not _is_counter(one)}
    written = {node.args[0] for node in found.graph.nodes if _name(node) == "copy_"}
    for node in found.graph.nodes:  # batch normalisation in training writes its running statistics itself
        if "batch_norm" in _name(node) and len(node.args) > 5 and node.args[5] is True:
            written |= set(node.args[3:5])
    changed = [buffers[node].tensor for node in written if node in buffers]
    return sum(int(one.numel()) * int(one.element_size()) for one in changed)


# ---- work by operation -----------------------------------------------------------------------------


def _operations(found: Traced) -> list[OperationFact]:
    calls, flops, special = Counter[str](), dict[str, Counter[str]](), dict[str, Counter[str]]()
    counted: dict[str, bool] = {}
    counters = {one.node for one in found.given if _is_counter(one)}
    for node in found.graph.nodes:
        name = _name(node)
        if not name or node.target is operator.getitem or _is_free(node, counters):
            if counters & set(node.all_input_nodes):
                counters.add(node)
            continue
        formula = formula_of(node.target.overloadpacket)
        calls[name] += 1
        counted[name] = counted.get(name, True) and formula is not None
        amounts = None if formula is None else formula(_values(node.args), node.meta["val"])
        for dtype, engine, value in () if amounts is None else amounts.flops:
            flops.setdefault(name, Counter())[f"{dtype} {engine}"] += value
        for function, dtype, value in () if amounts is None else amounts.special:
            special.setdefault(name, Counter())[f"{function} {dtype}"] += value
    return [
        OperationFact(name, count, dict(flops.get(name, {})), dict(special.get(name, {})), counted[name])
        for name, count in calls.items()
    ]


def _is_free(node: Any, counters: set[Any]) -> bool:
    """Return whether a node is a view, an allocation, or the upkeep of a counter."""
    if not tensors_of_node(node) or counters & set(node.all_input_nodes):
        return True
    return bool(node.target.is_view) or _name(node) in {"copy_", "detach", "alias", "empty", "_unsafe_view"}


def _values(args: Any) -> Any:
    if hasattr(args, "meta"):
        return args.meta.get("val")
    if isinstance(args, tuple | list):
        return type(args)(_values(one) for one in args) if type(args) in (tuple, list) else [_values(x) for x in args]
    return args


def _name(node: Any) -> str:
    return str(node.target.overloadpacket.__name__) if hasattr(node.target, "overloadpacket") else ""


def _shape(tensor: Any) -> tuple[int, ...]:
    return tuple(map(int, tensor.shape))


def _dtype(tensor: Any) -> str:
    known = format_of(str(tensor.dtype))
    return known.dtype if known is not None else str(tensor.dtype).removeprefix("torch.")
