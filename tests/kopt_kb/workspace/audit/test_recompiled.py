"""Claims about code that is made again by the audit: the same, another, or why nothing was made."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.launch.recompile.binding import Binder, Origin, RecordedCode
from kopt_kb.launch.record.code_request import CodeRequest
from kopt_kb.launch.record.source import CodeBound, CodeSource
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit import recompiled
from kopt_kb.workspace.audit.audit import AuditReport, audit
from kopt_kb.workspace.journal.round_events import RecordBound
from tests.kopt_kb.workspace.audit.forging import CAMPAIGNS

GEMM = CAMPAIGNS / "h100_sxm/gemm_90s.kbb"
BOUND = CodeSource("bound", None)
OTHER = CodeSource("unbound", "differs", "made again, it differs in .text")
Recompile = Callable[..., AuditReport]


@pytest.fixture
def again(monkeypatch: pytest.MonkeyPatch) -> Recompile:
    """Audits a recorded bundle as if its records said how they were compiled; the second compiler answers as told."""

    held, known = recompiled._held, recompiled.codes_of

    def run(outcome: CodeSource, claim: CodeSource | None = BOUND, versions: str = "3.9") -> AuditReport:
        asked: list[RecordedCode] = []

        def bound(_: Binder, codes: Sequence[RecordedCode], origin: Origin) -> list[CodeBound]:
            asked.extend(codes)
            assert origin.target == "sm_90"
            assert all(Path(one.request.file).parent == Path(origin.roots[0]) for one in codes if one.request)
            assert all("def " in Path(one.request.file).read_text() for one in codes if one.request)
            return [CodeBound(one.digest, "triton k", outcome, versions={"triton": "3.9"}) for one in codes]

        def codes_of(folder: Path) -> list[RecordedCode]:
            request = CodeRequest("triton", "/elsewhere/kernel.py", "kernel", "k")
            return [replace(one, request=request) for one in known(folder)]

        monkeypatch.setattr(Binder, "bound", bound)
        monkeypatch.setattr(recompiled, "codes_of", codes_of)
        first = audit(GEMM, Registry.open(), recompile=True)
        codes = [one.digest for one in asked]
        assert codes
        if claim is None:
            return first
        said = {code: RecordBound(code, "r", "triton k", claim, {}, {}, {"triton": versions}) for code in codes}
        monkeypatch.setattr(recompiled, "_held", lambda version, found, _: held(version, found, said))
        return audit(GEMM, Registry.open(), recompile=True)

    return run


def test_code_that_is_the_same_is_said_beside_the_verdict(again: Recompile) -> None:
    """Also where the journal is older than the question; that origin is unproven stays said."""
    for claim in (None, BOUND):
        report = again(BOUND, claim)
        assert report.verdict == "consistent, origin unproven, source bound again here"
        assert report.made is not None
        assert "made again here: triton k bound" in str(report.made)


def test_code_that_is_another_is_a_finding_where_the_journal_claims_it(again: Recompile) -> None:
    """Without a claim it is said, and no finding."""
    (finding,) = again(OTHER).findings[:1]
    assert finding.code == "recompile"
    assert "is said to come from its source; made again here it is" in finding.message
    assert ".text" in finding.message
    unsaid = again(OTHER, CodeSource("unbound", "recorded_before"))
    assert (unsaid.findings, unsaid.is_bound) == ((), False)


def test_what_this_machines_compiler_cannot_say_is_no_finding(again: Recompile) -> None:
    """Another version of it makes another object; one that is not there makes none."""
    other = again(OTHER, versions="3.6")
    assert other.findings == ()
    assert other.made is not None
    assert other.made.why_not == "the compilers here are triton 3.9, its own were triton 3.6"
    none = again(CodeSource("unbound", "compiler", "No module named 'triton'"))
    assert none.made is not None
    assert str(none.made) == "not made again here: the compiler here: No module named 'triton'"
    assert none.findings == ()


def test_records_that_do_not_say_how_they_were_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a bundle from before: unbound, with the reason, and exit 1 where it is asked for."""
    assert main(["audit", str(GEMM), "--recompile"]) == 0
    assert "unbound" in capsys.readouterr().out
    assert main(["audit", str(GEMM), "--require", "bound", "--json"]) == 1
    body = json.loads(capsys.readouterr().out)
    assert body["verdict"] == "consistent, origin unproven"
    assert {one["source"]["reason"] for one in body["made"]["codes"]} == {"not_asked"}


def test_a_log_of_others_has_no_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The option is refused in one line."""
    (tmp_path / "log.md").write_text("# Round 1\n")
    assert main(["audit", str(tmp_path), "--recompile"]) == 2
    assert "KB104" in capsys.readouterr().err
