"""What a kernel wants to be given."""

from __future__ import annotations

from kopt_kb.analysis.ir.triton import count_ir, describe, parse_ttir


def test_required_parameters_suffice_for_a_count(ir_folder):
    """Every saved kernel counts in shape mode with exactly the numbers that are called required."""
    for path in sorted(ir_folder.glob("*.ttir")):
        module = parse_ttir(path.read_text(), file=path.name)
        (kernel,) = describe(module)
        args = {parameter.index: 64 for parameter in kernel.parameters if parameter.required}
        assert count_ir(module, 2, args).kernels[0].name == kernel.name


def test_parameters_are_described(ir_text):
    """rmsnorm in exact mode: pointers are optional, cols is not, eps changes no address."""
    (kernel,) = describe(parse_ttir(ir_text("rmsnorm")), "exact")
    assert [(p.name, p.kind, p.dtype, p.required) for p in kernel.parameters] == [
        ("x_ptr", "pointer", "fp16", False),
        ("w_ptr", "pointer", "fp16", False),
        ("out_ptr", "pointer", "fp16", False),
        ("cols", "scalar", "int32", True),
        ("eps", "scalar", "fp32", False),
    ]


def test_descriptors_show_their_block(ir_text):
    """As JSON."""
    (kernel,) = describe(parse_ttir(ir_text("gemm_host_desc")))
    assert kernel.to_json()["parameters"][0] == {
        "index": 0, "name": "a_desc", "kind": "descriptor", "dtype": "fp16", "block": [128, 64], "required": False,
    }  # fmt: skip
