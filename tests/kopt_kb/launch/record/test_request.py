"""Requests and answers travel as JSON and come back equal."""

from __future__ import annotations

import json

import pytest

from kopt_kb.base.wire import WireError, canonical, read
from kopt_kb.launch.record.request import CallRequest, MakerAnswer, MakerRequest, OpRequest, Refusal, TensorArgument


@pytest.mark.parametrize(
    "what",
    [
        OpRequest("kernels/rms_norm.py", (4, 8), "bf16", {"VARIANT": "two_pass", "num_warps": 8}),
        CallRequest(
            "a.b:c",
            {
                "x": TensorArgument((4,), "bf16", (2,)),
                "n": 4,
                "word": "mean",
                "parts": (16, 24),
                "eps": 1e-6,
                "flag": True,
                "none": None,
            },
        ),
    ],
)
def test_a_request_comes_back(what: OpRequest | CallRequest) -> None:
    """Numbers, words, tensors, true and none keep their types."""
    request = MakerRequest(what, "sm_90", "Test", {"multi_processor_count": 4}, "/somewhere", 1)
    assert read(MakerRequest, json.loads(canonical(request.to_json())), where="request") == request


def test_an_answer_with_more_than_the_schema_is_refused() -> None:
    """A maker is trusted with nothing."""
    body = json.loads(canonical(MakerAnswer(refusal=Refusal("KB445", "fails")).to_json()))
    assert read(MakerAnswer, body, where="answer").refusal == Refusal("KB445", "fails")
    with pytest.raises(WireError):
        read(MakerAnswer, {**body, "passed": True}, where="answer")
