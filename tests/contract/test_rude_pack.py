"""A pack that raises, exits or prints where it should not: named with its place, and nothing else of kb is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACK = """
from kopt_kb.doors.command import Command
from kopt_kb.doors.later import later
from kopt_kb.doors.loop_part import LoopPart, StopRule
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.proposer_source import ProposerSource
from kopt_kb.doors.view import View

print("here I am")
PACK = Pack(
    name="rude", what="a pack that fails",
    commands=(
        Command("leave", "exits at its import", "kopt_rude.leave"),
        Command("leave-with-words", "exits with words", "kopt_rude.words"),
        Command("raise", "raises as it runs", "kopt_rude.raises"),
    ),
    loop_parts=(
        LoopPart(
            "rude", "rude", policies={"rude": later("kopt_rude.loop:policy")},
            stop_reasons=(StopRule("bored", "it is bored", later("kopt_rude.loop:due")),),
            proposers=(ProposerSource("rude", "rude", made=later("kopt_rude.loop:made")),),
            views=(
                View(
                    "rude", "rude", ("rude/*.md",), later("kopt_rude.loop:texts"),
                    hand_masks=later("kopt_rude.loop:masks"),
                ),
            ),
        ),
    ),
)
"""
LOOP = """
import os
from dataclasses import replace
from kopt_kb.tuning.policy import default_policy

def policy():
    core = default_policy()
    return replace(core, name="rude", stop_reasons=(*core.stop_reasons, "rude.bored"))

def _fail(part):
    if os.environ.get("RUDE") == part:
        raise ZeroDivisionError(part)

def due(state, policy):
    _fail("due")
    return ()

def made(context):
    _fail("made")
    return ()

def texts(state, blob):
    return {"rude/page.md": 5}

def masks(root, state):
    _fail("masks")
    return {}
"""
RAISES = "def add_arguments(parser): pass\ndef run(args): raise LookupError('no such manners')\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the distribution installed."""
    folder = tmp_path_factory.mktemp("site")
    files = {
        "__init__": "", "pack": PACK, "loop": LOOP, "raises": RAISES, "leave": "import sys; sys.exit(0)",
        "words": "import sys; sys.exit('good bye')",
    }  # fmt: skip
    (folder / "kopt_rude").mkdir()
    for name, text in files.items():
        (folder / "kopt_rude" / f"{name}.py").write_text(text)
    info = folder / "kopt_rude-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kopt-rude\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[kopt_kb.packs]\nrude = kopt_rude.pack:PACK\n")
    return folder


def _kb(site: Path, *words: str, rude: str = "") -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(site), "KOPT_TRUST": str(site / "trust"), "RUDE": rude}
    command = [sys.executable, "-P", "-m", "kopt_kb", *words]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=site, check=False)


@pytest.mark.parametrize("command", ["leave", "leave-with-words", "raise"])
def test_a_command_that_fails_is_the_packs_failure(site: Path, command: str) -> None:
    """One line with its file, and no exit code of its own."""
    done = _kb(site, command)
    assert done.returncode == 2
    assert "the pack rude failed" in done.stderr
    assert "[KB131]" in done.stderr
    assert "kopt_rude/" in done.stderr
    assert done.stderr.count("\n") == done.stderr.count("here I am") + 1


def test_what_it_prints_does_not_enter_a_document(site: Path) -> None:
    """Its import prints; the document is one document."""
    done = _kb(site, "doctor", "--json")
    assert "rude" in json.dumps(json.loads(done.stdout)["packs"])
    assert "here I am" in done.stderr


def test_the_loop_ends_with_the_packs_name_and_goes_on_without_it(site: Path, tmp_path: Path) -> None:
    """Stop rule, proposer and masks raise in turn; the journal is whole, and the campaign goes on once they do not."""
    case = (
        "--platform H20 --op rms_norm --shape 512x512 --dtype bf16 --framework Triton --kernel-demo op:naive/rms_norm"
    )
    made = _kb(site, "init", "w", *case.split(), "--parent", str(tmp_path))
    assert made.returncode == 0, made.stderr
    root = str(tmp_path / "kernel_opt_w")
    run = ("tune", "run", root, "--policy", "rude", "--simulate", "--yes", "--max-rounds", "2")
    for part in ("made", "masks", "due"):
        done = _kb(site, *run, rude=part)
        assert "the pack rude failed: ZeroDivisionError" in done.stderr, (part, done.stderr)
        assert done.returncode == 2
    done = _kb(site, *run)
    assert done.returncode in {0, 1}, done.stderr
    assert "KB" not in done.stderr.replace("KB307", ""), done.stderr
    report = json.loads(_kb(site, "audit", root, "--json").stdout)
    assert "gives no texts by path" in json.dumps(report)
