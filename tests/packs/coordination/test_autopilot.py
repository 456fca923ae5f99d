"""Campaigns that follow a plan: order, dependencies, rollback byte for byte, and both reports."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.packs.coordination.autopilot import AutopilotProposer, left_out
from kopt_kb.packs.coordination.routing.analysis import Analysis, RoutedAdvice
from kopt_kb.packs.coordination.routing.plan import plan_of
from kopt_kb.tuning.proposals import Proposal, ProposerView, Tried
from tests.packs.coordination.routing.test_analysis import BLOCK

SAID = (
    RoutedAdvice(1, "High", "capture a CUDA graph"), RoutedAdvice(2, "Low", "pad to static shapes"),
    RoutedAdvice(3, "Medium", "shard by FSDP"),
)  # fmt: skip
PLAN = plan_of(Analysis("x", "", SAID), commands={"graph"})
VIEW = ProposerView("gemm", ("2x2x2",), "bf16", "sm_90", "compute", "", 1, b"x = 1\n")


class Asked:
    """Answers with a new claim each time and keeps what it was asked for."""

    name = "asked"

    def __init__(self) -> None:
        self.steps: list[str] = []

    def propose(self, view: ProposerView) -> Proposal | None:
        """Return the first answer that was not tried."""
        self.steps.append(view.step)
        return None if view.earlier("compute", "faster") else Proposal("compute", "faster", "less", "asked", b"x = 2\n")


def test_steps_in_order_each_once() -> None:
    """What nobody does is passed over, and a step whose need was rolled back is left out with the reason."""
    asked = Asked()
    made = AutopilotProposer(PLAN, (asked,)).propose(VIEW)
    assert isinstance(made, Proposal)
    assert made.claim == "R2 [Low] pad to static shapes: faster"
    assert asked.steps == ["R2 [Low] pad to static shapes"]
    tried = (Tried(1, "compute", made.claim, "rollback", "R3 not improved"),)
    out = left_out(PLAN, tried)
    assert out == {
        "R2": "tried: rollback", "R1": "needs R2, which was not accepted",
        "R3": "not available here: distributed-specialist does it",
    }  # fmt: skip
    done = (Tried(1, "compute", "R2: other words", "accept", "R3 improved"),)
    assert set(left_out(PLAN, done)) == {"R2", "R3"}


def test_what_was_tried_under_another_step_is_known_by_its_own_words() -> None:
    """The proposer sees claims as it made them."""
    view = ProposerView(**{**{name: getattr(VIEW, name) for name in ("op", "shapes", "dtype", "target", "bound", "limiter")},
                   "round": 2, "incumbent": b"x",
                   "tried": (Tried(1, "compute", "R2 [Low] pad to static shapes: faster", "accept", "R3"),)})  # fmt: skip
    assert AutopilotProposer(PLAN, (Asked(),)).propose(view) is None


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("fuse the epilogue", "R1 [High] compute for 'fuse the epilogue': faster"),
        ("capture a CUDA graph", ""),
        ("do something about it", ""),
    ],
)
def test_who_reads_no_words_is_asked_for_kinds_of_change_alone(text: str, claim: str) -> None:
    """A variant is no CUDA graph, and what is of the same kind is not called the recommendation itself."""
    asked = Asked()
    asked.name = "variants"
    plan = plan_of(Analysis("x", "", (RoutedAdvice(1, "High", text),)), commands={"graph"})
    made = AutopilotProposer(plan, (asked,)).propose(VIEW)
    assert (made.claim if isinstance(made, Proposal) else "") == claim


PROPOSE = """
import json, sys
state = json.load(sys.stdin)
number = len(state["tried"])
source = state["kernel"].replace("BLOCK = 0", "BLOCK = 0") + f"\\n# {number}\\n"
json.dump({"category": "compute", "claim": f"idea {number}", "expected": state["step"], "source": source}, sys.stdout)
"""


@pytest.mark.torch
def test_a_campaign_of_the_playbooks_block(
    tmp_path: Path, wiki_root: Path, repo_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the block to a summary, by the shell's words; a rollback leaves the kernel byte for byte as it was."""
    demo = repo_root / "kernels" / "naive" / "rms_norm.py"
    words = [
        "init", "norm", "--platform", "T10", "--framework", "Triton", "--kernel-demo", str(demo), "--shape", "1024x512",
        "--dtype", "bf16", "--parent", str(tmp_path), "--wiki", str(wiki_root),
    ]  # fmt: skip
    assert main(words) == 0
    root = tmp_path / "kernel_opt_norm"
    block, propose = tmp_path / "analysis.txt", tmp_path / "propose.py"
    block.write_text(BLOCK)
    propose.write_text(PROPOSE)
    run = ["tune", "run", str(root), "--simulate", "--yes", "--policy", "autopilot", "--wiki", str(wiki_root)]
    assert main(run) == 2
    assert "without --analysis" in capsys.readouterr().err
    assert main([*run[:6], "primus", "--analysis", str(block)]) == 2
    asked = ["--proposer", f"{sys.executable} {propose}", "--analysis", str(block)]
    assert main([*run, *asked]) in {0, 1}
    capsys.readouterr()
    assert main(["tune", "report", str(root), "--json"]) in {0, 1}
    found = json.loads(capsys.readouterr().out)
    claims = [one["claim"] for one in found["rounds"][1:]]
    assert [one.split(":")[0] for one in claims] == [
        "R2 [Medium] Apply memory pooling for attention buffers",
        "R3 [Low] Consider gradient checkpointing for memory reduction",
    ]
    assert found["stop"]["reason"] == "exhausted"
    if all(one["decision"] == "rollback" for one in found["rounds"][1:]):
        assert (root / "kernel.py").read_bytes() == demo.read_bytes()
    assert main(["tune", "report", str(root), "--form", "summary"]) in {0, 1}
    text = capsys.readouterr().out
    left = "- R1 [High] Enable FlashAttention for self-attention layers: not available here"
    for line in (
        "## Optimization Summary",
        "**Goal**",
        "1. **R2 [Medium]",
        "| SOL%",
        "### Remaining Opportunities",
        left,
    ):
        assert line in text
    assert main(["tune", "report", str(root), "--form", "optimization"]) in {0, 1}
    text = capsys.readouterr().out
    assert "## Optimization Applied: R3 [Low]" in text
    assert "| Latency" in text
    assert (
        main(["tune", "run", str(root), "--yes", "--simulate", "--policy", "autopilot", "--analysis", "nothing"]) == 2
    )
    assert main(["audit", str(root), "--wiki", str(wiki_root)]) == 0
