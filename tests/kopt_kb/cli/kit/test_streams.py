"""An output that can't be written is an error of its own: closed, full, abandoned, or without the letters."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.streams import Output, ReaderGone
from kopt_kb.cli.main import main


def shell(line: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash with $KB as the command."""
    environment = {**os.environ, "KB": f"{sys.executable} -m kopt_kb", **more}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False, env=environment
    )


@pytest.mark.parametrize(
    "line", ["$KB list >&-", "$KB list >/dev/full", "$KB list --json >/dev/full", "$KB --help >&-"]
)
def test_an_output_that_is_closed_or_full_is_an_error(line: str) -> None:
    """Exit 2 and one line; the interpreter adds nothing at its end."""
    done = shell(line)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("kb: stdout: can't be written: ")
    assert done.stderr.endswith("[KB117]\n")
    assert done.stderr.count("\n") == 1


def test_the_report_of_an_error_to_a_full_output_is_an_error() -> None:
    """The first error and the lost document are both said."""
    done = shell("$KB lookup nowhere --json >/dev/full")
    assert done.returncode == 2
    assert [line.rpartition(" ")[2] for line in done.stderr.splitlines()] == ["[KB051]", "[KB117]"]


def test_a_reader_that_has_enough_ends_it_quietly() -> None:
    """Its own kind of end, said once: what is still held goes nowhere."""
    source, sink = os.pipe()
    os.close(source)
    with os.fdopen(sink, "w", encoding="utf-8") as stream:
        output = Output(stream)
        output.write("x")
        with pytest.raises(ReaderGone):
            output.flush()
        output.flush()


def test_the_exit_code_of_an_abandoned_pipe() -> None:
    """As every program that a pipe ends: 128 + SIGPIPE, nothing on stderr."""
    source, sink = os.pipe()
    os.close(source)
    done = subprocess.run([sys.executable, "-m", "kopt_kb", "list"], stdout=sink, stderr=subprocess.PIPE, check=False)
    os.close(sink)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


def test_a_closed_stderr_does_not_leak_into_the_document() -> None:
    """Diagnostics that nobody hears are dropped."""
    done = shell("$KB lookup nowhere --json 2>&-")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "KB051"


def test_files_never_take_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    """With all three closed nothing is written into a file that was opened next."""
    line = f"$KB wiki copy {tmp_path / 'copy'} <&- >&- 2>&-; echo $? > {tmp_path / 'code'}"
    shell(line)
    assert (tmp_path / "code").read_text() == "2\n"
    texts = (path.read_text(encoding="utf-8") for path in (tmp_path / "copy").rglob("*.md"))
    assert not any("copied" in text.splitlines()[0] for text in texts)


@pytest.mark.parametrize(
    "locale", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_an_ascii_terminal_shows_plain_letters(locale: dict[str, str]) -> None:
    """Typographic letters have plain ones, the rest is escaped; a document stays a document."""
    done = shell("$KB --help", **locale)
    assert (done.returncode, done.stderr) == (0, "")
    assert "usage: kb COMMAND ..." in done.stdout
    done = shell("$KB lookup plätzchen --json", **locale)
    assert done.returncode == 2
    assert "pl" in json.loads(done.stdout)["error"]["message"]


def test_letters_that_an_encoding_lacks() -> None:
    """Known ones are replaced, others escaped, and nothing before them is lost."""
    raw = io.BytesIO()
    output = Output(io.TextIOWrapper(raw, encoding="ascii"))
    output.write("a … b → c ≥ d ü\n")
    output.flush()
    assert raw.getvalue() == b"a ... b -> c >= d \\xfc\n"


def test_surrogates_of_file_names_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is no UTF-8 is shown, not refused by the terminal."""
    assert main(["audit", "no\udcff"]) == 2
    assert "no\\udcff" in capsys.readouterr().err


def test_a_stream_that_was_closed_from_the_start() -> None:
    """stdout None: an error on the first letter, none without a letter."""
    output = Output(None)
    output.flush()
    assert not output.isatty()
    with pytest.raises(BadInput, match="KB117"):
        output.write("x")
    Output(None, quiet=True).write("x")


def test_bytes_pass_as_they_are() -> None:
    """After the text before them."""
    raw = io.BytesIO()
    output = Output(io.TextIOWrapper(raw, encoding="ascii"))
    output.write("a")
    output.write_bytes(b"\xff")
    assert raw.getvalue() == b"a\xff"


def test_ctrl_c_is_one_word_and_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With the way on where there is one."""

    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("kopt_kb.cli.main._dispatch", interrupted)
    assert main(["tune", "run", "w"]) == 128 + signal.SIGINT
    assert capsys.readouterr().err == "kb: interrupted; `kb tune resume` goes on\n"
    assert main(["list"]) == 128 + signal.SIGINT


@pytest.mark.parametrize("stage", ["kopt_kb.base.errors", "kopt_kb.cli.main", "argparse", "kopt_kb.cli.kit.output"])
def test_ctrl_c_while_modules_are_loaded(stage: str, tmp_path: Path) -> None:
    """No traceback at whatever import the signal arrives; a hook sends it there.

    A shell that runs the tests in the background has them ignore the signal: the child hears it again.
    """
    code = (
        "import os, signal, sys, runpy\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Hook:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {stage!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Hook())\n"
        "sys.modules.pop('argparse', None)\n"
        "sys.argv = ['kb', 'list']\n"
        "runpy.run_module('kopt_kb', run_name='__main__', alter_sys=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in {-signal.SIGINT, 128 + signal.SIGINT}
    assert "Traceback" not in done.stderr
