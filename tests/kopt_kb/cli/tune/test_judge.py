"""Who judges: what the command line asks for, what the machine has, and what an open campaign was confirmed with."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.main import main
from kopt_kb.cli.tune import judge as tune_judge
from kopt_kb.cli.tune.judge import executor_of, gated, judge_of, judged_policy
from kopt_kb.launch.candidate.executor import ChildProcessExecutor
from kopt_kb.launch.judge.executor import RecordExecutor
from kopt_kb.tuning.options import CampaignOptions
from kopt_kb.tuning.policy import policy_named
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed


def asked(**flags: Any) -> argparse.Namespace:
    """The arguments that matter, none given but these."""
    return argparse.Namespace(
        **{
            "judge": None,
            "executor_command": None,
            "device": None,
            "devices": None,
            **flags,
        }
    )


def confirmed(executor: str) -> CampaignConfirmed:
    """An open campaign of an executor."""
    return CampaignConfirmed(policy_named("gpu-wiki").to_json(), False, executor, (), {}, None)


@pytest.fixture
def everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has all a replay needs."""
    monkeypatch.setattr(tune_judge, "_DRIVER", Path(__file__))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: object())


@pytest.mark.usefixtures("everything")
def test_replay_where_it_is_asked_for() -> None:
    """In silence, asked for or not. A launcher or another device are for a child alone, and it says why."""
    assert judge_of(asked(judge="replay"), None) == ("replay", "")
    assert judge_of(asked(judge="replay", device="cuda"), None)[0] == "replay"
    assert judge_of(asked(), None) == ("replay", "")
    for flags in ({"executor_command": "srun"}, {"device": "cpu"}):
        judge, why = judge_of(asked(**flags), None)
        assert judge == "child"
        assert next(iter(flags)).replace("_", "-") in why
        assert "reports" in why
        with pytest.raises(BadInput, match="is for --judge child"):
            judge_of(asked(judge="replay", **flags), None)


@pytest.mark.parametrize("missing", ["cuda.bindings", "triton", "torch"])
def test_child_where_something_is_missing(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """One line names the package; a parent package that is missing is no error."""

    def find(name: str) -> object:
        if name == missing:
            raise ModuleNotFoundError(name)
        return object()

    monkeypatch.setattr("importlib.util.find_spec", find)
    monkeypatch.setattr(tune_judge, "_DRIVER", Path(__file__))
    judge, why = judge_of(asked(), None)
    assert judge == "child"
    assert f"{missing.replace('.', '-')} is not installed" in why
    assert "\n" not in why


@pytest.mark.usefixtures("everything")
def test_no_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Packages alone replay nothing."""
    monkeypatch.setattr(tune_judge, "_DRIVER", tmp_path / "none")
    assert "no NVIDIA driver" in judge_of(asked(), None)[1]


@pytest.mark.usefixtures("everything")
def test_an_open_campaign_keeps_its_judge() -> None:
    """Whatever would be chosen now."""
    assert judge_of(asked(), confirmed("child process")) == ("child", "")
    assert judge_of(asked(), confirmed("replay")) == ("replay", "")


def test_a_child_lowers_what_a_policy_asks_for() -> None:
    """Only that; the campaign is confirmed with it."""
    policy = policy_named("gpu-wiki")
    assert judged_policy(policy, "replay") is policy
    assert judged_policy(policy, "child").least_trust == "reported"


@pytest.mark.parametrize("own", [None, "ab" * 32])
def test_the_limits_gate_records_as_the_jobs_do(wiki_root: Path, own: str | None) -> None:
    """A problem outside the list is recorded with its reference file, which says how candidates are called."""
    executor, asked_for = object.__new__(RecordExecutor), list[dict[str, Any]]()
    executor.recorded = lambda *_, **more: asked_for.append(more) or {}  # type: ignore[method-assign,func-returns-value]
    problem = SimpleNamespace(shapes=((4, 8),), dtype="bf16", options=(), own=own and SimpleNamespace(reference=own))
    store = SimpleNamespace(get={"ab" * 32: b"OP = 'rope'"}.__getitem__)
    options: Any = gated(CampaignOptions(), executor, Registry.open(wiki_root).platform("T10"), problem, store)  # type: ignore[arg-type]
    assert options.resources(b"source").result == "pass"
    assert asked_for == [{"shapes": ("4x8",), "dtype": "bf16", "problem": b"OP = 'rope'" if own else b""}]


def test_executors(wiki_root: Path) -> None:
    """A child with its launcher; a replay knows the product's target."""
    platform = Registry.open(wiki_root).platform("T10")
    child = executor_of(asked(executor_command="srun -n 1"), "child", platform, policy_named("gpu-wiki"))
    assert isinstance(child, ChildProcessExecutor)
    assert child.wrapper == ("srun", "-n", "1")


def test_nothing_to_judge(tmp_path: Path, wiki_root: Path, repo_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--judge beside --simulate is refused by name; nothing is written."""
    words = [
        "init", "norm", "--platform", "T10", "--framework", "Triton", "--kernel-demo",
        str(repo_root / "kernels" / "naive" / "rms_norm.py"), "--shape", "1024x512", "--dtype", "bf16",
        "--parent", str(tmp_path), "--wiki", str(wiki_root),
    ]  # fmt: skip
    assert main(words) == 0
    run = ["tune", "run", str(tmp_path / "kernel_opt_norm"), "--simulate", "--judge", "replay", "--yes"]
    assert main([*run, "--wiki", str(wiki_root)]) == 2
    assert "the simulator would be judged" in capsys.readouterr().err


@pytest.mark.usefixtures("everything")
def test_several_devices_are_for_the_replay() -> None:
    """A child knows one device."""
    assert judge_of(asked(devices="0,1"), None) == ("replay", "")
    with pytest.raises(BadInput, match="--devices is for --judge replay"):
        judge_of(asked(devices="0,1", judge="child"), None)


def test_several_devices_behind_one_judge(wiki_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first decides; a device twice, or none, is refused."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    platform, policy = Registry.open(wiki_root).platform("T10"), policy_named("gpu-wiki")
    made = executor_of(asked(devices="0,1"), "replay", platform, policy)
    judging = made._judging  # type: ignore[attr-defined]
    assert len(judging.workers) == 2
    made.close()  # type: ignore[attr-defined]
    for text in ("0,0", "0,", ","):
        with pytest.raises(BadInput, match="--devices"):
            executor_of(asked(devices=text), "replay", platform, policy)
