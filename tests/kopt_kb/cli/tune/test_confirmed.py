"""A campaign goes on as it was confirmed, whatever the later command line leaves out; another flag is refused."""

from __future__ import annotations

import json
import shlex
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.main import main
from kopt_kb.cli.tune.confirmed import as_confirmed, launch_of
from kopt_kb.tuning.options import Settings
from kopt_kb.tuning.policy import policy_named
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed, Invocation

ASKED = """
import json, pathlib, sys
view = json.load(sys.stdin)
log = pathlib.Path(__file__).with_suffix(".log")
log.write_text((log.read_text() if log.exists() else "") + "asked\\n")
number = view["round"]
body = {"category": "caching", "claim": f"change {number}", "expected": "less time"}
print(json.dumps({**body, "source": view["kernel"] + f"# {number}\\n"}))
"""


@pytest.fixture
def workspace(tmp_path: Path, wiki_root: Path, repo_root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A workspace of the naive RMS norm on the invented T10."""
    words = [
        "init", "norm", "--platform", "T10", "--framework", "Triton", "--kernel-demo",
        str(repo_root / "kernels" / "naive" / "rms_norm.py"), "--shape", "1024x512", "--dtype", "bf16",
        "--parent", str(tmp_path), "--wiki", str(wiki_root),
    ]  # fmt: skip
    assert main(words) == 0
    capsys.readouterr()
    return str(tmp_path / "kernel_opt_norm")


@pytest.fixture
def proposer(tmp_path: Path) -> Path:
    """A script that proposes a comment; beside it a log of how often it was asked."""
    path = tmp_path / "propose.py"
    path.write_text(ASKED)
    return path


def confirmed(launch: Invocation | None) -> CampaignConfirmed:
    """A campaign under the policy and settings that nobody changed."""
    policy, settings = policy_named("gpu-wiki").to_json(), Settings().to_json()
    return CampaignConfirmed(policy, False, "child process", (), settings, launch)


def words_of(proposer: Path) -> str:
    """The command line that asks it."""
    return shlex.join([sys.executable, str(proposer)])


def begin(workspace: str, *more: str) -> None:
    """Open a simulated campaign of two rounds and measure its baseline."""
    words = ["--simulate", "--max-rounds", "2", "--samples", "10", "--budget-rounds", "0", "--yes", *more]
    assert main(["tune", "run", workspace, *words]) == 0


def test_proposers_are_asked_again_on_resume(
    workspace: str, proposer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command of the first call has both rounds, though the second call does not name it."""
    begin(workspace, "--proposer", words_of(proposer))
    assert main(["tune", "resume", workspace]) == 0
    assert proposer.with_suffix(".log").read_text().count("asked") == 2
    assert "change 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--device", "cpu"], "--device cpu: the campaign was confirmed with cuda"),
        (["--executor-command", "srun"], "--executor-command srun: the campaign was confirmed with none"),
        (["--proposer", "other"], "--proposer other: the campaign was confirmed with none"),
        (["--policy", "primus"], "--policy primus: the campaign was confirmed with gpu-wiki"),
        (["--max-rounds", "3"], "--max-rounds 3: the campaign was confirmed with 2"),
        (["--samples", "100"], "--samples 100: the campaign was confirmed with 10"),
        (["--seed", "7"], "--seed 7: the campaign was confirmed with 0"),
        (["--aggregate"], "--aggregate aggregate: the campaign was confirmed with every_shape"),
        (["--no-stop", "target"], "--no-stop target: the campaign was confirmed with stop reason target"),
    ],
)
def test_another_flag_is_refused_with_both_values(
    workspace: str, given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, exit 2, and nothing is written."""
    begin(workspace)
    before = Path(workspace, "journal.jsonl").read_bytes()
    capsys.readouterr()
    assert main(["tune", "resume", workspace, *given]) == 2
    shown = capsys.readouterr().err
    assert said in shown and len(shown.splitlines()) == 1
    assert Path(workspace, "journal.jsonl").read_bytes() == before


def test_the_same_flags_and_a_new_start_are_no_conflict(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What was confirmed may be said again; after the end a new campaign is confirmed anew."""
    begin(workspace)
    same = ["--device", "cuda", "--policy", "gpu-wiki", "--samples", "10", "--max-rounds", "2", "--seed", "0"]
    assert main(["tune", "resume", workspace, *same]) == 0
    capsys.readouterr()
    begin(workspace, "--device", "cpu", "--policy", "primus", "--json")
    assert json.loads(capsys.readouterr().out)["policy"] == "primus"


def flags(**given: object) -> Namespace:
    """The arguments of a call that gives these only."""
    names = "policy core_shape max_rounds samples evaluations search_s prune_s run_s memory_bytes flush_bytes seed"
    none = dict.fromkeys([*names.split(), "judge", "executor_command", "device"])
    return Namespace(
        needs_bound=None,
        **{
            **none,
            "every_shape": False,
            "aggregate": False,
            "close_ledger": False,
            "no_package": False,
            "no_stop": [],
            "proposer": [],
            "workspace": "w",
            **given,
        },
    )


def test_launcher_and_device_come_from_the_campaign(proposer: Path) -> None:
    """What was confirmed runs the candidates of every later call."""
    asked = flags(device="cpu", executor_command="srun -n 1", proposer=[words_of(proposer)])
    note = confirmed(launch_of(asked))
    found = as_confirmed(flags(), note)
    assert (found.device, found.executor_command, found.proposer) == ("cpu", "srun -n 1", [words_of(proposer)])


def test_a_campaign_without_the_packages_kernels_stays_so(proposer: Path) -> None:
    """A later call need not say it, and can't begin to."""
    assert as_confirmed(flags(), confirmed(launch_of(flags(no_package=True)))).no_package is True
    asked = flags(proposer=[words_of(proposer)])
    with pytest.raises(BadInput, match="--no-package True: the campaign was confirmed with False"):
        as_confirmed(flags(no_package=True), confirmed(launch_of(asked)))


def test_a_journal_that_does_not_say_takes_the_command_line(proposer: Path) -> None:
    """Campaigns of earlier releases kept no command; the call names it, as it had to."""
    old = confirmed(None)
    args = flags(device="cpu", executor_command="srun", proposer=[words_of(proposer)])
    assert as_confirmed(args, old) is args
