"""The audit finds every edit of values, targets, pages and texts, and passes what is clean."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from kopt_kb.problem import problem as problem_module
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace import fold
from kopt_kb.workspace import workspace as workspace_module
from kopt_kb.workspace.audit.audit import AUDIT_CODES, AuditReport, audit
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.workspace import Workspace

CAPACITY = '| 48 | GB | - | vendor | [^sheet] memory row quote="48GB"'


def run(workspace: Workspace, root: Path) -> AuditReport:
    """Audit against the wiki as it is on disk now."""
    return audit(workspace.layout.root, Registry.open(root))


def codes(report: AuditReport) -> list[str]:
    """Codes of the findings, in order."""
    return [one.code for one in report.findings]


def edit(path: Path, old: str, new: str) -> None:
    """Replace text that must be there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.core
def test_a_fresh_workspace_is_clean(workspace: Workspace, wiki_root: Path) -> None:
    """All registered rows were read again."""
    report = run(workspace, wiki_root)
    assert report.findings == ()
    (note,) = report.notes
    assert note.code == "other-wiki" and f"{wiki_root}, which is not the packaged wiki" in note.message
    assert report.checked == len(workspace.state().specs) > 5


@pytest.mark.core
def test_an_edited_target_is_found(workspace: Workspace, wiki_root: Path) -> None:
    """Text alone, and text with a fitting hash in the marker: both are found, byte and line named."""
    readme = workspace.layout.readme
    original = readme.read_text()
    edit(readme, "\nmemory-bound target >= 1.8 TB/s\nnot binding", "\nmemory-bound target >= 1.5 TB/s\nnot binding")
    assert codes(run(workspace, wiki_root)) == ["edited-block"]
    text = readme.read_text()
    block = re.search(
        r"(<!-- kb:begin stop-conditions sha256=)([0-9a-f]{64})( -->\n)(.*?)(<!-- kb:end)", text, re.DOTALL
    )
    assert block is not None
    forged = hashlib.sha256(block[4].encode()).hexdigest()
    readme.write_text(text.replace(block[2], forged))
    (finding,) = run(workspace, wiki_root).findings
    assert finding.code == "edited-block"
    assert readme.read_text().split("\n")[finding.line - 1] == "memory-bound target >= 1.5 TB/s"
    readme.write_text(original)
    assert run(workspace, wiki_root).clean


def test_a_broken_chain_is_found(workspace: Workspace, wiki_root: Path) -> None:
    """One edited byte of the journal."""
    edit(workspace.layout.journal, '"value":"1.8"', '"value":"1.5"')
    report = run(workspace, wiki_root)
    assert codes(report) == ["journal"]
    assert report.findings[0].line == 3


def test_a_missing_block_marker_and_a_lost_blob(workspace: Workspace, wiki_root: Path) -> None:
    """Both are findings, not crashes."""
    edit(workspace.layout.readme, "<!-- kb:end tools -->\n", "")
    blob = workspace.state().created.kernel
    next(workspace.layout.objects.rglob(f"*{blob[-8:]}*")).unlink()
    assert sorted(codes(run(workspace, wiki_root))) == ["edited-block", "object"]


CLEAN = [
    "The card moves 2.0 TB/s at best.",
    "Its 2 TB/s are shared by all.",
    "We want 1.8 TB/s.",
    "The vector roof is 25.6 TFLOPS, so 23.04 TFLOPS is far away.",
    "100 SMs wait for work.",
    "The device has 48 GB.",
    "50 MB of L2 hold a row.",
    "50 MiB of L2 hold a row.",
    "The clock is 1000 MHz or 1 GHz.",
    "A round took 0.31 ms.",
    "BLOCK_SIZE is 4096 and num_warps 8.",
    "The error was 0.3 %.",
    "`tl.load` in code does not count: `3.35 TB/s`.",
    "Round 3 was 1.2x faster.",
    "2,000 GB/s is the same bandwidth.",
    "memory_bandwidth: 2.0 TB/s <- <gpu-wiki>/hardware/nvidia/t10.md:LINE",
    "The matrix units do 102.4 TFLOPS in fp16, which the README may say.",
    "4096-bit is the bus.",
    "3.9 Gbps pins.",
    "Nothing to see.",
]

PLANTED = [
    ("unsourced", "An H100 has 3.35 TB/s."),
    ("unsourced", "About 989 TFLOPS should be possible."),
    ("unsourced", "132 SMs are usual."),
    ("unsourced", "80 GB of memory."),
    ("unsourced", "60 MB of L2."),
    ("unsourced", "The boost clock is 1.98 GHz."),
    ("unsourced", "1,755 MHz under load."),
    ("unsourced", "700 W board."),
    ("unsourced", "228 KB of shared memory."),
    ("unsourced", "227 KiB for a block."),
    ("unsourced", "~4.0 TB/s, as far as I remember."),
    ("unsourced", "2.1 TB/s."),
    ("unsourced", "2.00 GB/s."),
    ("unsourced", "25.7 TFLOPS."),
    ("unsourced", "A similar card does 1.3 PFLOPS."),
    ("unsourced", "5120-bit bus."),
    ("unsourced", "304 CUs."),
    ("unsourced", "1,555 GB/s."),
    ("citation", "memory_bandwidth: 2.5 TB/s <- <gpu-wiki>/hardware/nvidia/t10.md:LINE"),
    ("citation", "memory_bandwidth: 4.0 TB/s <- <gpu-wiki>/docs/hardware/h20_spec.md:L23"),
]


@pytest.mark.core
@pytest.mark.parametrize("line", CLEAN)
def test_clean_lines_pass(workspace: Workspace, wiki_root: Path, line: str) -> None:
    """Rows, targets, code, times and ratios."""
    row = workspace.state().specs["memory_bandwidth"].citation.line
    edit(workspace.layout.readme, "Keep it simple.", line.replace("LINE", str(row)))
    assert run(workspace, wiki_root).findings == ()


@pytest.mark.core
@pytest.mark.parametrize(("code", "line"), PLANTED)
def test_planted_lines_are_found(workspace: Workspace, wiki_root: Path, code: str, line: str) -> None:
    """Values from memory, other products, wrong prefixes, wrong citations: each with its line."""
    row = workspace.state().specs["memory_bandwidth"].citation.line
    text = line.replace("LINE", f"L{row}" if "L23" not in line else "")
    edit(workspace.layout.readme, "Keep it simple.", text)
    found = run(workspace, wiki_root).findings
    (finding,) = [one for one in found if one.code != "hedged"]
    assert finding.code == code
    assert workspace.layout.readme.read_text().split("\n")[finding.line - 1] == text
    assert (len(found) == 2) == any(word in line for word in ("About", "~", "similar card"))


def test_plans_need_registration(workspace: Workspace, wiki_root: Path) -> None:
    """102.4 TFLOPS is a row of the platform but no registered one: a plan must cite it."""
    plan = workspace.layout.plans / "v1_plan.md"
    plan.write_text("The matrix units do 102.4 TFLOPS.\n")
    (finding,) = run(workspace, wiki_root).findings
    assert (finding.code, finding.file, finding.line) == ("unregistered", "plans/v1_plan.md", 1)
    page = (wiki_root / "hardware" / "nvidia" / "t10.md").read_text().split("\n")
    line = next(n for n, text in enumerate(page, 1) if "| 102.4 |" in text)
    key = "peak_compute[dtype=fp16;engine=matrix;sparsity=dense;acc=fp32;clock=boost]"
    plan.write_text(
        f"The matrix units do 102.4 TFLOPS.\n- {key}: 102.4 TFLOPS <- <gpu-wiki>/hardware/nvidia/t10.md:L{line}\n"
    )
    assert run(workspace, wiki_root).clean


def test_every_code_is_documented() -> None:
    """Findings use codes of the table only."""
    source = Path(__file__).parents[4] / "kopt_kb" / "workspace" / "audit"
    texts = [path.read_text() for path in source.glob("*.py")]
    assert {code for text in texts for code in re.findall(r'Finding\(\s*"([a-z-]+)"', text)} == set(AUDIT_CODES)


KEPT = sorted(one for one in (Path(__file__).parents[4] / "benchmarks/campaigns").glob("*/*") if one.is_dir())


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.name)
def test_kept_campaigns_are_clean_and_their_views_are_what_the_journal_says(kept: Path) -> None:
    """Cited rows are read again, every rendered file is rendered again; an edited one would be found."""
    report = audit(kept, Registry.open())
    assert (report.findings, report.checked > 20) == ((), True)
    assert (kept / "logs" / "performance_trend.md").is_file()
    assert len(list((kept / "memory").glob("v*.json"))) >= 2


def test_one_audit_reads_folds_and_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal is read once, each event folded once, and the work of each shape counted once."""
    counts: dict[str, int] = {}

    def count(where: object, name: str) -> None:
        real = getattr(where, name)

        def counted(*args: object, **options: object) -> object:
            counts[name] = counts.get(name, 0) + 1
            return real(*args, **options)

        monkeypatch.setattr(where, name, counted)

    kept = KEPT[0]
    events = len((kept / "journal.jsonl").read_bytes().splitlines())
    folded: list[int] = []
    take = fold.Fold.take

    def taken(self: fold.Fold, more: Iterable[Event]) -> None:
        known = list(more)
        folded.append(len(known))
        take(self, known)

    monkeypatch.setattr(fold.Fold, "take", taken)
    monkeypatch.setattr(fold, "_KNOWN", {})
    count(workspace_module, "read_journal")
    count(problem_module, "work")
    count(problem_module, "read")
    problem_module._counted.cache_clear()
    assert audit(kept, Registry.open()).clean
    assert counts["read_journal"] == counts["read"] == 1 and folded == [events]
    assert counts["work"] == len(Workspace.open(kept).state().problem.shapes)
