"""The lint gate for project candidates: what a change adds to its Python files, held against the baseline's files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kopt_kb.tuning.decision import GateResult
from kopt_kb.tuning.source_lint import LintFinding, lint_source

__all__ = ["lint_files"]

_DEAD = "the kernel "


def lint_files(old: Mapping[str, str], new: Mapping[str, str]) -> GateResult:
    """Return pass or fail for the Python files that differ, unavailable when none of the changed ones is Python.

    Files of a project may import their neighbours, and may have called libraries all along: only what a change adds
    counts. A kernel that another file of the candidate names is launched.

    Args:
        old: The baseline's files, path → text.
        new: The candidate's files.
    """
    changed = sorted(path for path, text in new.items() if old.get(path) != text)
    judged = [path for path in changed if path.endswith(".py")]
    if changed and not judged:
        return GateResult("lint", "unavailable", f"the lint knows Python, and {', '.join(changed[:3])} is none")
    problems: list[str] = []
    for path in judged:
        added = _added(_findings(old.get(path, ""), path, old), _findings(new[path], path, new))
        problems += [f"{path}:{one.line} {one.what}" for one in added]
    if problems:
        return GateResult("lint", "fail", "; ".join(problems[:5]))
    left = [path for path in changed if path not in judged]
    return GateResult("lint", "pass", f"not judged: {', '.join(left)}" if left else "")


def _findings(text: str, path: str, files: Mapping[str, str]) -> list[LintFinding]:
    others = "\n".join(other for name, other in files.items() if name != path)
    found = lint_source(text.encode(), standalone=False)
    return [one for one in found if not (one.what.startswith(_DEAD) and one.what.split()[2] in others)]


def _added(old: list[LintFinding], new: list[LintFinding]) -> list[LintFinding]:
    """Return the findings of `new` beyond as many of the same words in `old`, the last ones of a file."""
    known = Counter(one.what for one in old)
    added = []
    for one in new:
        if known[one.what]:
            known[one.what] -= 1
        else:
            added.append(one)
    return added
