"""Claims about what a job's answer rests on."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import pytest

from kopt_kb.launch.candidate.job import Job
from kopt_kb.launch.judge import job_work
from kopt_kb.launch.judge.job_work import JobWork
from kopt_kb.launch.record.judge import OBJECTS, RECORD


def test_a_record_that_is_not_too_large_goes_with_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any is named by its hash; one above the limit is said to be left out."""
    (tmp_path / OBJECTS).mkdir()
    (tmp_path / RECORD).write_bytes(b"record")
    (tmp_path / OBJECTS / "a").write_bytes(b"code")
    work = JobWork(Job("check"), math.inf)
    with work.part("record"):
        work.rests_on("candidate 4", tmp_path)
    digest = hashlib.sha256(b"record").hexdigest()
    assert (work.kept, work.unkept) == ({digest: (b"record", b"code")}, {})
    monkeypatch.setattr(job_work, "_KEPT_BYTES", 9)
    work.rests_on("incumbent 4", tmp_path)
    basis = work.basis()
    assert (set(basis.records.values()), list(basis.unkept), set(basis.seconds)) == (
        {digest}, ["incumbent 4"], {"record"},
    )  # fmt: skip
