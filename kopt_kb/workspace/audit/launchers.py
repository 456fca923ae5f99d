"""Launchers that versions are said to have: held against the runs that saw them, and listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kopt_kb.base.wire import WireError
from kopt_kb.launch.candidate.answers import kept_run
from kopt_kb.launch.candidate.launcher_run import LauncherRun, LauncherWord, launcher_says
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.journal.blobs import ObjectError, ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import Decided, LauncherConfirmed, RunFinished, RunStarted
from kopt_kb.workspace.rounds import ACCEPTED

__all__ = ["launcher_findings", "launchers_said"]

_JOURNAL = "journal.jsonl"
_FIX = "judge the round again; its launcher was not seen"


def launcher_findings(events: tuple[Event, ...], store: ObjectStore) -> Iterator[AuditFinding]:
    """Yield a finding for each launcher that is said to be seen and that no run saw so."""
    runs: dict[str, RunStarted] = {}
    outputs: dict[str, str | None] = {}
    seen: dict[int, LauncherWord] = {}
    for event in events:
        data = event.data
        if isinstance(data, RunStarted):
            runs[data.run] = data
        elif isinstance(data, RunFinished):
            outputs[data.run] = data.output
        elif isinstance(data, LauncherConfirmed):
            seen[data.version] = data.outcome
            if not _is_answered(data, runs.get(data.run), outputs.get(data.run), store):
                text = f"the launcher of v{data.version} is {data.outcome}, run {data.run} says something else"
                yield AuditFinding("record", _JOURNAL, event.seq, text, _FIX)
        elif isinstance(data, Decided) and data.launcher not in {"", "no", seen.get(data.round, "no")}:
            text = f"round {data.round} says launcher: {data.launcher}, and no event before it does"
            yield AuditFinding("record", _JOURNAL, event.seq, text, _FIX)


def _is_answered(data: LauncherConfirmed, started: RunStarted | None, output: str | None, store: ObjectStore) -> bool:
    if started is None or started.gate != "launcher" or started.candidate != f"v{data.version}" or output is None:
        return False
    try:
        answer = kept_run("launcher", store.get(output)).answer
    except (ObjectError, WireError):
        return False
    if not isinstance(answer, LauncherRun) or answer.problem:
        return False
    said = (data.outcome, data.device, data.contents, dict(data.launches), dict(data.interval))
    return said == (answer.outcome, answer.device, answer.contents, dict(answer.launches), dict(answer.times))


def launchers_said(events: tuple[Event, ...]) -> Mapping[str, str]:
    """Return accepted version → what its decision says of its launcher."""
    decided = [event.data for event in events if isinstance(event.data, Decided)]
    return {f"v{one.round}": launcher_says(one.launcher) for one in decided if one.decision in ACCEPTED}
