"""Claims about security and trust stand with their tests: each sentence is in its page, each test in its file."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.doors.languages import languages
from tests.docs.claims_of_trust import EXPLAINS, TRUST

ROOT = Path(__file__).parents[2]
_AUDIT = "tests/kopt_kb/workspace/audit"
_CONSENT = "tests/kopt_kb/cli/kit/test_consent.py"
_CAGE = "tests/kopt_kb/sandbox/test_cage.py"
_WALLS = "tests/kopt_kb/sandbox/test_walls.py"
_REPORTED = "tests/kopt_kb/tuning/test_reported.py"
_ENTRIES = "tests/kopt_kb/launch/project/test_entries.py"
_JUDGEMENT = "tests/kopt_kb/launch/kernel/test_judgement.py"

SECURITY: dict[str, tuple[str, ...]] = {
    "a wall that let one of them through is not called held": (
        "tests/kopt_kb/sandbox/test_walls.py::test_a_wall_that_is_called_held_is_passed_by_nothing",
        f"{_CAGE}::test_without_a_canary_no_wall_is_called_held",
    ),
    "the log of each run and each record say which walls were held": (
        "tests/kopt_kb/sandbox/test_caged.py::test_what_held_is_on_record_before_it_starts",
    ),
    "A caged child reads the system's programs and libraries": (
        "tests/kopt_kb/sandbox/test_shown.py::test_nothing_of_a_user_is_on_the_list_of_every_machine",
        "tests/kopt_kb/sandbox/test_shown.py::test_a_file_in_a_home_brings_sources_alone",
    ),
    "files without a name and disk are counted with and without control groups": (
        "tests/kopt_kb/sandbox/test_used.py::test_files_without_a_name_are_counted",
        "tests/kopt_kb/sandbox/test_watch.py::test_a_child_is_ended_past_a_limit",
    ),
    "nothing in them is unpickled, evaluated or followed": (
        "tests/guards/test_house.py::test_no_pickles",
        f"{_AUDIT}/test_bundled.py::test_no_member_but_a_regular_file_is_written",
    ),
    "names in them can't steer a terminal or a page": (
        "tests/kopt_kb/base/markup/test_text.py::test_control_and_direction_characters_are_escapes",
    ),
    "is started only where this user gave it on a command line or allowed it": (
        f"{_CONSENT}::test_commands_of_a_journal_are_refused_where_nobody_can_be_asked",
        f"{_CONSENT}::test_a_strangers_workspace_runs_no_project",
    ),
    "The same holds for the network and the variables that a project file asks for": (
        f"{_CONSENT}::test_a_project_that_asks_for_more_is_shown_and_refused",
    ),
    "Through `kb mcp` no proposer and no launcher that a journal names is started": (
        f"{_CONSENT}::test_a_server_starts_no_command_of_a_journal",
    ),
    "git reads no setting, hook, filter, attribute or include of a repository that kb meets": (
        "tests/kopt_kb/sandbox/test_gitdir.py::test_nothing_of_a_strangers_repository_runs",
        "tests/kopt_kb/sandbox/test_gitrun.py::test_nothing_but_the_runner_starts_git",
    ),
    "A judge's process imports no candidate": ("tests/docs/test_claims.py::test_a_judge_has_no_way_to_import_a_file",),
    "An edit of a journal breaks its chain, which the audit names": (
        "tests/kopt_kb/workspace/journal/test_chain.py::test_removed_moved_doubled_blank_and_respaced_lines_are_named",
    ),
    "the audit then says *consistent, origin unproven*": (
        f"{_AUDIT}/test_judged.py::test_a_journal_with_times_that_could_be_is_consistent_and_no_more",
    ),
    "A record below the floor of its shape, times that exclude each other, a machine that no page of the wiki knows": (
        f"{_AUDIT}/test_floors.py::test_a_journal_with_a_tenth_of_its_times_is_below_its_floor",
        f"{_AUDIT}/test_times.py::test_events_that_contradict_each_other",
        f"{_AUDIT}/test_machines.py::test_a_machine_that_is_none",
        f"{_AUDIT}/test_judged.py::test_records_and_decisions_without_ground",
    ),
    "A bundle whose pages say otherwise than this machine's wiki on a row that its targets rest on is a finding": (
        f"{_AUDIT}/test_bundled.py::test_a_row_that_targets_rest_on_and_this_machine_says_otherwise_is_a_finding",
    ),
    "`kb mcp` takes paths below its `--root` folders only": ("tests/packs/agents/test_roots.py::test_outside",),
    "A .gitignore that kb did not write is a finding": (f"{_AUDIT}/test_written.py::test_what_kb_wrote_is_named",),
    "a README's text outside of its blocks is said to be a person's": (
        f"{_AUDIT}/test_written.py::test_a_persons_words_are_said_to_be_that",
    ),
    "A policy of the package accepts times that a project reports, of results that nobody compared, only where": (
        f"{_REPORTED}::test_nothing_is_accepted_without_the_users_word",
        f"{_REPORTED}::test_naming_a_project_accepts_no_times",
        f"{_REPORTED}::test_a_users_word_is_kept",
    ),
    "What a project's command `outputs` computes comes from the copy, and from functions that its benchmark calls": (
        f"{_ENTRIES}::test_results_of_something_else_than_the_copy_are_found",
        f"{_ENTRIES}::test_a_function_that_is_only_timed_is_named",
        "tests/kopt_kb/launch/project/test_outputs.py::test_at_the_baseline_results_must_be_of_what_is_timed",
    ),
}
"""Sentence, or the part of it that claims something → tests that hold it; each point of the section has one."""

KNOWN: dict[str, tuple[str, ...]] = {
    "made again from the file's text by a process that runs none of it (`source: bound`)": (
        "tests/kopt_kb/launch/recompile/test_binding.py::test_a_record_of_something_else_is_unbound",
    ),
    "In languages that nothing makes again": (
        "tests/docs/test_claims.py::test_languages_that_nothing_makes_again_are_those_that_are_named",
    ),
    "A launcher was seen to do once, caged, what its record does": (
        "tests/kopt_kb/launch/candidate/test_launcher_check.py::test_a_defeat_device_is_a_problem",
    ),
    "commands of projects can change modes and times of files that their user owns": (
        f"{_WALLS}::test_a_build_keeps_its_calls_and_the_walls_that_need_none",
    ),
    "Commands of projects can lock files that they are shown": (
        f"{_WALLS}::test_a_build_keeps_its_calls_and_the_walls_that_need_none",
    ),
    "Counting looks five to ten times a second": (
        "tests/kopt_kb/sandbox/test_watch.py::test_a_child_is_ended_past_a_limit",
    ),
    "Landlock hides what they hold, not that they are there": (
        f"{_WALLS}::test_a_wall_that_is_called_held_is_passed_by_nothing",
    ),
    "is told *consistent, origin unproven*": (
        f"{_AUDIT}/test_judged.py::test_a_journal_with_times_that_could_be_is_consistent_and_no_more",
    ),
    "each gain then stands with *times reported by the project, results not compared*": (
        f"{_REPORTED}::test_no_view_of_a_workspace_has_a_gain_without_its_level",
        f"{_REPORTED}::test_no_command_says_a_gain_without_its_level",
    ),
    "Of another language both have to be one program": (
        f"{_ENTRIES}::test_where_no_call_is_seen_both_are_one_program",
    ),
    "Where right results are exact in bf16 and fp16, 2⁻¹⁴ is the limit": (
        f"{_JUDGEMENT}::test_where_results_are_exact_a_tolerance_is_no_budget",
    ),
}
"""The same of what is known not to hold: the test that shows how far it does."""

_SAID = [("SECURITY.md", *one) for one in (SECURITY | KNOWN).items()] + [
    ("docs/explanation/trust.md", *one) for one in TRUST.items()
]


def _words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(("page", "sentence", "tests"), _SAID, ids=[one[1][:40] for one in _SAID])
def test_a_sentence_and_its_tests_are_there(page: str, sentence: str, tests: tuple[str, ...]) -> None:
    """Whoever takes one away takes the other."""
    assert sentence in _words((ROOT / page).read_text())
    for one in tests:
        file, _, name = one.partition("::")
        tree = ast.parse((ROOT / file).read_text())
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert name in functions, one


@pytest.mark.parametrize(
    ("begin", "end", "said"),
    [
        ("## What is meant to hold", "\nA way around", SECURITY),
        ("## What is known not to hold", "\n## What is not", KNOWN),
    ],
    ids=["meant", "known"],
)
def test_no_point_stands_without_a_test(begin: str, end: str, said: dict[str, tuple[str, ...]]) -> None:
    """Of what is meant to hold, and of what is known not to."""
    section = (ROOT / "SECURITY.md").read_text().partition(begin)[2].partition(end)[0]
    points = [_words(one) for one in re.split(r"\n- ", section) if one.strip()]
    assert len(points) >= 9
    bare = [one for one in points if not any(sentence in one for sentence in said)]
    assert bare == []


def test_every_sentence_on_trust_has_a_test_or_only_explains() -> None:
    """But for the lists of what is not proved, whose point it is, and the rows of tables."""
    text = (ROOT / "docs/explanation/trust.md").read_text().partition("\n## What is not proved")[0]
    prose = "\n".join(line for line in text.split("\n") if not line.startswith(("|", "#")))
    parts = [_words(one) for one in re.split(r"\n\n|\n(?=- |\d\. )", prose)]
    sentences = [one for part in parts for one in re.split(r"(?<=[.:;])\s+(?=[A-Z`*\[])", part.lstrip("-0123456789. "))]
    assert len(sentences) > 80
    bare = [one for one in sentences if one and not one.startswith(EXPLAINS) and not any(said in one for said in TRUST)]
    assert bare == []


def test_languages_that_nothing_makes_again_are_those_that_are_named() -> None:
    """By the table of languages, where their packs are."""
    text = _words((ROOT / "SECURITY.md").read_text())
    named = text.partition("In languages that nothing makes again (")[2].partition(")")[0].split(", ")
    unmade = [one.name for one in languages() if one.recompile is None and one.name != "PyTorch"]
    plain = {re.sub(r"[^a-z]", "", one.casefold()) for one in named}
    assert {re.sub(r"[^a-z]", "", one.casefold()) for one in unmade} <= plain


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_the_measured_ways_are_those_that_are_said(dtype: str) -> None:
    """The numbers of the page are those of the stored results."""
    found = json.loads((ROOT / f"benchmarks/results/spent_tolerance_{dtype}.json").read_text())
    text = _words((ROOT / "docs/explanation/trust.md").read_text())
    assert found["refused"] == []
    assert found["honest"] == 16
    assert f"{found['ways']} ways" in text or f"all {found['ways']} showed before" in text
    if dtype == "bf16":
        assert f"{found['shown_before']} showed before there were these inputs, {found['shown']} do with them" in text
    else:
        assert found["shown"] == found["shown_before"] == found["ways"]


def test_every_class_of_others_is_counted() -> None:
    """The count under the table is that of its rows."""
    text = (ROOT / "docs/exploits.md").read_text().partition("## What others tried")[2]
    states = [line.split("|")[3].strip() for line in text.splitlines() if line.startswith("| ")][1:]
    still = sum(one.startswith("open") for one in states)
    assert f"{len(states)} classes by others: {still} open, {len(states) - still} caught." in text


def test_a_judge_has_no_way_to_import_a_file() -> None:
    """No module of its process runs text as code or loads a module from a path."""
    code = (
        "import sys, kopt_kb.launch.record.service\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('kopt_kb') and m.__file__), sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    files = [Path(one) for one in done.stdout.split("\n") if one]
    assert any(one.name == "service.py" for one in files)
    for file in files:
        calls = [node.func for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
        named = {
            one.id if isinstance(one, ast.Name) else one.attr if isinstance(one, ast.Attribute) else "" for one in calls
        }
        assert not named & {"exec", "eval", "spec_from_file_location", "run_path", "exec_module"}, file
