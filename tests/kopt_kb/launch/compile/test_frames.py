"""Claims about what a worker and its parent say to each other."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.frames import MAX_FRAME_BYTES, asked, outcome_of, read_frame, request_of, said
from kopt_kb.launch.compile.request import Compilation, CompileFailed, CompileRequest, KernelCase, OpCase

pytestmark = pytest.mark.core
MADE = Compilation(
    name="k", target="sm_90", assembly="", ptx=".entry k()", ttir="tt.func", assembler_log="", metadata={"shared": 4},
    specialisation={"x": {"type": "*bf16", "tt.divisibility": 16}}, constexprs={"B": 16, "E": "inf"}, options={"maxnreg": 64},
    versions={"triton": "3.6.0"}, seconds={"compile": 0.25}, grid=(4,), binary=b"\x7fELF\x00\n\xff",
    arguments=(("x", TensorSpec((4, 4), "bf16", (8, 1))), ("n", 7), ("flag", True), ("eps", 1e-6), ("low", "-inf"), ("p", None)),
)  # fmt: skip


def _through(frame: bytes) -> tuple[bytes, bytes]:
    stream = io.BytesIO(frame)
    return read_frame(stream.readline()[:-1], stream.read)


@pytest.mark.parametrize(
    "request_",
    [
        CompileRequest(OpCase("f.py", (8, 8), "bf16", {"BLOCK": 128, "HOW": "fast"}), "sm_90", False, 1 << 16),
        CompileRequest(KernelCase("f.py", "k", (TensorSpec((4,), "fp16", None, (4,)), 3, None), {"B": 64}), "gfx942"),
        CompileRequest(KernelCase("f.py", "k", {"x": TensorSpec((4,), "fp16"), "e": "nan"}), "sm_80"),
    ],
)
def test_requests_come_back(request_: CompileRequest) -> None:
    """With the order of their names; two in one stream, then its end."""
    stream = io.BytesIO(asked(request_) * 2)
    found = request_of(stream)
    assert found == request_ == request_of(stream)
    with pytest.raises(EOFError):
        request_of(stream)


def test_kernels_come_back_with_their_code() -> None:
    """Equal in every member, bytes included, in the order of their names; several kernels keep theirs apart."""
    both = [MADE, replace(MADE, name="l", binary=b"xy")]
    found = outcome_of(*_through(said(both)))
    assert found == both
    assert isinstance(found, list)
    assert list(found[0].constexprs) == ["B", "E"]


@pytest.mark.parametrize(
    "error",
    [
        BadInput("no such file", where="f.py", code="KB110"),
        MissingTool("triton is not installed", where="compile", fix="install it", code="KB120"),
        CompileFailed.of("shared_memory", "needs 300000 B", where="f.py:k"),
    ],
)
def test_errors_come_back(error: KoptError) -> None:
    """Kind, code, what, where and remedy."""
    found = outcome_of(*_through(said(error)))
    assert type(found) is type(error)
    assert (str(found), found.error_code) == (str(error), error.error_code)  # type: ignore[union-attr]


@pytest.mark.parametrize("cut", [0, 3, 12, 60])
def test_a_cut_stream_is_the_end(cut: int) -> None:
    """A dead writer is an EOFError, wherever it died."""
    with pytest.raises(EOFError):
        request_of(io.BytesIO(asked(CompileRequest(OpCase("f.py", (8,), "bf16"), "sm_90"))[:cut]))


@pytest.mark.parametrize(
    ("document", "behind"),
    [
        (b"[]", b""),
        (b'{"kernels": [], "binaries": [], "failed": null, "more": 1}', b""),
        (
            b'{"kernels": [], "binaries": [], "failed": {"kind": "own", "what": "", "where": "", "fix": "", "code": ""}}',
            b"",
        ),
        (b'{"kernels": [], "binaries": [4], "failed": null}', b"abcd"),
        (b'{"kernels": [], "binaries": [4], "failed": null}', b""),
        (
            b'{"kernels": [], "binaries": [], "failed": {"kind": "bad input", "what": "", "where": "", "fix": "", "code": "?"}}',
            b"",
        ),
        (b"cposix\nsystem\n", b""),
    ],
)
def test_what_a_worker_may_not_say(document: bytes, behind: bytes) -> None:
    """It imported a foreign file: whatever is no answer by its types is refused, and runs nothing."""
    with pytest.raises((KoptError, ValueError)):
        outcome_of(document, behind)


@pytest.mark.parametrize("line", [b"", b"1", b"a b", b"1 2 3", b"-1 4", b"%d 1" % MAX_FRAME_BYTES, b"\xff 1"])
def test_heads_that_are_none(line: bytes) -> None:
    """Sizes are checked before anything of that size is read."""
    with pytest.raises(ValueError, match=r"frame|invalid|decode"):
        read_frame(line, lambda count: pytest.fail(f"read {count}"))


def test_what_has_no_document_is_refused() -> None:
    """An object among the constants, a number beyond JSON: one error that names the file."""
    for constants in ({"B": object()}, {"B": float("inf")}):
        with pytest.raises(BadInput, match="can't be written down"):
            asked(CompileRequest(KernelCase("f.py", "k", (), constants), "sm_90"))
