"""The launch records that a journal keeps: whole, well formed, and of the sources that they are said to be of."""

from __future__ import annotations

from collections.abc import Iterator

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import WireError, parse, read
from kopt_kb.launch.candidate.answers import kept_run
from kopt_kb.launch.record.bounds import check_code, check_record
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.journal.blobs import ObjectError, ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import CandidateSubmitted, RunFinished, RunStarted

__all__ = ["launch_findings"]

_JOURNAL = "journal.jsonl"
_FIX = "restore objects/ from a backup or the git history"
_AGAIN = "judge the candidate again; the run does not stand"


def launch_findings(events: tuple[Event, ...], store: ObjectStore) -> Iterator[AuditFinding]:
    """Yield a finding for each kept record that is damaged, lacks a code object, or is not what its run says.

    Journals of earlier releases keep no records; nothing is asked of their runs.
    """
    blobs = {one.data.candidate: one.data.blob for one in events if isinstance(one.data, CandidateSubmitted)}
    runs = {one.data.run: one.data for one in events if isinstance(one.data, RunStarted)}
    known: dict[str, LaunchRecord | AuditFinding] = {}
    for event in events:
        data = event.data
        if not isinstance(data, RunFinished) or not data.records:
            continue
        for sha in data.records:
            if sha not in known:
                known[sha] = found = _record(event.seq, sha, store)
                if isinstance(found, AuditFinding):
                    yield found
        started = runs.get(data.run)
        if started is not None:
            yield from _of_run(event.seq, data, started, blobs, known, store)


def _record(seq: int, sha: str, store: ObjectStore) -> LaunchRecord | AuditFinding:
    """Return a kept record whose bytes and code objects are there and in bounds, or what is wrong with it."""
    try:
        where = f"objects/{sha}"
        record = read(LaunchRecord, parse(store.get(sha), where=where), where=where)
        check_record(record, where)
        for code in record.codes:
            check_code(store.get(code), record.target, f"objects/{code}")
    except KoptError as error:
        fix = error.fix if isinstance(error, ObjectError) and error.fix else _FIX
        return AuditFinding("object", _JOURNAL, seq, f"run_finished.records: {error.where}: {error.what}", fix)
    return record


def _of_run(
    seq: int, data: RunFinished, started: RunStarted, blobs: dict[str, str],
    known: dict[str, LaunchRecord | AuditFinding],
    store: ObjectStore,
) -> Iterator[AuditFinding]:  # fmt: skip
    """Yield a finding for each record that a run's answer rests on and that is not kept, or is of another source."""
    try:
        answer = kept_run(started.gate, store.get(data.output)).answer if data.output is not None else None
    except (ObjectError, WireError):
        return  # a finding of its own
    basis = getattr(answer, "basis", None)
    if basis is None:
        return
    source = blobs.get(started.candidate) or blobs.get(started.candidate.rpartition(".")[0])
    for name, sha in basis.records.items():
        if sha not in data.records and name not in basis.unkept:
            text = f"run {data.run} rests on record {sha} ({name}), which the journal does not keep"
            yield AuditFinding("record", _JOURNAL, seq, text, _AGAIN)
        record = known.get(sha)
        is_own = name.startswith("candidate ") and source is not None
        if is_own and isinstance(record, LaunchRecord) and source not in record.sources.values():
            text = f"run {data.run} rests on record {sha} ({name}), which was not made of {started.candidate}"
            yield AuditFinding("record", _JOURNAL, seq, text, _AGAIN)
