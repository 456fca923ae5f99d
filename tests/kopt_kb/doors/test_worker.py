"""Engines of packs in a campaign: a stranger's ranks beside the first device, and another searches."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.tune.judge import executor_of, judge_of, many
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.worker import Worker
from kopt_kb.launch.judge.pool import DevicePool
from kopt_kb.tuning.policy import policy_named
from kopt_kb.wiki.registry import Registry
from tests.installed_packs import installed

HELPER, SEARCH = SimpleNamespace(close=lambda: None), object()
STRANGE = Pack(
    name="strange", what="a test's pack",
    workers=(
        Worker("farm", "cards of a farm", options=("farm",), ranking=lambda args: [HELPER] * int(args.farm or 0)),
        Worker("crowd", "who searches", options=("crowd",), search=lambda args, _: SEARCH if args.crowd else None),
        Worker("mob", "who searches too", options=("mob",), search=lambda args, _: SEARCH if args.mob else None),
    ),
)  # fmt: skip


def asked(**flags: Any) -> argparse.Namespace:
    """The arguments that matter, none given but these."""
    names = ("judge", "executor_command", "device", "devices", "farm", "crowd", "mob")
    return argparse.Namespace(**{**dict.fromkeys(names), **flags})


@pytest.mark.parametrize("without", [(), ("cluster",)])
def test_an_engine_is_asked_by_its_arguments(
    wiki_root: Any, monkeypatch: pytest.MonkeyPatch, without: tuple[str, ...]
) -> None:
    """Its cards rank behind the first device, which alone decides; without its arguments nobody is started."""
    installed(monkeypatch, STRANGE, without=without)
    platform, policy = Registry.open(wiki_root).platform("T10"), policy_named("gpu-wiki")
    made: Any = executor_of(asked(farm="2"), "replay", platform, policy)
    assert made._judging.workers[1:] == (HELPER, HELPER)
    assert made._shared is None
    made.close()
    made = executor_of(asked(crowd="yes"), "replay", platform, policy)
    assert made._shared is SEARCH
    assert not isinstance(made._judging, DevicePool)
    made.close()
    with pytest.raises(BadInput, match="crowd and mob would search"):
        executor_of(asked(crowd="yes", mob="yes"), "replay", platform, policy)


def test_its_arguments_are_for_the_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child knows one device; the options of an engine that is not installed are unknown."""
    installed(monkeypatch, STRANGE, without=("cluster",))
    assert set(many()) == {"devices", "farm", "crowd", "mob"}
    with pytest.raises(BadInput, match="--farm is for --judge replay"):
        judge_of(asked(farm="1", judge="child"), None)
