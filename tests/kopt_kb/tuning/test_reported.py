"""A project whose results nobody compares: its gains carry that, and only the user's word lets them decide."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from campaign_words import Make, decisions, finish, kernel, state_of

from kopt_kb.cli.main import main
from kopt_kb.cli.tune import command
from kopt_kb.sandbox.trust import TrustStore
from kopt_kb.tuning.policy import Policy
from kopt_kb.workspace.workspace import Workspace

LEVEL = "times reported by the project, results not compared"
GAIN = re.compile(r"[+-]\d[\d.]* ?%|\d×|(?:gain|change)_pct\"")


@pytest.fixture(scope="module")
def said() -> dict[str, Path]:
    """The folder of one campaign for all tests that only read it."""
    return {}


@pytest.fixture
def tuned(said: dict[str, Path], request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A workspace with a campaign whose versions were accepted."""
    if "root" not in said:
        workspace = request.getfixturevalue("make_project")()
        answers = [("double the tile", kernel(128)), ("whole", kernel(512))]
        finish(request.getfixturevalue("remembered_campaign")(workspace, answers))
        said["root"] = workspace.layout.root
    return said["root"]


def test_nothing_is_accepted_without_the_users_word(make_project, remembered_campaign: Make) -> None:
    """The package's policies end the baseline as unverified and say what lets it decide."""
    workspace = make_project()
    report = finish(remembered_campaign(workspace, [("double the tile", kernel(128))], accepts=False))
    assert decisions(workspace) == [(0, "unverified", "trust")]
    assert report.stop.reason == "aborted"


def test_no_view_of_a_workspace_has_a_gain_without_its_level(tuned: Path) -> None:
    """README, logs, memory, summaries, plans: whichever says a gain says on what it rests."""
    skipped = {"objects", ".git", "journal.jsonl"}
    files = [one for one in tuned.rglob("*") if one.is_file() and not skipped & set(one.relative_to(tuned).parts)]
    said = {str(one.relative_to(tuned)): one.read_text() for one in files}
    gains = {name: text for name, text in said.items() if GAIN.search(text)}
    assert {"logs/performance_trend.md", "memory/v1.json", "rounds/round-2/summary.md"} <= gains.keys()
    assert [name for name, text in gains.items() if LEVEL not in text] == []


@pytest.mark.parametrize("form", ["report", "status", "json", "html", "markdown", "optimization", "summary"])
def test_no_command_says_a_gain_without_its_level(
    tuned: Path, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the terminal, as JSON, as a page, in a pull request, as a report that another program's form asks for."""
    file = tmp_path / f"report.{form}"
    words = {
        "report": ["report"], "status": ["status"], "json": ["report", "--json"],
        "html": ["report", "--html", str(file)], "markdown": ["report", "--markdown", str(file)],
        "optimization": ["report", "--form", "optimization"], "summary": ["report", "--form", "summary"],
    }[form]  # fmt: skip
    assert main(["tune", words[0], str(tuned), *words[1:]]) == 0
    text = file.read_text() if file.exists() else capsys.readouterr().out
    assert GAIN.search(text), text
    assert LEVEL in " ".join(text.split())


def test_a_bundle_and_an_audit_say_it(tuned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The statement of a bundle holds the level; the audit says it as a note."""
    assert main(["tune", "bundle", str(tuned), "--output", str(tmp_path / "it.kbb"), "--json"]) == 0
    assert LEVEL in capsys.readouterr().out
    main(["audit", str(tuned)])
    assert LEVEL in capsys.readouterr().out


class TestCommandLine:
    """`kb init`, `kb tune run` and `kb trust` on the small project."""

    @pytest.fixture(autouse=True)
    def store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A store of its own."""
        monkeypatch.setenv("KOPT_TRUST", str(tmp_path / "trust.json"))

    def init(self, project_root: Path, parent: Path, *more: str) -> Path:
        words = ["--project", str(project_root / "project.toml"), "--platform", "H20", "--framework", "CUDA"]
        file = project_root / "project.toml"
        file.write_text(file.read_text().replace('shapes = "all"', 'shapes = ["512x512x512"]', 1))
        assert main(["init", "p", *words, "--parent", str(parent), *more]) == 0
        return parent / "kernel_opt_p"

    def test_naming_a_project_accepts_no_times(
        self, project_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Its commands may run; that its times alone decide is asked for, and both ways to say yes are named."""
        workspace = self.init(project_root, tmp_path)
        kinds = {one.kind for grants in TrustStore().folders.values() for one in grants}
        assert kinds == {"project"}
        assert main(["tune", "run", str(workspace), "--yes"]) == 2
        said = capsys.readouterr().err
        assert LEVEL in said
        assert "--accept-reported" in said
        assert f"kb trust {workspace}" in said
        assert state_of(Workspace.open(workspace)).campaign is None

    @pytest.mark.parametrize("way", ["flag of init", "flag of run", "trust"])
    def test_a_users_word_is_kept(
        self, way: str, project_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """By either flag, or by the store; the policy that the campaign is confirmed with says it."""
        asked: list[Policy] = []
        monkeypatch.setattr(command, "campaign_of", lambda *given: asked.append(given[3]))
        workspace = self.init(project_root, tmp_path, *(["--accept-reported"] if way == "flag of init" else []))
        if way == "trust":
            assert main(["trust", str(workspace), "--yes"]) == 0
        more = ["--accept-reported"] if way == "flag of run" else []
        main(["tune", "run", str(workspace), "--yes", *more])
        assert [one.accepts_reported for one in asked] == [True]
        assert "reported" in {one.kind for grants in TrustStore().folders.values() for one in grants}

    def test_the_flag_is_refused_where_it_says_nothing(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A kernel's times are not its own."""
        demo = "--platform H20 --framework Triton --kernel-demo op:naive/rms_norm --op rms_norm --shape 512x512"
        assert main(["init", "w", *demo.split(), "--dtype", "bf16", "--accept-reported"]) == 2
        assert "KB103" in capsys.readouterr().err
        assert main(["init", "w", *demo.split(), "--dtype", "bf16", "--parent", str(tmp_path)]) == 0
        assert main(["tune", "run", str(tmp_path / "kernel_opt_w"), "--accept-reported", "--yes"]) == 2
        assert "KB103" in capsys.readouterr().err
