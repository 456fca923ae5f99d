"""Errors of reading name the file and the line, and end in exit code 2."""

from __future__ import annotations

import pickle

from kopt_kb.analysis.readers.common.errors import NoKernelMatches, ReportError
from kopt_kb.base.errors import ExitCode


def test_an_error_names_file_and_line():
    """The place is `file:line`."""
    error = ReportError("cut", where="a.csv", line=7)
    assert str(error) == "a.csv:7: cut [KB200]"
    assert (error.file, error.line, error.exit_code) == ("a.csv", 7, ExitCode.USAGE)


def test_an_error_survives_a_pipe():
    """Executors send errors between processes."""
    error = pickle.loads(pickle.dumps(NoKernelMatches("none", where="a.csv")))
    assert (type(error), str(error)) == (NoKernelMatches, "a.csv: none [KB202]")
