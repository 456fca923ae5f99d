"""Fields out of sentences; what could mean several things is said, never chosen."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.coordination.routing.prompt import read_prompt
from kopt_kb.wiki.registry import Registry

NAMES = Registry.open().wiki.names


def test_a_whole_sentence() -> None:
    """As people write it."""
    found = read_prompt(
        "Optimize my rms_norm in demo/norm.py on H20, written in CuteDSL, bf16, 8192x4096 and 16 x 32", NAMES
    )
    assert (found.platform, found.framework, found.op, found.dtype) == ("H20", "CuteDSL", "rms_norm", "bf16")
    assert (found.shapes, found.kernel_demo) == (("8192x4096", "16x32"), "demo/norm.py")
    assert (found.missing, found.doubtful) == ((), ())


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("make it fast", {"--platform", "--framework", "--kernel-demo", "--op", "--dtype", "--shape"}),
        ("softmax on MI300X in Triton", {"--kernel-demo", "--dtype", "--shape"}),
        ("rms_norm on MI355X in HIP, fp16 64x64, k.hip, > 60 % of peak", set()),
    ],
)
def test_what_is_missing_is_listed(text: str, missing: set[str]) -> None:
    """All of it at once."""
    assert set(read_prompt(text, NAMES).missing) == missing


def test_what_could_mean_several_things() -> None:
    """A family of products, two types, two languages: nothing is chosen."""
    found = read_prompt("gemm on H100 in Triton or FlyDSL, bf16 or fp8", NAMES)
    assert (found.platform, found.framework) == ("", "")
    assert any(one.startswith("platform: H100 may be") for one in found.doubtful)
    assert "framework: Triton or FlyDSL" in found.doubtful
    with pytest.raises(BadInput):
        read_prompt("  ", NAMES)
