"""How a code object was compiled is a document; its options are an allow-list."""

from __future__ import annotations

from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.record.code_request import OPTIONS, CodeRequest


def test_a_request_comes_back_equal() -> None:
    """Through bytes."""
    one = CodeRequest(
        "Triton",
        "/k.py",
        "k",
        "k",
        {"x": "*fp16"},
        {"3.1": 4},
        {"0": {"tt.divisibility": 16}},
        {"num_warps": 4},
        ("a",),
    )
    assert read(CodeRequest, parse(canonical(one.to_json()), where="x"), where="x") == one


def test_no_option_replaces_code() -> None:
    """None that names a file, a library or words for the assembler."""
    assert not OPTIONS & {"ir_override", "extern_libs", "ptx_options", "arch", "instrumentation_mode", "ptx_version"}
