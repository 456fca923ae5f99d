"""Arguments that a stranger's pack adds to the core's commands."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.doors.arguments import Arguments
from kopt_kb.doors.pack import Pack
from tests.installed_packs import installed


def add_size(parser: argparse.ArgumentParser) -> None:
    """Declare it."""
    parser.add_argument("--size", metavar="WORD", choices=("small", "large"))


def add_platform(parser: argparse.ArgumentParser) -> None:
    """Declare what is the core's."""
    parser.add_argument("--platform")


def read_size(args: argparse.Namespace) -> argparse.Namespace:
    """Return the shape that a word stands for."""
    shapes = {"small": ["64x128"], "large": ["8192x4096"]}
    return argparse.Namespace(**{**vars(args), "shape": args.shape or shapes.get(args.size, [])})


def strange(one: Arguments) -> Pack:
    """A pack that brings it."""
    return Pack(name="strange", what="a test's pack", arguments=(one,))


def test_a_word_of_a_pack_is_read_as_an_option(
    tmp_path: Path, wiki_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the command runs; without the pack the word is unknown."""
    words = ["init", "n", "--platform", "T10", "--op", "rms_norm", "--dtype", "bf16", "--size", "small"]
    words += ["--parent", str(tmp_path), "--wiki", str(wiki_root)]
    assert main(words) == 2
    assert "unrecognized arguments: --size" in capsys.readouterr().err
    installed(monkeypatch, strange(Arguments(("init",), add_size, read_size)))
    assert main(words) == 0
    assert "shapes: 64x128" in (tmp_path / "kernel_opt_n" / "README.md").read_text()


def test_an_argument_that_is_taken_is_named_with_its_pack(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line; other commands go on."""
    installed(monkeypatch, strange(Arguments(("init",), add_platform)))
    assert main(["init", "n"]) == 3
    error = capsys.readouterr().err
    assert "KB124" in error and "the pack strange" in error
    assert len(error.splitlines()) == 1
    assert main(["tune", "run", "nowhere"]) == 2
    assert "strange" not in capsys.readouterr().err


def test_options_of_an_absent_pack_are_unknown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is refused by its name, before anything is read."""
    installed(monkeypatch, without=("cluster", "coordination"))
    for command, option in (
        (["tune", "run", "w"], "--cluster"), (["tune", "resume", "w"], "--searchers"),
        (["tune", "step", "w"], "--analysis"), (["tune", "report", "w"], "--form"), (["init", "n"], "--prompt"),
    ):  # fmt: skip
        assert main([*command, option, "x"]) == 2
        assert f"unrecognized arguments: {option}" in capsys.readouterr().err
