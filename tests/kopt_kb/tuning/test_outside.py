"""Hypotheses from outside: whole files and patches of kernel.py alone."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.tuning.options import BudgetSpentError
from kopt_kb.tuning.outside import CommandProposer, PlanProposer, apply_patch, proposal_from_json
from kopt_kb.tuning.proposals import EvidenceAsked, ProposerView, Tried

VIEW = ProposerView("softmax", ("2x4",), "bf16", "sm_90", "memory", "", 1, b"a = 1\nb = 2\n")
PATCH = "--- a/kernel.py\n+++ b/kernel.py\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n"
WORDS = {"category": "caching", "claim": "b is 3", "expected": "less time"}


def test_a_patch_is_applied() -> None:
    """With and without the a/ and b/ prefixes."""
    assert apply_patch(VIEW.incumbent, PATCH, "x") == b"a = 1\nb = 3\n"
    assert apply_patch(VIEW.incumbent, PATCH.replace("a/", "").replace("b/", ""), "x") == b"a = 1\nb = 3\n"


@pytest.mark.parametrize(
    ("patch", "word"),
    [
        (PATCH.replace("kernel.py", "reference.py"), "reference.py"),
        (PATCH.replace("b/kernel.py", "b/../journal.jsonl"), "journal.jsonl"),
        (PATCH.replace("b = 2", "b = 9"), "does not apply"),
        ("nothing", "touches nothing"),
        (PATCH + PATCH.replace("kernel.py", "test_kernel.py"), "test_kernel.py"),
        (PATCH.replace("b/kernel.py", "/dev/null"), "deletes a file"),
        ("diff --git a/kernel.py b/k.py\nrename from kernel.py\nrename to k.py\n", "renames a file"),
        ("diff --git a/kernel.py b/kernel.py\nold mode 100644\nnew mode 100755\n", "changes a mode"),
        (PATCH.split("@@", maxsplit=1)[0] + "@@ -1,3 +1,3 @@\n" + PATCH.split("@@\n")[1], "does not apply"),
    ],
)
def test_other_patches_are_refused(patch: str, word: str) -> None:
    """Another path, one more, a context that is not there, no text of a file, a damaged hunk, no patch at all."""
    with pytest.raises(BadInput, match=word):
        apply_patch(VIEW.incumbent, patch, "x")


@pytest.mark.parametrize(
    ("answer", "words"),
    [("no json", "not JSON"), ("[]", "it has to be an object"), (json.dumps(WORDS), "it has none of them"),
     (json.dumps({**WORDS, "source": "x", "patch": "y"}), "it has source and patch"),
     (json.dumps({**WORDS, "source": "a = 1\nb = 2\n"}), "changes nothing"),
     (json.dumps({**WORDS, "source": 3}), "source has to be text"), (json.dumps({**WORDS, "patch": ""}), "patch has to"),
     (json.dumps({"category": "a", "claim": "b", "patch": PATCH}), "expected is missing"),
     (json.dumps({**WORDS, "files": {"kernel.py": "x"}}), "files are for a project"),
     (json.dumps({**WORDS, "source": "x", "more": "y"}), "more is no member")],
)  # fmt: skip
def test_wrong_answers_are_refused_with_what_is_wrong(answer: str, words: str) -> None:
    """No JSON, no object, fields missing, two bodies, no change, no text, surplus."""
    with pytest.raises(BadInput, match=words):
        proposal_from_json(answer, VIEW, "x")


def test_an_answer_is_what_its_schema_says(fits: Callable[[str, object], bool]) -> None:
    """One of source, patch and files is enough; a claim has to be there, and nothing else may."""
    assert fits("proposer_answer", {**WORDS, "source": "a = 1"})
    assert fits("proposer_answer", {**WORDS, "patch": PATCH, "risk": "low"})
    assert not fits("proposer_answer", {"category": "caching", "expected": "less time", "source": "a = 1"})
    assert not fits("proposer_answer", {**WORDS, "sauce": "a = 1"})


def test_a_wish_for_evidence_is_what_its_schema_says(fits: Callable[[str, object], bool]) -> None:
    """What asks besides proposing; nothing else may stand there."""
    assert fits("proposer_asks", {"ask": "evidence"})
    assert fits("proposer_asks", {"ask": "evidence", "shape": "8x8"})
    assert not fits("proposer_asks", {"ask": "evidence", "surplus": 1})
    assert not fits("proposer_asks", {"ask": "money"})


def test_a_command_gets_the_view_and_answers(tmp_path: Path) -> None:
    """The state comes on stdin; silence means no idea left; failure is named."""
    script = tmp_path / "p.py"
    script.write_text(
        "import json, sys\nview = json.load(sys.stdin)\n"
        "print(json.dumps({'category': 'c', 'claim': view['op'], 'expected': 'e', 'source': view['kernel'] + 'c = 1\\n'}))\n"
    )
    found = CommandProposer(f"{sys.executable} {script}").propose(VIEW)
    assert found is not None
    assert (found.claim, found.source) == ("softmax", b"a = 1\nb = 2\nc = 1\n")
    assert CommandProposer("true").propose(VIEW) is None
    for command in ("false", "/no/such/command"):
        with pytest.raises(BadInput):
            CommandProposer(command).propose(VIEW)


def test_a_command_is_ended_with_the_budget() -> None:
    """Which is no fault of the command; nothing is asked once the budget is over."""
    begin = time.monotonic()
    with pytest.raises(BudgetSpentError):
        CommandProposer("sleep 600").propose(replace(VIEW, ends_at=begin + 0.3))
    with pytest.raises(BudgetSpentError):
        CommandProposer("true").propose(replace(VIEW, ends_at=begin))
    assert time.monotonic() - begin < 300


def test_a_plan_file(tmp_path: Path) -> None:
    """One object in a file; an absent file is named."""
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({**WORDS, "patch": PATCH}))
    found = PlanProposer(plan).propose(VIEW)
    assert found is not None and found.proposer == "plan plan.json"
    with pytest.raises(BadInput, match="can't be read"):
        PlanProposer(tmp_path / "none.json").propose(VIEW)
    with pytest.raises(BadInput, match="plan can't be read: Is a directory"):
        PlanProposer(tmp_path).propose(VIEW)


def test_a_wish_for_evidence() -> None:
    """On a shape of the problem, or the largest; any other wish is refused with what can be asked."""
    assert proposal_from_json('{"ask": "evidence"}', VIEW, "x") == EvidenceAsked("evidence")
    assert proposal_from_json('{"ask": "evidence", "shape": "2x4"}', VIEW, "x") == EvidenceAsked("evidence", "2x4")
    for answer in ({"ask": "money"}, {"ask": "evidence", "source": "x"}, {"ask": 3}, {"ask": "evidence", "shape": "8"}):
        with pytest.raises(BadInput, match="asks for something else|has no shape"):
            proposal_from_json(json.dumps(answer), VIEW, "x")


def test_a_plan_is_offered_once(tmp_path: Path) -> None:
    """After its own round there is none left, whatever became of it; one that an earlier round tried is named."""
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({**WORDS, "patch": PATCH}))
    once = PlanProposer(plan)
    assert once.propose(VIEW) is not None
    tried = Tried(1, WORDS["category"], WORDS["claim"], "accept", "R3 improved")
    after = replace(VIEW, round=2, incumbent=b"a = 1\nb = 3\n", tried=(tried,))
    assert once.propose(after) is None
    again = PlanProposer(plan).propose(after)
    assert again is not None
    assert after.earlier(again.category, again.claim) == 1


HALF = "\ud800"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({**WORDS, "source": f"x = '{HALF}'"}, "source holds"),
        ({**WORDS, "claim": f"a {HALF}", "source": "x"}, "claim holds"),
        ({**WORDS, "category": HALF, "source": "x"}, "category holds"),
        ({**WORDS, "patch": PATCH + HALF}, "patch holds"),
        ({**WORDS, "claim": "a \0", "source": "x"}, "claim holds a control character"),
        ({**WORDS, "source": "x", "risk": ["high"]}, "the risk is"),
        ({**WORDS, "source": "x", "risk": {}}, "the risk is"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5000, "is not JSON"),
    ],
)
def test_answers_that_nothing_can_keep(answer: dict[str, object] | str, words: str) -> None:
    """Halves of surrogate pairs, control characters, lists for words, no end of brackets."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    with pytest.raises(BadInput, match=words) as caught:
        proposal_from_json(text, VIEW, "x")
    assert caught.value.error_code == "KB405"


def test_words_become_one_line() -> None:
    """They are lines of reports."""
    found = proposal_from_json(json.dumps({**WORDS, "claim": " b\n is\t\r\n3 ", "source": "b = 3"}), VIEW, "x")
    assert found.claim == "b is 3"


def test_one_line_of_git(tmp_path: Path) -> None:
    """The first says which hunk, the second only that it failed."""
    with pytest.raises(BadInput) as caught:
        apply_patch(VIEW.incumbent, PATCH.replace("b = 2", "b = 9"), "x")
    assert "patch failed: kernel.py:1" in str(caught.value) and "\n" not in str(caught.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """An answer in another encoding is refused, and so is a command line that is none."""
    script = tmp_path / "p.py"
    script.write_text('import sys\nsys.stdout.buffer.write(b\'{"claim": "\\xff"}\')\n')
    with pytest.raises(BadInput, match="not UTF-8"):
        CommandProposer(f"{sys.executable} {script}").propose(VIEW)
    for command in ("'open", "", "a\0b"):
        with pytest.raises(BadInput, match=r"no command line|names no program"):
            CommandProposer(command).propose(VIEW)


def test_a_plan_is_read_once(tmp_path: Path) -> None:
    """A pipe has nothing to say the second time."""
    plan = tmp_path / "plan.json"
    plan.write_text("{}")
    proposer = PlanProposer(plan)
    proposer.check_form()
    plan.write_text("no JSON")
    proposer.check_form()


@pytest.mark.parametrize(("place", "said"), [("/dev/zero", "is a device"), ("large", "is larger than")])
def test_a_plan_without_an_end_is_not_read(tmp_path: Path, place: str, said: str) -> None:
    """A device, and a file of more bytes than any plan has."""
    (tmp_path / "large").write_bytes(b" " * (5 << 20))
    with pytest.raises(BadInput, match=f"can't be read: {said}"):
        PlanProposer(tmp_path / place).check_form()
