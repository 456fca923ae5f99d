"""Reading TTIR text: every printed form, both triton versions, and errors that name the line."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.triton import IrError, TensorArg, count_ir, parse_ttir

WRAP = "module {{\n  tt.func public @k(%n: i32, %p: !tt.ptr<f32>) {{\n{body}\n    tt.return\n  }}\n}}\n"


def ops(module, function=0):
    return [op.name for op in module.functions[function].body.entry.ops]


def parse(body: str):
    return parse_ttir(WRAP.format(body=body), file="k.ttir")


def test_every_saved_text_parses(ir_folder):
    """Optimised and unoptimised text of triton 3.6 and 3.9."""
    paths = sorted(ir_folder.glob("*.ttir"))
    assert len(paths) > 40
    for path in paths:
        module = parse_ttir(path.read_text(), file=path.name)
        assert module.kernel().body.entry.ops, path.name


def test_parameters_keep_names_and_types(ir_text):
    """vadd takes three fp32 pointers and an i32."""
    module = parse_ttir(ir_text("vadd"))
    kernel = module.kernel()
    assert kernel.parameter_names == ("x_ptr", "y_ptr", "out_ptr", "n")
    assert [module.types[value].kind for value in kernel.parameters] == ["pointer"] * 3 + ["scalar"]


def test_both_spellings_of_descriptors_are_one_type(ir_text):
    """triton 3.6 writes a tensor inside the descriptor, 3.9 only its shape."""
    for name in ("gemm_host_desc", "gemm_host_desc.3.9.0"):
        module = parse_ttir(ir_text(name))
        first = module.types[module.kernel().parameters[0]]
        assert (first.kind, first.shape, first.element) == ("descriptor", (128, 64), "f16")


def test_loops_carry_their_values(ir_text):
    """flash: a counter and three carried values, three results."""
    module = parse_ttir(ir_text("flash"))
    (loop,) = (op for op in module.kernel().body.entry.ops if op.name == "scf.for")
    assert len(loop.regions[0].entry.parameters) == 4
    assert [module.types[value].shape for value in loop.results] == [(128,), (128,), (128, 64)]
    assert len(loop.operands) == 6


def test_while_has_a_before_and_an_after_region(ir_text):
    """The condition comes last in the first region; sibling regions may reuse names."""
    module = parse_ttir(ir_text("while_data"))
    (loop,) = (op for op in module.kernel().body.entry.ops if op.name == "scf.while")
    before, after = loop.regions
    assert before.entry.ops[-1].name == "scf.condition"
    assert after.entry.ops[-1].name == "scf.yield"
    assert len(loop.results) == 2


def test_branches_name_their_blocks(ir_text):
    """An early return is a conditional branch to two labelled blocks."""
    module = parse_ttir(ir_text("early_return"))
    kernel = module.kernel()
    assert [block.label for block in kernel.body.blocks] == ["bb0", "bb1", "bb2"]
    assert [target.label for target in kernel.body.entry.ops[-1].successors] == ["bb1", "bb2"]


def test_combine_regions_belong_to_their_reduction(ir_text):
    """argmax reduces values and indices with one region of eight operations."""
    module = parse_ttir(ir_text("scan_and_argmax"))
    (reduce,) = (op for op in module.kernel().body.entry.ops if op.name == "tt.reduce")
    assert len(reduce.results) == 2
    assert reduce.integer("axis") == 0
    assert len(reduce.regions[0].entry.parameters) == 4


def test_calls_name_their_callee_even_when_quoted(ir_text):
    """Unoptimised text calls functions whose symbols hold brackets and commas."""
    module = parse_ttir(ir_text("softmax.3.6.0.source"))
    callees = {op.detail["callee"] for op in module.kernel().body.entry.ops if op.name == "tt.call"}
    assert callees <= {function.name for function in module.functions}
    assert callees


def test_locations_of_any_depth_are_ignored():
    """Locations sit behind operations, block parameters and function parameters."""
    body = '    %c = arith.constant 3 : i32 loc(callsite("a b"("f.py":1:2) at #loc3))'
    assert ops(parse(body)) == ["arith.constant", "tt.return"]


def test_strings_may_hold_anything():
    """An assembly string with braces, colons, percent signs and an escaped quote."""
    body = (
        "    %c = arith.constant dense<1.0> : tensor<8xf32>\n"
        r'    %d = tt.elementwise_inline_asm "{ add %0, \"x\" : y; }" {constraints = "=r,r", packed_element = 1 : i32,'
        " pure = true} %c : tensor<8xf32> -> tensor<8xf32>"
    )
    module = parse(body)
    asm = module.kernel().body.entry.ops[1]
    assert asm.name == "tt.elementwise_inline_asm"
    assert asm.attributes["constraints"] == "=r,r"
    assert len(asm.operands) == 1


def test_loop_attributes_may_follow_the_body():
    """`tl.range(num_stages=3)` prints its attributes after the closing brace."""
    body = (
        "    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n"
        "    scf.for %i = %c0 to %n step %c1  : i32 {\n    } {tt.num_stages = 3 : i32}"
    )
    loop = parse(body).kernel().body.entry.ops[2]
    assert loop.attributes["tt.num_stages"] == "3 : i32"


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("    %a = arith.addi %n, %missing : i32", "%missing is used before it is defined"),
        ("    %a = arith.addi %n, %n : widget<3", "cannot read its types"),
        ("    ???", "cannot read"),
        ("    scf.for %i in range {\n    }", "scf.for header"),
        ("    scf.while nonsense {\n    }", "scf.while header"),
    ],
)
def test_errors_say_file_line_and_remedy(body, what):
    """The offending line is the third of the text."""
    with pytest.raises(IrError, match=what) as caught:
        parse(body)
    assert caught.value.where == "k.ttir:3"
    assert caught.value.fix


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no tt.func"),
        ("#loc = loc(unknown)\nmodule {\n}\n", "no tt.func"),
        ("define void @f() {\n}\n", "define outside a function"),
        ("module {\n  tt.func public @k(%n: i32) {\n", "ends inside a region"),
        ("module {\n  tt.func public @k(%n: i32)\n}", "does not open a body"),
    ],
)
def test_texts_that_are_no_module_are_refused(text, what):
    """Empty text, LLVM IR, a cut-off file and a declaration."""
    with pytest.raises(IrError, match=what):
        parse_ttir(text, file="k.ttir")


def test_the_only_public_function_is_the_kernel(ir_text):
    """A named function is found; an unknown name lists what there is."""
    module = parse_ttir(ir_text("calls_function"))
    assert module.kernel().name == "calls_function"
    assert module.kernel("calls_function") is module.kernel()
    with pytest.raises(IrError, match="no function nope"):
        module.kernel("nope")


def test_an_assembly_without_operands_names_its_result_alone():
    """As `gdc_wait` prints it; what it computes is not counted, what stands beside it is."""
    text = """module {
  tt.func public @k(%x: !tt.ptr<f32>) {
    %0 = tt.elementwise_inline_asm "griddepcontrol.wait; // dummy $0" {constraints = "=r", pure = false} -> i32
    %cst = arith.constant 1.000000e+00 : f32
    tt.store %x, %cst : !tt.ptr<f32>
    tt.return
  }
}
"""
    counted = count_ir(text, (1,), {0: TensorArg((1,), "fp32")}, mode="exact")
    assert counted.kernels[0].written.compulsory.value == 4
