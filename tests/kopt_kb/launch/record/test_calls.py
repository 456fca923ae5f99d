"""What a call is given: tensors, lists of them, torch's own objects, numbers that JSON lacks."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.triton]
torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.launch.compile.device import DeviceFacts  # noqa: E402
from kopt_kb.launch.record.calls import call_of  # noqa: E402
from kopt_kb.launch.record.request import CallRequest, MakerRequest, TensorArgument  # noqa: E402
from kopt_kb.launch.record.trace import CallTrace  # noqa: E402

FACTS = DeviceFacts("Test", "sm_90")
LAUNCHERS = str(Path(__file__).resolve().parents[3] / "data" / "tuned_launchers.py")


def asked(**arguments) -> MakerRequest:
    """A call of a launcher."""
    return MakerRequest(CallRequest(f"{LAUNCHERS}:doubled", arguments), "sm_90", "Test", {}, "")


def test_arguments_become_what_they_say() -> None:
    """Values are kept beside a tensor, and why a replay lacks them."""
    trace, tensor = CallTrace(FACTS), TensorArgument((2,), "i32", None, (3, 4))
    given = {"x": tensor, "many": (TensorArgument((2, 2), "fp16"),) * 2, "sizes": (1, 2), "to": "torch.float16"}
    call, label = call_of(asked(**given, top="float.inf", low="float.-inf", how="mean"), trace)
    found = call.arguments
    assert trace.known.integers(found["x"]) == (3, 4)
    assert [tuple(one.shape) for one in found["many"]] == [(2, 2), (2, 2)]
    assert (found["sizes"], found["to"], found["how"]) == ((1, 2), torch.float16, "mean")
    assert (found["top"], found["low"]) == (math.inf, -math.inf)
    assert label.endswith(":doubled")
    assert trace.reasons == ["values of tensors were given, which a replay does not fill in"]


def test_a_function_that_is_not_there_is_said() -> None:
    """Before anything runs."""
    request = MakerRequest(CallRequest(f"{LAUNCHERS}:nothing"), "sm_90", "Test", {}, "")
    with pytest.raises(BadInput, match="has no function nothing"):
        call_of(request, CallTrace(FACTS))
