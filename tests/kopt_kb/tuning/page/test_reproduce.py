"""The commands of a report: words of the command line as it is, whatever names are in them."""

from __future__ import annotations

import argparse
import importlib
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.cli.commands import every_command
from kopt_kb.cli.kit.parser import Parser
from kopt_kb.tuning.page.reproduce import commands
from kopt_kb.workspace.journal.campaign_events import Invocation
from kopt_kb.workspace.route import RecordedProject
from kopt_kb.workspace.state import WorkspaceState
from tests.kopt_kb.tuning.page.conftest import CAMPAIGNS, ROOT, state_of, told

MODULES = {command.name: command.module for _, command in every_command()}


def parsed(state: WorkspaceState) -> list[argparse.Namespace]:
    """The kb commands as the command line reads them; the shell's own comments are left out."""
    found = []
    for words in [shlex.split(line, comments=True) for line in _whole(commands(state))]:
        if words[:1] == ["kb"]:
            module = importlib.import_module(MODULES[words[1]])
            parser = Parser(prog=f"kb {words[1]}")
            module.add_arguments(parser)
            found.append(parser.parse_args(words[2:]))
    return found


def _whole(text: str) -> list[str]:
    """Lines of a shell: quotes may span several."""
    lines: list[str] = []
    for line in text.split("\n"):
        if lines and lines[-1].count("'") % 2:
            lines[-1] += "\n" + line
        else:
            lines.append(line)
    return lines


@pytest.mark.parametrize("folder", CAMPAIGNS, ids=lambda one: f"{one.parent.name}-{one.name}")
def test_the_command_line_takes_them(folder: Path) -> None:
    """Audit, the start, the campaign with its own sizes and judge."""
    state = state_of(folder)
    audit, init, run = parsed(state)
    assert audit.path == "."
    assert (init.platform, init.op, init.dtype) == (state.created.platform, state.problem.op, state.problem.dtype)
    assert len(init.shape) == len(state.problem.shapes)
    assert state.campaign is not None
    assert run.judge == ("replay" if state.campaign.executor == "replay" else "child")
    assert run.evaluations == (
        state.campaign.settings["evaluations"] if state.campaign.settings["evaluations"] != 48 else None
    )
    assert run.yes


def test_only_what_differs_is_asked_for() -> None:
    """32 configurations, 40 s of search, an own flush; reasons that the policy leaves out; its scope."""
    text = commands(state_of(ROOT / "h200_sxm" / "rms_norm"))
    assert "--evaluations 32 --search-s 40 --flush-bytes 536870912" in text
    assert "--no-stop target --no-stop hardware_limit" in text
    assert "--samples" not in text
    assert "objects/0e9efe99d15ea3109994e935b9bd384b42c493969713eb73304d3bbcad24cd5b rms_norm.py" in text


def test_a_simulation_says_so_and_targets_need_no_run() -> None:
    """And a workspace without a kernel has no campaign."""
    state = state_of(CAMPAIGNS[0])
    assert state.campaign is not None
    played = replace(state, campaign=replace(state.campaign, simulated=True))
    assert "--simulate" in commands(played)
    assert "kb tune run" not in commands(replace(state, campaign=None))


@pytest.mark.parametrize("text", ["a b", "$(rm -rf x)", "`id`", "'; id; '", "a\nid", "--yes", "x # y"])
def test_names_of_anybody_are_one_word(text: str) -> None:
    """Quoted for a shell: nothing runs but kb and cp."""
    lines = _whole(commands(told(state_of(CAMPAIGNS[0]), text)))
    assert [shlex.split(line, comments=False)[0] for line in lines if not line.startswith("#")] == [
        "kb",
        "cp",
        "kb",
        "kb",
    ]
    assert shlex.split(lines[4])[2] == text


def test_a_project_and_a_problem_of_others_are_named() -> None:
    """Their own file says the rest; a proposer and a launcher are asked again."""
    state = state_of(CAMPAIGNS[0])
    project = RecordedProject("some where/project.toml", "some where", "0" * 64)
    text = commands(replace(state, task=replace(state.task, project=project, kernel_demo="")))
    assert "--project 'some where/project.toml'\n" in text
    assert "--judge" not in text
    assert state.campaign is not None
    launch = Invocation(("ask me",), "srun --gpus=1", "cuda", no_package=True)
    text = commands(replace(state, campaign=replace(state.campaign, launch=launch)))
    assert "--proposer 'ask me' --plan plan.json --executor-command 'srun --gpus=1' --no-package" in text


def test_a_policy_of_its_own_is_asked_for_again() -> None:
    """Rounds, scope, core shapes and the ledger."""
    state = state_of(ROOT / "h200_sxm" / "rms_norm")
    assert state.campaign is not None
    own = {
        **state.campaign.policy,
        "max_rounds": 7,
        "stop_scope": "every_shape",
        "core_shapes": ("8192x4096",),
        "close_ledger": True,
    }
    text = commands(replace(state, campaign=replace(state.campaign, policy=own)))
    assert "--max-rounds 7" in text
    assert "--close-ledger --core-shape 8192x4096" in text
    assert ("--aggregate" in text) is False
