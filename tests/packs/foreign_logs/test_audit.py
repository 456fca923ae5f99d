"""The audit of logs of others, as a whole."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.packs.foreign_logs.audit import FOREIGN_CODES, audit_foreign
from kopt_kb.wiki.registry import Registry

PROVEN = """# Round 1

All 4/4 shapes pass allclose against the float64 reference. Sides were timed in ABBA quads, spread ± 0.3 %.
speedup = 1.20x, 61 % of peak as in https://example.org/sheet; source: `kernel.py`.
"""


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A campaign with a manifest, a baseline, a proven round with its source, a round without anything, and logs."""
    root = tmp_path / "camp"
    for name, text in {
        "manifest.yaml": 'performance_target: "score >= 0.95"\n',
        "rounds/round-1/summary.md": PROVEN,
        "rounds/round-1/kernel_snapshot/kernel.py": "x = 1\n",
        "rounds/round-2/summary.md": "# Round 2\nspeedup = 1.30x\n",
        "rounds/round-2/bench.csv": "label,Check,ms_std,ratio\na,FAIL,0.1,1.3\n",
        "tips.md": "A speedup needs patience.\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_each_claim_says_what_it_lacks(campaign: Path, wiki_root: Path) -> None:
    """The proven round lacks nothing; the other fails its check in the table beside it."""
    report = audit_foreign(campaign, Registry.open(wiki_root))
    first, second = report.claims
    assert {aspect.state for aspect in first.aspects.values()} == {"present"}
    assert first.snapshot.where == "rounds/round-1/kernel_snapshot/kernel.py"
    assert {name: one.state for name, one in second.aspects.items()} == {
        "correctness": "failed", "timing": "missing", "noise": "present", "roof": "partial", "snapshot": "missing",
    }  # fmt: skip
    assert second.correctness.where == "rounds/round-2/bench.csv:2"
    assert second.roof.where == "manifest.yaml:1"
    (finding,) = (one for one in report.findings if one.code == "unproven")
    assert finding.message == "round 2 (unstated): correctness failed, timing missing, roof partial, snapshot missing"
    assert report.evidence["correctness"] == {"present": 1, "partial": 0, "missing": 0, "failed": 1}
    assert [one.file for one in report.unread] == ["tips.md"]
    assert not report.clean


def test_a_log_that_proves_everything_is_clean(campaign: Path, wiki_root: Path) -> None:
    """Nothing is found where nothing is wrong."""
    report = audit_foreign(campaign / "rounds" / "round-1", Registry.open(wiki_root))
    assert [one.code for one in report.findings] in ([], ["unproven"])
    for path in (campaign / "rounds" / "round-2").iterdir():
        path.unlink()
    assert audit_foreign(campaign, Registry.open(wiki_root)).clean


def test_codes_are_named(campaign: Path, wiki_root: Path) -> None:
    """Every finding has one of the list, so has the document."""
    body = audit_foreign(campaign, Registry.open(wiki_root)).to_json()
    assert {one["code"] for one in body["findings"]} <= set(FOREIGN_CODES)  # type: ignore[index,union-attr,call-overload]
    assert json.loads(json.dumps(body))["checked"] == 2


@pytest.mark.parametrize("text", ["", "nothing of the kind\n", "\x1b[31m|||\n|-|\n"])
def test_what_claims_nothing_is_refused(tmp_path: Path, wiki_root: Path, text: str) -> None:
    """Never clean because nothing was understood."""
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "a.md").write_text(text)
    with pytest.raises(BadInput, match="neither a workspace"):
        audit_foreign(tmp_path / "log", Registry.open(wiki_root))


def test_one_file_is_a_log(tmp_path: Path, wiki_root: Path) -> None:
    """As people hand it over."""
    path = tmp_path / "results.tsv"
    path.write_text("experiment\tspeedup\tcorrectness\n1\t1.2\tPASS\n")
    assert audit_foreign(path, Registry.open(wiki_root)).claims[0].file == "results.tsv"


HOSTILE = ["1" * 4000, "1." * 2000, "1 → " * 1000, "*" * 4000, " " * 4000, "1,2" * 1300, "score (" * 570, "R1 " * 1300]


@pytest.mark.parametrize("line", HOSTILE)
def test_no_line_takes_long(tmp_path: Path, wiki_root: Path, line: str) -> None:
    """Long runs of whatever patterns look for: 20 such lines once took minutes."""
    path = tmp_path / "round-1.md"
    path.write_text("# Round 1\nscore = 1.2\n" + f"{line}\n" * 20)
    begin = time.process_time()
    assert audit_foreign(path, Registry.open(wiki_root)).checked >= 1
    assert time.process_time() - begin < 5


TEXTS = [
    b'{"round": 1, "speedup": 1.2, "baseline_ms": 4, "candidate_ms": 3, "x": {"std": [1, {"a": 1}]}}\n',
    b"| Round | status | speedup |\n|---|---|---|\n| 1 | KEEP | 1.2x |\n| 2 | x | 1.3 |\n",
    b"experiment\ttag\tspeedup\tpct_peak\n1\ta\t1.2\t90\n2\tb\t1.3\t80\n",
    b"# Round 1\nscore: R1 1.2 -> R2 1.3, 4/4 pass\n- R3: gap 12% -> 3%\n",
]
NAMES = ["a.json", "b.jsonl", "c.md", "d.tsv", "e.csv", "f.txt", "round-2.md"]
PIECES = [b'"', b"|", b"\n", b"{", b"[", b"\t", b",", b"1e400", b"nan", b"\xff", b"9" * 25, b"\\u0000", b"1e-999999999"]


def test_damaged_logs_are_read_or_refused(tmp_path: Path, wiki_root: Path) -> None:
    """Bytes changed, taken out, put in: a report that can be written, or one line."""
    chance, registry, read = random.Random(11), Registry.open(wiki_root), 0
    for _ in range(300):
        data = bytearray(chance.choice(TEXTS) * chance.randint(1, 3))
        for _ in range(chance.randint(1, 8)):
            at, how = chance.randrange(len(data) + 1), chance.random()
            if how < 0.4:
                data[at : at + 1] = bytes([chance.randrange(256)])
            elif how < 0.7:
                data[at:at] = chance.choice(PIECES)
            else:
                del data[at : at + chance.randint(1, 9)]
        path = tmp_path / chance.choice(NAMES)
        path.write_bytes(bytes(data))
        try:
            json.dumps(audit_foreign(path, registry).to_json(), allow_nan=False)
        except KoptError as error:
            assert "\n" not in str(error)
        else:
            read += 1
        path.unlink()
    assert read > 30
