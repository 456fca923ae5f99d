"""Hypotheses from outside: a command that gets the state as JSON, or a plan file; answers are files or patches."""

from __future__ import annotations

import json
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.base.files import read_words
from kopt_kb.base.wire import WireError, read
from kopt_kb.launch.kernel.declared import kernel_name
from kopt_kb.sandbox.deadline import LATE_S, left_s
from kopt_kb.sandbox.process import ChildLimits, environment, run
from kopt_kb.tuning.options import BudgetSpentError
from kopt_kb.tuning.proposals import EvidenceAsked, Proposal, ProposerAnswer, ProposerView

__all__ = ["CommandProposer", "PlanProposer", "apply_patch", "proposal_from_json"]

_MOST_PLAN_BYTES = 4 << 20
"""Size above which a plan is refused."""

_BODIES = ("source", "patch", "files")
"""An answer has one of these."""
"""Seconds a proposer has to end by itself after its time."""


@dataclass(frozen=True, slots=True)
class CommandProposer:
    """Asks a command: the view as JSON on stdin, one JSON object (or nothing: no idea left) on stdout."""

    command: str
    limit_s: float = 600.0

    @property
    def name(self) -> str:
        """How records name it."""
        return f"command {_words(self.command)[0]}"

    def propose(self, view: ProposerView) -> Proposal | EvidenceAsked | None:
        """Return the command's hypothesis, or its wish for evidence.

        Raises:
            BadInput: It fails, takes too long, or answers something else.
            BudgetSpentError: The seconds of the call were over before it answered.
        """
        try:
            wall_s = left_s(view.ends_at, self.limit_s)
        except TimeoutError:
            raise BudgetSpentError from None
        limits = ChildLimits(wall_s, grace_s=LATE_S)
        try:
            done = run(
                _words(self.command),
                env=environment(),
                limits=limits,
                feed=json.dumps(view.document.to_json()).encode(),
            )
        except OSError as error:
            raise _refused(f"the proposer did not answer: {error}", self.name) from error
        if done.passed == "hang" and wall_s < self.limit_s:
            raise BudgetSpentError
        if done.passed:
            why = f"it took over {self.limit_s:g} s" if done.passed == "hang" else "it printed too much"
            raise _refused(f"the proposer did not answer: {why}", self.name)
        if done.code:
            raise _refused(f"the proposer ended with {done.code}: {done.last_line[:200]}", self.name)
        if not done.stdout.strip():
            return None
        try:
            text = done.stdout.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _refused(f"the answer is not UTF-8: {error.reason} at byte {error.start}", self.name) from error
        return proposal_from_json(text, view, self.name)


@dataclass(slots=True)
class PlanProposer:
    """Offers the hypothesis of one file, once: after the round that tries it there is none left.

    One that a round tried before this proposer was asked first is offered all the same, and refused with its number.
    """

    path: Path
    _first: int | None = None
    _held: str | None = None

    @property
    def name(self) -> str:
        """How records name it."""
        return f"plan {self.path.name}"

    def propose(self, view: ProposerView) -> Proposal | EvidenceAsked | None:
        """Return the plan's hypothesis, or None once it was tried; raises `BadInput` if the file is none."""
        first = self._first = view.round if self._first is None else self._first
        found = proposal_from_json(self._text(), view, self.name)
        if isinstance(found, EvidenceAsked):
            return found
        tried = view.earlier(found.category, found.claim)
        return found if tried is None or tried < first else None

    def check_form(self) -> None:
        """Raise `BadInput` if the file is no JSON: all that can be said of a plan before there is an incumbent."""
        _document(self._text(), self.name)

    def _text(self) -> str:
        try:
            if self._held is None:  # a pipe can be read once; a device would never end
                self._held = read_words(self.path, _MOST_PLAN_BYTES)
            return self._held
        except KoptError as error:
            why = error.what.removeprefix("can't be read: ")
            raise _refused(f"the plan can't be read: {why}", str(self.path)) from error


def _document(text: str, name: str) -> object:
    try:
        found: object = json.loads(text)
    except RecursionError as error:
        raise _refused("the answer is nested too deeply", name) from error
    except ValueError as error:
        raise _refused(f"the answer is not JSON: {error}", name) from error
    return found


def proposal_from_json(text: str, view: ProposerView, name: str) -> Proposal | EvidenceAsked:
    """Return the proposal of an answer with category, claim, expected, and source or patch, or that it asks first.

    One that was tried already comes without its change, which may be in the incumbent: it is refused by its words.

    Raises:
        BadInput: A field is missing or no text, or the patch touches another file or does not apply.
    """
    data = _document(text, name)
    if isinstance(data, dict) and "ask" in data:
        return _asked(data, view, name)
    answer = _answer(data, name, of_project=view.project is not None)
    category, claim, expected = (_one_line(answer, key, name) for key in ("category", "claim", "expected"))
    if view.earlier(category, claim) is not None:
        return Proposal(category, claim, expected, name, view.incumbent, risk=answer.risk)
    if view.project is not None:
        source = view.project.candidate(view.incumbent, answer, name)
    elif answer.source:
        source = answer.source.encode()
    else:
        source = apply_patch(view.incumbent, answer.patch, name)
    if source == view.incumbent:
        raise _refused("the proposal changes nothing", name)
    return Proposal(category, claim, expected, name, source, risk=answer.risk)


def _asked(data: object, view: ProposerView, name: str) -> EvidenceAsked:
    """Return a wish for evidence; raises `BadInput` for another wish, or a shape that the problem does not have."""
    try:
        asked = read(EvidenceAsked, data)
    except WireError as error:
        said = 'the answer asks for something else than {"ask": "evidence"}, with a shape where one is meant'
        raise _refused(said, name) from error
    if asked.shape and asked.shape not in view.shapes:
        raise _refused(f"the problem has no shape {asked.shape[:80]!r}, but {', '.join(view.shapes)}", name)
    return asked


def _answer(data: object, name: str, *, of_project: bool) -> ProposerAnswer:
    answer, wrong = None, ""
    try:
        answer = read(ProposerAnswer, data)
    except WireError as error:
        if error.where == "risk" and isinstance(data, dict):
            raise _refused(f"the risk is {str(data['risk'])[:80]!r}, not low, medium or high", name) from None
        wrong = f"{error.where or 'it'} {error.what}"[:160]
    given = [key for key in _BODIES if isinstance(data, dict) and key in data]
    if answer is not None and len(given) != 1:
        wrong = f"it has {' and '.join(given) or 'none of them'}"
    elif answer is not None and answer.files and not of_project:
        wrong = "files are for a project"
    if answer is None or wrong:
        either = "source, patch or files" if of_project else "source or patch"
        raise _refused(f"the answer needs category, claim, expected, and either {either}, as texts: {wrong}", name)
    for key in ("category", "claim", "expected", "source", "patch"):
        _check_unicode(key, getattr(answer, key), name)
    for path, text in answer.files.items():
        _check_unicode("files", path, name)
        _check_unicode("files", text, name)
    return answer


def _check_unicode(key: str, text: str, name: str) -> None:
    """Refuse halves of surrogate pairs: JSON can write them, and no file and no journal can hold them."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _refused(f"{key} holds a character that is no Unicode text (at {error.start})", name) from error


def _one_line(answer: ProposerAnswer, key: str, name: str) -> str:
    """Return a text with single spaces in place of line ends: it becomes a line of reports and a commit's subject."""
    text = " ".join(getattr(answer, key).split())
    if any(ord(char) < 32 or 127 <= ord(char) < 160 for char in text):
        raise _refused(f"{key} holds a control character", name)
    return text


def _words(command: str) -> list[str]:
    """Return the words of a command line; raises `BadInput` for one that can't be split."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise _refused(f"{command!r} is no command line: {error}", "--proposer") from error
    if not words or "\0" in command:
        raise _refused(f"{command!r} names no program", "--proposer")
    return words


def apply_patch(source: bytes, patch: str, name: str) -> bytes:
    """Return the source after a unified diff of kernel.py.

    Raises:
        BadInput: It touches another path, does more than change text, or does not apply.
    """
    from kopt_kb.tuning.patch import git_apply, paths_of  # only where there is a patch: it knows projects

    touched = set(paths_of(patch, name))
    editable = kernel_name(source)
    if touched != {editable}:
        raise _refused(f"the patch touches {', '.join(sorted(touched)) or 'nothing'}; only {editable} may change", name)
    with tempfile.TemporaryDirectory(prefix="kb-patch-") as folder:
        path = Path(folder) / editable
        path.write_bytes(source)
        git_apply(Path(folder), patch, name)
        return path.read_bytes()


def _refused(what: str, where: str) -> BadInput:
    return BadInput(what, where=where, fix="docs/tuning.md says what a proposal holds", code="KB405")
