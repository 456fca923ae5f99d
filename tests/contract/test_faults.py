"""A pipe, a device or a link where a workspace has a file: every command ends in seconds, and writes nowhere else."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


def _outside(path: Path) -> Path:
    """Return the file beside the workspace that a path lies in."""
    return next(one for one in path.parents if one.name.startswith("w") and one.name[1:].isdigit()).with_name("outside")


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path.name),
    "elsewhere": lambda path: path.symlink_to(_outside(path)),
    "folder": Path.mkdir,
}
PLACES = [
    "README.md",
    "journal.jsonl",
    "kernel.py",
    "memory/v0.json",
    "logs/optimize.md",
    "object",
    ".git/HEAD",
    ".git/index",
]
COMMANDS = [["audit"], ["render"], ["tune", "status"], ["memory", "list"]]
SECONDS = 40


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory, repo_root: Path) -> Path:
    """A simulated campaign of one round."""
    parent = tmp_path_factory.mktemp("campaign")
    demo = str(repo_root / "kernels" / "naive" / "rms_norm.py")
    words = [
        "init",
        "norm",
        "--platform",
        "H100_SXM",
        "--framework",
        "Triton",
        "--kernel-demo",
        demo,
        "--dtype",
        "bf16",
    ]
    assert main([*words, "--shape", "1024x512", "--parent", str(parent)]) == 0
    workspace = parent / "kernel_opt_norm"
    tune = ["tune", "run", str(workspace), "--simulate", "--yes", "--samples", "3", "--evaluations", "2"]
    main([*tune, "--budget-rounds", "1"])
    return workspace


@pytest.fixture
def alarm() -> Iterator[None]:
    """Whoever waits is woken."""
    before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("it waits")))
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
def test_whatever_stands_there_it_ends(
    campaign: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str, kind: str
) -> None:
    """One line or a finding; a link's target is as it was."""
    outside = tmp_path / "outside"
    for number, words in enumerate(COMMANDS):
        workspace = tmp_path / f"w{number}"
        shutil.copytree(campaign, workspace, symlinks=True)
        (tmp_path / "outside").write_text("untouched")
        name = min((workspace / "objects").iterdir()) if place == "object" else workspace / place
        name.unlink()
        KINDS[kind](name)
        code = main([*words, str(workspace)])
        out, err = capsys.readouterr()
        assert code in {0, 1, 2}, err
        assert "KB000" not in err
        assert "Traceback" not in out + err
        assert code == 0 or out or err
        assert outside.read_text() == "untouched"
