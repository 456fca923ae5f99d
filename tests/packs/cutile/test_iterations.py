"""perf_results.md as the cuTile loop keeps it: five columns, six decimals, keep, revert or crash; never committed."""

from __future__ import annotations

from kopt_kb.packs.cutile.iterations import RESULTS, perf_results
from kopt_kb.tuning.policy import policy_named
from kopt_kb.workspace.snapshot import commit_workspace
from kopt_kb.workspace.views.render import render_workspace, texts_of


def _confirm(story) -> None:
    policy = dict(policy_named("cutile").to_json())
    story.add(
        "campaign_confirmed", policy=policy, simulated=False, executor="e", proposers=[], settings={}, launch=None
    )


def test_rows_by_hand(story):
    """A line an iteration; the latency is the geometric mean of the shapes, empty where nothing was timed."""
    seq = story.machine()
    story.round(0, "accept", {"8192x4096": 8e-4, "1024x512": 2e-4}, environment=seq)
    story.round(1, "accept", {"8192x4096": 4e-4, "1024x512": 1e-4}, claim="TMA | replace gather", environment=seq)
    story.round(2, "rollback", gates={"build": "pass", "correctness": "fail"}, environment=seq)
    story.round(3, "rollback", gates={"build": "fail"}, environment=seq)
    assert perf_results(story.workspace.state(), story.store.get)[RESULTS].splitlines() == [
        "| iteration | optimization | latency_ms | correctness | status |",
        "|----------:|:-------------|-----------:|:------------|-------:|",
        "| 0 | baseline | 0.400000 | PASS | keep |",
        "| 1 | TMA \\| replace gather | 0.200000 | PASS | keep |",
        "| 2 | idea 2 |  | FAIL | revert |",
        "| 3 | idea 3 |  | FAIL | crash |",
    ]


def test_it_is_rendered_for_its_policy_alone_and_never_committed(story):
    """The file stands in the folder, git and its ignore list leave it out."""
    seq = story.machine()
    story.round(0, "accept", {"8192x4096": 8e-4, "1024x512": 2e-4}, environment=seq)
    assert RESULTS not in texts_of(story.workspace.state(), story.store.get).files
    _confirm(story)
    render_workspace(story.workspace)
    layout = story.workspace.layout
    assert "| 0 | baseline | 0.400000 |" in (layout.root / RESULTS).read_text()
    assert "sandbox/" in layout.gitignore.read_text()
    commit_workspace(layout, story.workspace.events()[-1], "V0", {})
    from kopt_kb.sandbox.gitrun import Git

    listed = Git(layout.root).text("ls-tree", "-r", "--name-only", "HEAD").split()
    assert "logs/performance_trend.md" in listed
    assert not [one for one in listed if one.startswith("sandbox")]
