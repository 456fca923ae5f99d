"""What `kb tune` is asked for: cards of a cluster, and processes that search."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.tune.judge import executor_of, judge_of
from kopt_kb.packs.cluster.options import add_options, cluster_workers, shared_search
from kopt_kb.tuning.policy import policy_named
from kopt_kb.wiki.registry import Registry

NOBODY = ("judge", "executor_command", "device", "devices", "cluster", "searchers", "search_command")


def asked(**flags: Any) -> argparse.Namespace:
    """The arguments that matter, none given but these."""
    return argparse.Namespace(**{**dict.fromkeys(NOBODY), **flags})


def test_words_of_the_command_line() -> None:
    """A number of processes is one."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    found = parser.parse_args(["--cluster", "auto", "--searchers", "2", "--search-command", "srun"])
    assert vars(found) == {"cluster": "auto", "searchers": 2, "search_command": "srun"}


def test_they_are_for_the_replay() -> None:
    """A child knows one device."""
    with pytest.raises(BadInput, match="--cluster is for --judge replay"):
        judge_of(asked(cluster="local", executor_command="srun"), None)
    with pytest.raises(BadInput, match="--search-command is for --judge replay"):
        judge_of(asked(search_command="srun", judge="child"), None)


def test_a_cluster_is_asked_at_its_address(wiki_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cards stand behind the first device of this machine; commands without the argument ask for none."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    helpers = {"auto": [argparse.Namespace(close=lambda: None)]}
    monkeypatch.setattr("kopt_kb.packs.cluster.cluster.ray_workers", helpers.__getitem__)
    platform, policy = Registry.open(wiki_root).platform("T10"), policy_named("gpu-wiki")
    made: Any = executor_of(asked(cluster="auto"), "replay", platform, policy)
    assert made._judging.workers[1:] == tuple(helpers["auto"])
    made.close()
    assert cluster_workers(argparse.Namespace()) == ()


def test_searchers_are_counted_and_started(wiki_root: Path) -> None:
    """A number from 1; a launcher needs one; its processes get their device from it."""
    platform, policy = Registry.open(wiki_root).platform("T10"), policy_named("gpu-wiki")
    many: dict[str, Any] = {"searchers": 2, "devices": "0,1"}
    for more, devices in (({}, ("0", "1")), ({"search_command": "srun -n 1"}, ())):
        made: Any = executor_of(asked(**many, **more), "replay", platform, policy)
        assert made._shared._searchers.devices == devices
        assert made._shared._searchers.command == (("srun", "-n", "1") if more else ())
        made.close()
    target: Any = None
    for flags, code in (
        ({"searchers": 0}, "KB104"), ({"searchers": -1}, "KB105"), ({"search_command": "srun"}, "KB104"),
        ({"searchers": 2, "cluster": "local"}, "KB105"),
    ):  # fmt: skip
        with pytest.raises(BadInput) as caught:
            shared_search(asked(**flags), target)
        assert caught.value.error_code == code
    assert shared_search(argparse.Namespace(), target) is None
