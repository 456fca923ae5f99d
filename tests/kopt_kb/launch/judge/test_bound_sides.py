"""A candidate that answers in its maker's place: its record is well formed, its kernel is another one's."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.wire import canonical
from kopt_kb.launch.candidate.answers import Check, Timing
from kopt_kb.launch.candidate.job import Job, Request
from kopt_kb.launch.judge.executor import RecordExecutor
from kopt_kb.launch.judge.makers import Makers
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.launch.recompile.binding import named_truly
from kopt_kb.launch.record.code_request import CodeRequest
from kopt_kb.launch.record.request import MakerAnswer
from kopt_kb.launch.record.source import CodeBound, CodeSource
from kopt_kb.problem.tolerances import Tolerance
from kopt_kb.tuning.decision import unbound
from kopt_kb.tuning.policy import default_policy
from tests.kopt_kb.launch.recompile.conftest import recorded
from tests.kopt_kb.launch.recompile.sources import FORGER, source

pytestmark = [pytest.mark.torch, pytest.mark.triton]
BODY = Request(op="elementwise", shapes=("1000",), dtype="bf16", tolerance=Tolerance(0.1, 0.1, ""), seeds=(1,))
Claim = Callable[[CodeRequest], CodeRequest | None]

CLAIMS: dict[str, tuple[Claim, str]] = {
    "of its own kernel": (lambda asked: replace(asked, file="@FILE@"), "differs"),
    "of nothing": (lambda _: None, "not_asked"),
    "of a language that nobody makes again": (lambda asked: replace(asked, language="FlyDSL"), "not_asked"),
    "of other options": (lambda asked: replace(asked, options={**asked.options, "ir_override": "a.ptx"}), "option"),
    "of a file of somebody else": (lambda asked: replace(asked, file="/etc/hostname"), "outside"),
}
"""What a forged record says of how its code object was compiled → why that is not believed."""


@pytest.fixture
def forged(makers: Makers, tmp_path: Path) -> Callable[[Claim], bytes]:
    """Returns a candidate whose text copies its input, and whose record holds the kernel of another file."""

    def make(claim: Claim) -> bytes:
        other = recorded(makers, tmp_path / "other", source("tl.load(x_ptr + at, mask=at < count) * 7"))
        record = other.stored()
        (digest,) = record.codes
        code = (other.folder / "objects" / digest).read_bytes()
        honest = source()
        asked = claim((record.requests or {})[digest])
        path = "kernel.py"

        def whole(text: str) -> str:
            mine = {path: hashlib.sha256(text.encode()).hexdigest()}
            said = replace(record, sources=mine, requests={digest: asked} if asked is not None else None)
            return canonical(MakerAnswer(record=said).to_json()).decode()

        return (
            honest + FORGER.format(code=base64.b64encode(code).decode(), answer=whole(honest), digest=digest)
        ).encode()

    return make


@pytest.fixture
def executor(invented: Any, makers: Makers) -> Any:
    """The executor of recorded launches with a judge that finds everything right."""
    made = RecordExecutor(invented(lambda _: 1e-6), RecordTarget("sm_90", "Test"), makers=makers)
    yield made
    made.close()


@pytest.mark.parametrize("name", CLAIMS)
def test_a_forged_record_is_named_unbound_and_not_accepted(
    executor: RecordExecutor, forged: Callable[[Claim], bytes], name: str
) -> None:
    """It passes every check of form and result; the policy of the package refuses it for where its code comes from."""
    claim, reason = CLAIMS[name]
    outcome = executor.run(Job("check", forged(claim), body=BODY), lambda *_: None)
    answer = outcome.result
    assert isinstance(answer, Check)
    assert (answer.build_error, answer.passed) == ("", True)
    assert answer.basis is not None
    found = answer.basis.source_of("candidate")
    assert (found.state, found.reason) == ("unbound", reason)
    assert [one.source for one in outcome.codes] == [found]
    decision = unbound(default_policy(), "replayed", found)
    assert decision is not None
    assert (decision.decision, decision.rule) == ("unverified", "source")


def test_an_honest_candidate_is_bound_once(executor: RecordExecutor) -> None:
    """The check makes it again; the timing on the same records finds the answer."""
    job = Job("check", source().encode(), body=BODY)
    answer = executor.run(job, lambda *_: None).result
    assert isinstance(answer, Check)
    assert answer.basis is not None
    assert str(answer.basis.source_of("candidate")) == "bound"
    assert unbound(default_policy(), "replayed", answer.basis.source_of("candidate")) is None
    timed = executor.run(replace(job, kind="timing", incumbent=job.candidate), lambda *_: None).result
    assert isinstance(timed, Timing)
    assert timed.basis is not None
    assert str(timed.basis.source_of("incumbent")) == "bound"
    assert timed.basis.seconds["make again"] < 0.5
    assert json.loads(canonical(timed.basis.to_json()))["bound"]["candidate"]["state"] == "bound"


def test_a_language_that_nothing_makes_again_is_excused_only_for_its_own_files(tmp_path: Path) -> None:
    """The package's policy accepts it where the file's own text says so; a stricter one never."""
    found = CodeBound("0" * 64, "cuTile k", CodeSource("unbound", "language", "nothing makes code objects of it again"))
    own, other = tmp_path / "own.py", tmp_path / "other.py"
    own.write_text("import cuda.tile as ct\n\n@ct.kernel\ndef k(x):\n    pass\n")
    other.write_text(source())
    assert named_truly(found, other).source.reason == "not_asked"
    excused = named_truly(found, own).source
    assert excused.reason == "language"
    assert unbound(default_policy(), "replayed", excused) is None
    strict = replace(default_policy(), needs_bound="yes")
    assert unbound(strict, "replayed", excused) is not None
    assert unbound(replace(strict, needs_bound="no"), "replayed", named_truly(found, other).source) is None
    assert unbound(strict, "isolated", excused) is None
