"""Hypotheses from outside: a command that gets the state as JSON, or a plan file; answers are files or patches."""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kopt_kb.errors import BadInput
from kopt_kb.process import Limits, environment, run
from kopt_kb.tuning.proposals import Proposal, View

__all__ = ["CommandProposer", "PlanProposer", "apply_patch", "git_apply", "proposal_from_json"]

_TARGET = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?(\S+)", re.MULTILINE)
_EDITABLE = "kernel.py"
_GIT_S = 60.0
_GRACE_S = 2.0
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

    def propose(self, view: View) -> Proposal | None:
        """Return the command's hypothesis.

        Raises:
            BadInput: It fails, takes too long, or answers something else.
        """
        limits = Limits(self.limit_s, grace_s=_GRACE_S)
        try:
            done = run(_words(self.command), env=environment(), limits=limits, feed=json.dumps(view.to_json()).encode())
        except OSError as error:
            raise _refused(f"the proposer did not answer: {error}", self.name) from error
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


@dataclass(frozen=True, slots=True)
class PlanProposer:
    """Offers the hypothesis of one file."""

    path: Path

    @property
    def name(self) -> str:
        """How records name it."""
        return f"plan {self.path.name}"

    def propose(self, view: View) -> Proposal | None:
        """Return the plan's hypothesis; raises `BadInput` if the file is none."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _refused(f"the plan can't be read: {error}", str(self.path)) from error
        return proposal_from_json(text, view, self.name)


def proposal_from_json(text: str, view: View, name: str) -> Proposal:
    """Return the proposal of an answer with category, claim, expected, and source or patch.

    Raises:
        BadInput: A field is missing or no text, or the patch touches another file or does not apply.
    """
    try:
        data = json.loads(text)
    except RecursionError as error:
        raise _refused("the answer is nested too deeply", name) from error
    except ValueError as error:
        raise _refused(f"the answer is not JSON: {error}", name) from error
    fields = _fields(data, name, of_project=view.project is not None)
    if view.project is not None:
        source = view.project.candidate(view.incumbent, fields, name)
    elif "source" in fields:
        source = str(fields["source"]).encode()
    else:
        source = apply_patch(view.incumbent, fields["patch"], name)
    if source == view.incumbent:
        raise _refused("the proposal changes nothing", name)
    category, claim, expected = (_one_line(fields, key, name) for key in ("category", "claim", "expected"))
    return Proposal(category, claim, expected, name, source, risk=fields.get("risk", ""))


def _fields(data: object, name: str, *, of_project: bool) -> Mapping[str, Any]:
    fields: dict[str, Any] = data if isinstance(data, dict) else {}
    needed, bodies = {"category", "claim", "expected"}, {"source", "patch"} | ({"files"} if of_project else set())
    given = bodies & fields.keys()
    texts = all(_is_text(fields.get(key)) for key in (needed | given) - {"files"})
    files = fields.get("files", {})
    mapping = isinstance(files, dict) and all(isinstance(data, str) for data in files.values())
    if not texts or not mapping or len(given) != 1 or fields.keys() - needed - bodies - {"risk"}:
        either = "source, patch or files" if of_project else "source or patch"
        raise _refused(f"the answer needs category, claim, expected, and either {either}, as texts", name)
    if fields.get("risk", "") not in ("", "low", "medium", "high"):
        raise _refused(f"the risk is {str(fields['risk'])[:80]!r}, not low, medium or high", name)
    for key, value in fields.items():
        _check_unicode(key, value, name)
    return fields


def _check_unicode(key: str, value: object, name: str) -> None:
    """Refuse halves of surrogate pairs: JSON can write them, and no file and no journal can hold them."""
    texts = [*value.keys(), *value.values()] if isinstance(value, dict) else [value]
    for text in texts:
        try:
            str(text).encode("utf-8")
        except UnicodeEncodeError as error:
            raise _refused(f"{key} holds a character that is no Unicode text (at {error.start})", name) from error


def _one_line(fields: Mapping[str, Any], key: str, name: str) -> str:
    """Return a text with single spaces in place of line ends: it becomes a line of reports and a commit's subject."""
    text = " ".join(str(fields[key]).split())
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


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def apply_patch(source: bytes, patch: str, name: str) -> bytes:
    """Return the source after a unified diff of kernel.py.

    Raises:
        BadInput: It touches another path, or does not apply.
    """
    touched = {path for path in _TARGET.findall(patch) if path != "/dev/null"}
    if touched != {_EDITABLE}:
        raise _refused(
            f"the patch touches {', '.join(sorted(touched)) or 'nothing'}; only {_EDITABLE} may change", name
        )
    with tempfile.TemporaryDirectory(prefix="kb-patch-") as folder:
        path = Path(folder) / _EDITABLE
        path.write_bytes(source)
        git_apply(Path(folder), patch, name)
        return path.read_bytes()


def git_apply(base: Path, patch: str, name: str) -> None:
    """Apply a unified diff to the files of a folder.

    Raises:
        BadInput: git is not there, or says why it does not apply: its first line; the others follow from it.
    """
    level = "-p1" if re.search(r"^(?:--- a/|\+\+\+ b/|diff --git a/)", patch, re.MULTILINE) else "-p0"
    env = {"GIT_CEILING_DIRECTORIES": str(base.parent), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    text = patch if patch.endswith("\n") else f"{patch}\n"
    command = ["git", "apply", level, "--whitespace=nowarn", "-"]
    try:
        done = run(command, env=env, limits=Limits(_GIT_S), feed=text.encode(), folder=base)
    except OSError as error:
        raise BadInput(f"git is needed to apply a patch: {error}", where=name, code="KB121") from error
    if done.code:
        reason = next(iter(done.stderr.decode(errors="replace").strip().splitlines()), "")[:200]
        what = f"the patch does not apply: {reason}"
        raise BadInput(what, where=name, fix="make it of the incumbent", code="KB427")


def _refused(what: str, where: str) -> BadInput:
    return BadInput(what, where=where, fix="docs/tuning.md says what a proposal holds", code="KB405")
