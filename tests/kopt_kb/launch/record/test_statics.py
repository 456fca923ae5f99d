"""What is kept of the compiler's word survives the way to a file and back."""

from __future__ import annotations

import json
from typing import get_type_hints

from kopt_kb.base.wire import canonical, plain, read
from kopt_kb.base.wire_direct import direct
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.request import Compilation
from kopt_kb.launch.record.request import CallRequest, MakerRequest, TensorArgument
from kopt_kb.launch.record.statics import StaticLaunch, Statics


def test_statics_are_read_back_as_written() -> None:
    """Arguments with their values, numbers that JSON lacks, and the request that would record them again."""
    lengths = TensorSpec((2,), "int32", values=(3, 4))
    made = Compilation(
        "k", "sm_90", "", "", "module {}", "", {"shared": 0}, {}, {}, {}, {}, {}, (1, 1, 1),
        (("lengths", lengths), ("scale", "inf"), ("weight", None)),
    )  # fmt: skip
    call = CallRequest("m:f", {"x": TensorArgument((2,), "i32")})
    told = Statics(
        MakerRequest(call, "sm_90", "H20", {"warp_size": 32}, "", statics=True), (StaticLaunch("0" * 64, 2, made),)
    )
    assert read(Statics, json.loads(canonical(told.to_json())), where="test") == told


def test_what_the_compiler_said_of_arguments_is_read_without_pydantic() -> None:
    """A machine that records for a caller has the core's own packages at most."""
    kind = get_type_hints(Compilation)["specialisation"]
    document = {"x": {"type": "*fp16", "tt.divisibility": 16}, "BLOCK": {"type": "constexpr"}}
    assert direct(kind, document) == document == plain(read(kind, document))


def test_statics_of_an_earlier_version_keep_their_tile_ir() -> None:
    """A document had one member for it, empty where there was none."""
    made = Compilation("k", "sm_90", "", "", "", "", {}, {}, {}, {}, {}, {}, dialects={"tile": "entry @k"})
    launch = StaticLaunch("0" * 64, 1, made)
    for text, dialects in (("entry @k", {"tile": "entry @k"}), ("", {})):
        document = json.loads(canonical(launch.to_json()))
        del document["compilation"]["dialects"]
        document["compilation"]["tile_ir"] = text
        assert read(StaticLaunch, document).compilation.dialects == dialects
