"""Files that people may edit, held against what a step captured of them: the test, the reference, plans of rounds."""

from __future__ import annotations

from collections.abc import Iterator

from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.journal.blobs import ObjectError, ObjectStore
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.kernel_test import KERNEL_TEST
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.plans import plan_path
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["captured_findings"]


def captured_findings(layout: Layout, state: WorkspaceState, store: ObjectStore) -> Iterator[AuditFinding]:
    """Yield a finding for each file that is gone or is not what was captured; earlier journals captured less."""
    for name, sha in _captured(layout, state).items():
        try:
            there = read_regular(layout.root / name)
            what = "is gone" if there is None else "" if there == store.get(sha) else "is not what was captured"
        except ObjectError:
            continue  # a finding of its own
        except OSError as error:
            what = f"can't be read: {error.strerror or error}"
        if what:
            fix = f"copy objects/{sha[:12]}… to {name}; write what is new in notes/ or a file of your own"
            yield AuditFinding("captured", name, 0, f"{name} {what}", fix)


def _captured(layout: Layout, state: WorkspaceState) -> dict[str, str]:
    """Return path → blob of each file, the latest last."""
    found = {KERNEL_TEST: state.created.kernel_test} if state.created.kernel_test else {}
    if state.problem.own is not None:
        found[layout.reference.name] = state.problem.own.reference
    for attempt in state.attempts.values():
        submitted = attempt.submitted.get(attempt.name)
        if submitted is not None and submitted.plan:
            found[plan_path(layout, attempt.number).relative_to(layout.root).as_posix()] = submitted.plan
    return found
