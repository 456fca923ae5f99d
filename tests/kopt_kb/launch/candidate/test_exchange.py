"""A job and its answer pass through files; only an answer with the job's token is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.launch.candidate.answers import Check
from kopt_kb.launch.candidate.exchange import answered, give, reply, take_job
from kopt_kb.launch.candidate.job import Request


def test_a_job_is_given_once_and_answered(tmp_path: Path) -> None:
    """The job and its secret are gone before any candidate could look; every job has another secret."""
    token = give(tmp_path, "check", Request(shapes=("2x4",)))
    assert take_job(tmp_path) == ("check", Request(shapes=("2x4",)), token)
    assert not (tmp_path / "job.json").exists()
    assert answered(tmp_path, "check", token) is None
    reply(tmp_path, token, Check(passed=True))
    assert answered(tmp_path, "check", token) == Check(passed=True)
    assert [one.name for one in tmp_path.iterdir()] == ["result.json"]
    assert give(tmp_path, "check", Request()) != token


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[" * 100_000,
        '{"token": "T"}',
        '{"token": "T", "result": 1}',
        '{"result": {}}',
        '{"token": "T", "result": {"passed": 1}}',
        '{"token": "T", "result": {"passed": true, "more": 1}}',
        '{"token": "t", "result": {}}',
    ],
)
def test_anything_else_is_no_answer(tmp_path: Path, text: str) -> None:
    """Cut, nested without end, without a result, without the token, or no answer to such a job."""
    (tmp_path / "result.json").write_text(text)
    assert answered(tmp_path, "check", "T") is None
