"""Damaged files of every kind that a user may name: read, or refused in one line with a code that is no fault of kb's."""

from __future__ import annotations

import contextlib
import io
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.base.errors import KoptError
from kopt_kb.cli.main import main
from kopt_kb.launch.cuda.header import read_header
from kopt_kb.launch.project.file import read_project
from kopt_kb.launch.record.judge import load_record
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.bundled import bundle_findings
from tests.contract.sample import ROOT, add_campaign, make_sample

Reader = Callable[[Path, Path], object]
_EACH = 40
_LONG_S = 10.0
_DIGITS = b"7" * 5000


def _printed(*words: str) -> None:
    """Run a command; raise what it says of an error, and for a line that is no refusal."""
    said, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
        code = main(list(words))
    lines = errors.getvalue().splitlines()
    assert code in range(5), (code, lines)
    assert "KB000" not in errors.getvalue() + said.getvalue(), lines
    if code not in {0, 1, 3}:
        assert lines and lines[-1].rstrip().endswith("]") and "[" in lines[-1], lines[-3:]


def _page(file: Path, root: Path) -> None:
    target = root / "wiki" / "hardware" / "nvidia" / "t10.md"
    shutil.copy(file, target)
    with contextlib.suppress(KoptError):
        Registry.open(root / "wiki", use_cache=False).platform("T10")


def _project(file: Path, _: Path) -> object:
    return read_project(file.read_bytes(), str(file))


def _cuda(file: Path, _: Path) -> object:
    return read_header(file)


def _record(file: Path, root: Path) -> object:
    folder = root / "one.record"
    folder.mkdir(exist_ok=True)
    shutil.copy(file, folder / "record.json")
    return load_record(folder)


def _journal(file: Path, root: Path) -> None:
    shutil.copy(file, root / "ws" / "journal.jsonl")
    _printed("audit", str(root / "ws"))


def _readme(file: Path, root: Path) -> None:
    shutil.copy(file, root / "ws" / "README.md")
    _printed("audit", str(root / "ws"))


def _bundle(file: Path, _: Path) -> object:
    return bundle_findings(file)


KINDS: dict[str, Reader] = {
    "page": _page,
    "project": _project,
    "cuda": _cuda,
    "record": _record,
    "journal": _journal,
    "readme": _readme,
    "report": lambda file, _: _printed("profile", "read", str(file)),
    "moe": lambda file, _: _printed("table", "read", str(file)),
    "bundle": _bundle,
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample folder, with a whole file of each kind in `whole`."""
    root = make_sample(tmp_path_factory.mktemp("damaged"))
    whole = root / "whole"
    whole.mkdir()
    add_campaign(root)
    campaign = ROOT / "benchmarks" / "campaigns" / "h100_sxm" / "rms_norm_30s"
    _printed("tune", "bundle", str(root / "campaign"), "--output", str(whole / "bundle"))
    record = next(  # a launch record among the blobs
        one for one in sorted((campaign / "objects").iterdir()) if b"not_replayable" in one.read_bytes()[: 1 << 16]
    )
    table = "E=1,N=2,device_name=NVIDIA_H20.json"
    for name, source in {
        "page": root / "wiki" / "hardware" / "nvidia" / "t10.md",
        "project": ROOT / "tests" / "data" / "project" / "project.toml",
        "cuda": ROOT / "kernels" / "cuda" / "rms_norm.cu",
        "record": record,
        "journal": root / "ws" / "journal.jsonl",
        "readme": root / "ws" / "README.md",
        "report": root / "report.csv",
        "moe": root / table,
    }.items():
        shutil.copy(source, whole / name)
    return root


def _damaged(whole: bytes, number: int, chance: random.Random) -> bytes:
    """Return the bytes with one kind of damage, by number."""
    at = chance.randrange(max(1, len(whole)))
    digits = [where for where, one in enumerate(whole) if chr(one).isdigit()]
    digit = chance.choice(digits) if digits else at
    kinds = (
        lambda: whole[:at],
        lambda: whole[:digit] + _DIGITS + whole[digit + 1 :],
        lambda: whole[:at] + bytes([chance.randrange(256)]) + whole[at + 1 :],
        lambda: whole[:at] + b"\0" * 9 + whole[at:],
        lambda: whole[:at] + b"\xff\xfe\xed\xa0\x80" + whole[at:],
        lambda: whole[:at] + whole[:at],
        lambda: whole[:digit] + b"1e999999999" + whole[digit + 1 :],
        lambda: whole[:at] + b"[" * 20_000 + whole[at:],
        lambda: whole[:at] + b"x" * 200_000 + whole[at:],
        lambda: whole + b"\n" + whole[at : at + 40],
        lambda: whole[:digit] + b"-0" + whole[digit:],
        lambda: whole.replace(b"\n", b"\r", 3),
        lambda: whole.replace(b'"', b"", 1),
        lambda: whole[:digit] + b".".join([b"9"] * 50) + whole[digit:],
    )
    return kinds[number % len(kinds)]()


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_read_around_or_refused(prepared: Path, tmp_path: Path, kind: str) -> None:
    """Forty of each kind, 360 in all: no fault of kb's own, nothing takes long, and what was whole is still whole."""
    chance = random.Random(f"damaged {kind}")
    whole = (prepared / "whole" / kind).read_bytes()
    root = tmp_path / "root"
    for name in ("ws", "wiki"):
        shutil.copytree(prepared / name, root / name)
    refused = 0
    for number in range(_EACH):
        file = tmp_path / (f"E=1,N={number},device_name=NVIDIA_H20.json" if kind == "moe" else f"{kind}.csv")
        file.write_bytes(_damaged(whole, number, chance))
        begin = time.monotonic()
        try:
            KINDS[kind](file, root)
        except KoptError as error:
            refused += 1
            assert error.error_code != "KB000", (number, str(error))
            assert error.what and error.where and "\n" not in str(error)[:400], (number, str(error)[:400])
        assert time.monotonic() - begin < _LONG_S, number
    assert (prepared / "whole" / kind).read_bytes() == whole
