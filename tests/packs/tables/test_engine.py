"""Where a program's files are."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.packs.tables.engine import find_engine
from tests.packs.tables.conftest import MOE

CONFIG = [f"{MOE}/config.py"]


@pytest.mark.parametrize("below", ["", "vllm", "python"])
def test_a_program_is_found_by_its_folder(engine: Path, below: str) -> None:
    """The checkout, the package, or a checkout that has it below python/."""
    folder = engine / below
    if below == "python":
        folder = engine.parent / "other"
        (folder / "python").mkdir(parents=True)
        (engine / "vllm").rename(folder / "python" / "vllm")
    found = find_engine(str(folder), "vllm")
    assert found is not None and (found.root / "vllm" / "__init__.py").is_file()
    assert find_engine(str(folder), "sglang") is None


def test_its_version_stands_beside_it(engine: Path) -> None:
    """As an installation writes it; a checkout has none."""
    found = find_engine(str(engine), "vllm")
    assert found is not None and found.version == ""
    (engine / "vllm-0.33.0.dist-info").mkdir()
    assert found.version == "0.33.0"


def test_words_of_a_function_are_read_and_not_run(engine: Path) -> None:
    """None is the empty word; a file that is not there says nothing."""
    found = find_engine(str(engine), "vllm")
    assert found is not None
    assert found.words(CONFIG, "_get_config_dtype_str") == frozenset({"fp8_w8a8", ""})
    assert found.words(CONFIG, "another") is None
    assert found.words(["gone.py"], "_get_config_dtype_str") is None
    (engine / MOE / "config.py").write_text("def (")
    with pytest.raises(BadInput, match="not valid Python"):
        found.words(CONFIG, "_get_config_dtype_str")


def test_a_folder_without_a_program_is_refused(tmp_path: Path) -> None:
    """And one that is not there."""
    with pytest.raises(BadInput, match="holds no package"):
        find_engine(str(tmp_path), "vllm")
    with pytest.raises(BadInput, match="no such folder"):
        find_engine(str(tmp_path / "gone"), "vllm")


def test_an_installed_program_is_found_by_name(engine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is imported; another one's name asks for that one alone."""
    monkeypatch.syspath_prepend(str(engine))
    found = find_engine("vllm", "vllm")
    assert found is not None and found.root == engine
    assert find_engine("vllm", "sglang") is None
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    with pytest.raises(MissingTool, match="sglang is not installed"):
        find_engine("sglang", "sglang")
