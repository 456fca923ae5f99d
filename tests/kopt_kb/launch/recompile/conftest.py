"""Kernel files recorded by one real maker, and their code objects made again by one second compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.launch.judge.makers import Made, Makers
from kopt_kb.launch.recompile.binding import Binder, Origin, RecordedCode, codes_of
from kopt_kb.launch.record.request import MakerRequest, OpRequest
from kopt_kb.launch.record.source import CodeBound
from tests.kopt_kb.launch.recompile.sources import HELPERS, HONEST, TRICKS


def recorded(makers: Makers, folder: Path, text: str) -> Made:
    """Record a kernel file that is written into a folder, with the helpers beside it."""
    folder.mkdir()
    for name, helper in {**HELPERS, "kernel.py": text}.items():
        (folder / name).write_text(helper)
    what = OpRequest(str(folder / "kernel.py"), (1000,), "bf16")
    return makers.make(MakerRequest(what, "sm_90", "Test", {"multi_processor_count": 7}, ""), folder / "record")


@pytest.fixture(scope="session")
def tried(makers: Makers, tmp_path_factory: pytest.TempPathFactory) -> dict[str, CodeBound]:
    """Name of a file of `sources` → what became of its code objects."""
    root = tmp_path_factory.mktemp("bound")
    texts = {**HONEST, **{name: text for name, (text, _) in TRICKS.items()}}
    codes: list[RecordedCode] = []
    for number, (name, text) in enumerate(texts.items()):
        folder = root / f"a{number}"
        made = recorded(makers, folder, text)
        assert made.record is not None, (name, made.error)
        codes += codes_of(made.folder)
    roots = tuple(str(root / f"a{number}") for number in range(len(texts)))
    outcomes = Binder().bound(codes, Origin("sm_90", roots, "Test", {"multi_processor_count": 7}))
    return dict(zip(texts, outcomes, strict=True))
