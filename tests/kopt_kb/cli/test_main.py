"""The entry point: exit codes, one line for each error, one JSON document whatever happens."""

from __future__ import annotations

import errno
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.cli.commands import all_commands
from kopt_kb.cli.main import main


def run(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    code = main(words)
    done = capsys.readouterr()
    return code, done.out, done.err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["nonsense"], 2, "no command"),
        (["lookpu", "H20"], 2, "did you mean lookup"),
        (["lookup"], 2, "PLATFORM"),
        (["lookup", "H100"], 2, "H100_PCIE, H100_SXM"),
        (["lookup", "H2O"], 2, "H20"),
        (["lookup", "H20", "bandwith"], 2, "memory_bandwidth"),
        (["lookup", "H20", "memory_bandwidth", "nonsense"], 2, "axis=value"),
        (["lookup", "H20", "memory_bandwidth", "level=l2"], 2, "no axis"),
        (["lookup", "H20", "--wiki", "/nowhere"], 2, "no wiki"),
        (["lookup", "H20", "--js"], 2, "--js"),
        (["roofline", "--platform", "H20"], 2, "--op"),
        (["roofline", "--platform", "H20", "--flops", "1e9", "--bytes", "1e9", "--dtype", "bf16"], 2, "--engine"),
        (["roofline", "--platform", "H20", "--op", "gemm", "--shape", "1x2", "--dtype", "bf16"], 2, "MxNxK"),
        (["roofline", "--platform", "H20", "--op", "gem", "--shape", "1x2x3", "--dtype", "bf16"], 2, "gemm"),
        (["roofline", "--platform", "H20", "--op", "gemm", "--shape", "1x2x3", "--dtype", "bf17"], 2, "bf16"),
        (["roofline", "--platform", "H20", "--flops", "nan", "--bytes", "1", "--dtype", "bf16", "--engine", "matrix"], 2, "--flops"),
        (["init", "x"], 2, "missing --platform, --op, --shape, --dtype"),
        (["audit", "/nowhere"], 2, "no such folder"),
        (["wiki", "copy", "/"], 2, "exists"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_an_exit_code(
    words: list[str], code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What, where, what to do; nothing on stdout; never a traceback."""
    got, out, err = run(words, capsys)
    assert (got, out) == (code, "")
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [["lookup", "H100"], ["lookup"], ["nonsense"], ["roofline", "--platform", "H20"]])
def test_errors_in_json_are_one_document(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Machines read stdout, people stderr."""
    _, out, err = run([*words, "--json"], capsys)
    assert set(json.loads(out)["error"]) == {"code", "message", "where", "fix"}
    assert err


@pytest.mark.parametrize("name", all_commands())
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--help prints usage and exits 0."""
    code, out, _ = run([name, "--help"], capsys)
    assert code == 0
    assert out.startswith(f"usage: kb {name}")


def test_usage_lists_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """Without words: usage, exit 2; with --help: exit 0."""
    assert run(["--help"], capsys)[0] == 0
    code, out, _ = run([], capsys)
    assert code == 2
    assert all(name in out for name in all_commands())


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """kb --version."""
    assert run(["--version"], capsys)[1].startswith("kb ")


def test_the_module_is_the_command(tmp_path: Path) -> None:
    """python -m kopt_kb works from any folder."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "kopt_kb", "list"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "H20" in done.stdout


def test_a_package_that_is_not_installed_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 3 with its name; a module of our own that is missing is a bug of kb."""
    monkeypatch.setattr("kopt_kb.cli.main._dispatch", lambda _: __import__("no_such_package"))
    code, _, err = run(["lookup"], capsys)
    assert code == 3
    assert err.startswith("kb: ")
    assert "no_such_package" in err
    assert err.count("\n") == 1
    monkeypatch.setattr("kopt_kb.cli.main._dispatch", lambda _: __import__("kopt_kb.no_such_module"))
    code, _, err = run(["lookup"], capsys)
    assert code == 2
    assert err.startswith("kb: ")
    assert err.rstrip().endswith("[KB000]")


def test_what_nobody_foresaw_is_one_line_unless_all_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kind, words and place of the failure; KOPT_TRACEBACK=1 lets it through."""
    monkeypatch.setattr("kopt_kb.cli.main._dispatch", lambda _: int("x"))
    code, _, err = run(["lookup"], capsys)
    assert code == 2
    assert re.fullmatch(r"kb: test_main\.py:\d+: ValueError: .* \[KB000\]\n", err)
    monkeypatch.setenv("KOPT_TRACEBACK", "1")
    with pytest.raises(ValueError, match="invalid literal"):
        run(["lookup"], capsys)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "a.md"), "KB110"),
        (PermissionError(errno.EACCES, "Permission denied", b"a.md"), "KB111"),
        (OSError(errno.EROFS, "Read-only file system", "a.md"), "KB112"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "a.md"), "KB118"),
        (MemoryError(), "KB119"),
    ],
)
def test_what_the_system_refuses_has_its_cause(
    error: Exception, code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2 and one line with the file."""

    def refuse(_: object) -> int:
        raise error

    monkeypatch.setattr("kopt_kb.cli.main._dispatch", refuse)
    got, _, err = run(["lookup"], capsys)
    assert (got, err.count("\n")) == (2, 1)
    assert f"[{code}]" in err
    assert isinstance(error, MemoryError) or "a.md" in err


def test_an_option_that_is_nearly_right(capsys: pytest.CaptureFixture[str]) -> None:
    """The name that may have been meant, also below a command; the command's name stands once."""
    code, _, err = run(["roofline", "--platfrom", "H20"], capsys)
    assert (code, err.startswith("kb roofline: ")) == (2, True)
    assert "did you mean --platform" in err
    assert "did you mean --repeats" in run(["bench", "kernel", "w", "--repaets", "3"], capsys)[2]


def test_an_option_of_another_command_is_not_offered_as_a_correction(capsys: pytest.CaptureFixture[str]) -> None:
    """It was spelled as it is; the commands that take it are named."""
    err = run(["wiki", "index", "--wiki", "x"], capsys)[2]
    assert "--wiki is an option of `kb wiki check`" in err
    assert "did you mean" not in err
