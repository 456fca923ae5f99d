"""`kb audit` prints findings an editor can jump to, and exits 1."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.doors import table
from kopt_kb.doors.audit_form import AuditForm, AuditOption
from kopt_kb.doors.pack import Pack
from kopt_kb.workspace.audit.audit import AuditReport
from kopt_kb.workspace.audit.findings import AuditFinding
from tests.demo_kernel import DEMO


def test_findings(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """file:line: message; fix [code]."""
    demo = tmp_path / "demo.py"
    demo.write_text(DEMO.replace("rms_norm", "softmax"))
    made = [
        "init",
        "s",
        "--platform",
        "T10",
        "--framework",
        "Triton",
        "--kernel-demo",
        str(demo),
        "--shape",
        "64x64",
        "--dtype",
        "fp16",
    ]
    assert main([*made, "--parent", str(tmp_path), "--wiki", str(wiki_root), "--notes", "An H100 has 3.35 TB/s."]) == 0
    capsys.readouterr()
    folder = str(tmp_path / "kernel_opt_s")
    assert main(["audit", folder]) == 1
    out = capsys.readouterr().out
    assert "README.md:" in out
    assert "3.35 TB/s is no row, target or measurement of this workspace" in out
    assert main(["audit", folder, "--json"]) == 1
    body = json.loads(capsys.readouterr().out)
    assert (body["clean"], body["findings"][0]["code"]) == (False, "unsourced")


def test_another_wiki_can_be_named(wiki_root: Path, tmp_path: Path) -> None:
    """A platform that wiki lacks is a finding, not a crash."""
    demo = tmp_path / "demo.py"
    demo.write_text(DEMO.replace("rms_norm", "softmax"))
    words = [
        "init",
        "s",
        "--platform",
        "T10",
        "--framework",
        "Triton",
        "--kernel-demo",
        str(demo),
        "--shape",
        "64x64",
        "--dtype",
        "fp16",
    ]
    assert main([*words, "--parent", str(tmp_path), "--wiki", str(wiki_root)]) == 0
    from kopt_kb.wiki.places import packaged_root

    assert main(["audit", str(tmp_path / "kernel_opt_s"), "--wiki", str(packaged_root())]) == 1


def test_agreement_proves_no_origin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What agrees with itself exits 0 and says so; only a statement that was kept elsewhere shows where it comes from."""
    words = ["--platform", "H20", "--op", "rms_norm", "--shape", "512x512", "--dtype", "bf16"]
    assert main(["init", "w", *words, "--parent", str(tmp_path)]) == 0
    root, kept = str(tmp_path / "kernel_opt_w"), str(tmp_path / "w.kbb")
    assert main(["tune", "bundle", root, "--output", kept]) == 0
    capsys.readouterr()
    assert main(["audit", root]) == 0
    assert capsys.readouterr().out.rstrip().endswith("consistent, origin unproven")
    assert main(["audit", root, "--require", "anchored"]) == 1
    capsys.readouterr()
    assert main(["audit", root, "--anchor", kept, "--require", "anchored", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["clean"], document["anchored"], document["verdict"]) == (True, True, "consistent, anchored")


def _install(monkeypatch: pytest.MonkeyPatch, *packs: Pack) -> None:
    monkeypatch.setattr(table, "packs", lambda: table.Packs({one.name: one for one in packs}, ()))


def test_without_packs_a_workspace_is_audited_and_a_log_is_not(
    wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log needs the pack, by name; its options are no options."""
    words = ["init", "s", "--platform", "T10", "--op", "softmax", "--shape", "64x64", "--dtype", "fp16"]
    _install(monkeypatch)
    assert main([*words, "--route", "roofline", "--parent", str(tmp_path), "--wiki", str(wiki_root)]) == 0
    assert main(["audit", str(tmp_path / "kernel_opt_s")]) == 0
    (tmp_path / "log.tsv").write_text("experiment\tspeedup\n1\t1.2\n")
    capsys.readouterr()
    assert main(["audit", str(tmp_path / "log.tsv")]) == 3
    assert "needs the pack foreign_logs, which is not installed" in capsys.readouterr().err
    assert main(["audit", "--help"]) == 0
    assert "--import-to" not in capsys.readouterr().out


def test_a_form_that_knows_its_logs_goes_before_the_one_that_takes_any(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An option of the one is refused for a log of the other."""
    finding = AuditFinding("dull", "x.dream", 3, "nothing happens", "dream again")
    report = AuditReport(str(tmp_path / "x.dream"), (finding,), (), 1)
    form = AuditForm(
        name="dreams",
        what="a log of dreams",
        recognises=lambda path: path.suffix == ".dream",
        audit=lambda *given: replace(report, checked=len(given[2])),
        render=lambda report: f"dreams: {report.checked}",
        codes=lambda: {"dull": "a dream without events"},
        options=(AuditOption("awake", "log of dreams: none"),),
    )
    greedy = replace(form, name="any", recognises=Path.exists, options=(AuditOption("rules", "log of others: all"),))
    packs = (Pack(name, "a test's pack", audit_forms=(each,)) for name, each in (("any", greedy), ("dreams", form)))
    _install(monkeypatch, *packs)
    path = tmp_path / "x.dream"
    path.write_text("zzz")
    assert main(["audit", str(path), "--awake"]) == 1
    assert capsys.readouterr().out == "dreams: 1\n"
    assert main(["audit", str(path), "--format", "sarif"]) == 1
    assert "a dream without events" in capsys.readouterr().out
    assert main(["audit", str(path), "--rules"]) == 2
    assert "--rules is not for a log of dreams" in capsys.readouterr().err
