"""Static facts: needed values, block summaries, and which arguments a pointer can come from."""

from __future__ import annotations

from kopt_kb.analysis.ir.triton import parse_ttir
from kopt_kb.analysis.ir.triton.plan import accesses, make_plan


def plan_of(text, mode="shape"):
    module = parse_ttir(text)
    kernel = module.kernel()
    return make_plan(module, kernel, mode), kernel


def needed_parameters(plan, kernel):
    pairs = zip(kernel.parameter_names, kernel.parameters, strict=True)
    return {name for name, value in pairs if value in plan.required}


def test_shape_mode_needs_only_what_control_depends_on(ir_text):
    """GEMM trip counts depend on k alone; a straight kernel on nothing."""
    assert needed_parameters(*plan_of(ir_text("gemm"))) == {"k"}
    assert needed_parameters(*plan_of(ir_text("vadd"))) == set()


def test_exact_mode_needs_addresses_and_masks(ir_text):
    """All of a GEMM's arguments; of rmsnorm everything but its epsilon."""
    plan, kernel = plan_of(ir_text("gemm"), "exact")
    assert needed_parameters(plan, kernel) == set(kernel.parameter_names)
    assert needed_parameters(*plan_of(ir_text("rmsnorm"), "exact")) == {"x_ptr", "w_ptr", "out_ptr", "cols"}


def test_pointers_are_traced_to_their_arguments(ir_text):
    """Through loops, selects and calls."""
    plan, _ = plan_of(ir_text("select_pointer"))
    assert frozenset({0, 1}) in plan.roots.values()
    plan, _ = plan_of(ir_text("gemm_moving_pointers"))
    assert set(plan.roots.values()) == {frozenset({0}), frozenset({1}), frozenset({2})}
    plan, _ = plan_of(ir_text("calls_function"))
    assert frozenset({1}) in plan.roots.values()


def test_a_block_summary_adds_up_its_operations(ir_text):
    """vadd: 1024 additions, two loads and a store that a mask may shrink."""
    plan, kernel = plan_of(ir_text("vadd"))
    summary = plan.summary(kernel.body.entry)
    assert summary.cost == {("flops", "fp32", "vector"): 1024}
    assert [(a.directions, a.full_bytes, a.partial) for a in summary.accesses] == [
        (("read",), 4096, True), (("read",), 4096, True), (("written",), 4096, True),
    ]  # fmt: skip
    assert plan.most_lanes == 1024


def test_atomics_go_both_ways(ir_text):
    """Adding to memory reads and writes it."""
    module = parse_ttir(ir_text("histogram_atomic"))
    found = [accesses(op, module) for op in module.kernel().body.entry.ops]
    both = [access for access in found if access is not None and len(access.directions) == 2]
    assert [access.full_bytes for access in both] == [64, 4, 4]


def test_unmasked_loads_are_not_partial(ir_text):
    """A load without a mask asks for all its lanes; a descriptor clips at the edge."""
    plan, kernel = plan_of(ir_text("gather_lanes"))
    assert not any(access.partial for access in plan.summary(kernel.body.entry).accesses)
    plan, kernel = plan_of(ir_text("gemm_desc"))
    assert all(access.partial for access in plan.summary(kernel.body.entry).accesses)
