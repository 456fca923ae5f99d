"""Answers of proposers for a project: a patch, whole files or the kernel source, refused before anything is built."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.paths import path_fault
from kopt_kb.sandbox.gitrun import Git, GitError
from kopt_kb.tuning.proposals import ProposerAnswer

__all__ = ["ForbiddenPathError", "git_apply", "patched_files", "paths_of"]

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_FORBIDDEN = {
    "rename from": "renames a file",
    "rename to": "renames a file",
    "copy from": "copies a file",
    "copy to": "copies a file",
    "deleted file mode": "deletes a file",
    "old mode": "changes a mode",
    "new mode": "changes a mode",
    "GIT binary patch": "is binary",
    "Binary files": "is binary",
}
_SHOWN = 120
_PLAIN_MODE = "new file mode 100644"


class ForbiddenPathError(BadInput):
    """A proposal writes where it may not, or changes more than the text of files; nothing was built."""

    code = "KB413"


def patched_files(
    project: ProjectFile, root: Path, files: Mapping[str, str], answer: ProposerAnswer, name: str
) -> dict[str, str]:
    """Return the candidate's editable files.

    Args:
        project: Says which files are editable.
        root: The project's folder, in which links on the way are looked for.
        files: The incumbent's editable files.
        answer: Has the text of the kernel source, files, or a patch.
        name: Who proposes, for errors.

    Raises:
        ForbiddenPathError: A path is outside the editable ones, absolute, climbs, goes through a link or is protected;
            or a patch renames, copies, deletes, changes a mode or is binary.
        BadInput: The patch does not apply.
    """
    if answer.source:
        changed = {project.kernel_source: answer.source}
    elif answer.patch:
        changed = _apply(project, root, files, answer.patch, name)
    else:
        changed = dict(answer.files)
    for path in changed:
        others = changed.keys() - {path}
        _check(project, root, {*files, *others}, path, name)
    return {**files, **changed}


def _check(project: ProjectFile, root: Path, known: Iterable[str], path: str, name: str) -> None:
    fault = path_fault(project, path, known, root)
    if fault:
        shown = repr(path if len(path) <= _SHOWN else f"{path[:_SHOWN]}…")
        raise ForbiddenPathError(f"{shown} {fault}; nothing was built", where=name, fix="change editable files only")


def _apply(project: ProjectFile, root: Path, files: Mapping[str, str], patch: str, name: str) -> dict[str, str]:
    """Return the files that a unified diff makes different: its words are judged first, then what it did."""
    paths = set(paths_of(patch, name))
    if not paths:
        raise BadInput("the patch names no file", where=name, fix="give a unified diff", code="KB427")
    for path in sorted(paths):
        _check(project, root, files, path, name)
    with tempfile.TemporaryDirectory(prefix="kb-patch-") as folder:
        base = Path(folder) / "files"
        for path, text in files.items():
            (base / path).parent.mkdir(parents=True, exist_ok=True)
            (base / path).write_bytes(text.encode())
        git_apply(base, patch, name)
        return _changed(base, files, name)


def paths_of(patch: str, name: str) -> Iterator[str]:
    """Yield the paths a unified diff touches.

    Raises:
        ForbiddenPathError: It does something else than to change texts or add one.
    """
    old = new = 0
    for line in patch.split("\n"):
        if old > 0 or new > 0:
            old -= line[:1] in {" ", "-", ""}
            new -= line[:1] in {" ", "+", ""}
            continue
        hunk = _HUNK.match(line)
        if hunk:
            old, new = (int(count) if count is not None else 1 for count in hunk.groups())
            continue
        word = next((text for start, text in _FORBIDDEN.items() if line.startswith(start)), "")
        if line.startswith("new file mode") and line.strip() != _PLAIN_MODE:
            word = "makes a link or sets a mode"
        if line.rstrip() == "+++ /dev/null":
            word = "deletes a file"
        if word:
            raise ForbiddenPathError(f"the patch {word}: {line.strip()[:120]}", where=name, fix="change texts only")
        if line.startswith(("--- ", "+++ ", "diff --git ")):
            yield from _named(line)


def _named(line: str) -> Iterator[str]:
    if line.startswith("diff --git "):
        first, _, second = line.removeprefix("diff --git ").rstrip().partition(" b/")
        yield from (first.removeprefix("a/"), second)
        return
    path = line[4:].split("\t", maxsplit=1)[0].rstrip()
    if path != "/dev/null":
        yield path[2:] if path.startswith(("a/", "b/")) else path


def _changed(base: Path, files: Mapping[str, str], name: str) -> dict[str, str]:
    changed = {}
    for path in sorted(base.rglob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise ForbiddenPathError(f"the patch makes {path.name!r} a link", where=name, fix="change texts only")
        if path.is_file():
            inside = path.relative_to(base).as_posix()
            try:
                text = path.read_bytes().decode("utf-8")
            except UnicodeDecodeError as error:
                raise ForbiddenPathError(f"{inside!r} is no UTF-8 text after the patch", where=name) from error
            if files.get(inside) != text:
                changed[inside] = text
    missing = next((path for path in files if not (base / path).is_file()), None)
    if missing is not None:
        raise ForbiddenPathError(f"the patch deletes {missing!r}", where=name, fix="change texts only")
    return changed


def git_apply(base: Path, patch: str, name: str) -> None:
    """Apply a unified diff to the files of a folder.

    Raises:
        MissingTool: git is not there.
        BadInput: Why it does not apply: git's first line; the others follow from it.
    """
    level = "-p1" if re.search(r"^(?:--- a/|\+\+\+ b/|diff --git a/)", patch, re.MULTILINE) else "-p0"
    text = patch if patch.endswith("\n") else f"{patch}\n"
    try:
        Git(base).run("apply", level, "--whitespace=nowarn", "-", feed=text.encode())
    except GitError as error:
        what = f"the patch does not apply: {error.what.removeprefix('git apply failed: ')[:200]}"
        raise BadInput(what, where=name, fix="make it of the incumbent", code="KB427") from error
