"""torch's compiler is loaded when something of it is used, its settings before."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kopt_kb.launch.record.later import put_off_dynamo

NAMES = ("torch", "torch._dynamo", "torch._dynamo.config", "torch._dynamo.other")
WHOLE = "from . import config\nWHOLE = config.cache\ndef disable(one):\n    return None\n"


@pytest.fixture
def torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A package that stands for torch, with a compiler that says whether it was loaded."""
    made = ModuleType("torch")
    made.__path__ = [str(tmp_path / "torch")]
    folder = tmp_path / "torch" / "_dynamo"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(WHOLE)
    (folder / "config.py").write_text("cache = True\n")
    (folder / "other.py").write_text("from . import WHOLE\n")
    for name in NAMES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "torch", made)
    put_off = dict.fromkeys(NAMES[1:])
    yield made
    for name in put_off:
        sys.modules.pop(name, None)


def test_its_settings_are_there_and_it_is_not(torch: Any) -> None:
    """What asks for them alone, and what is to be left alone by it, loads nothing."""
    put_off_dynamo()
    import torch._dynamo.config

    assert torch._dynamo.config.cache
    assert torch._dynamo.disable(len, False, wrapping=False) is len
    assert not hasattr(torch._dynamo, "__wrapped__")
    assert "WHOLE" not in vars(torch._dynamo)
    stand_in = torch._dynamo
    put_off_dynamo()
    assert torch._dynamo is stand_in


@pytest.mark.parametrize("use", ["torch._dynamo.WHOLE", "__import__('torch._dynamo.other')._dynamo.other.WHOLE"])
def test_any_other_use_loads_it(torch: Any, use: str) -> None:
    """An attribute of it, or a module of it; the settings stay the same object."""
    put_off_dynamo()
    settings = torch._dynamo.config
    assert eval(use, {"torch": torch}) is True
    assert torch._dynamo.disable(len) is None
    assert torch._dynamo.config is settings is sys.modules["torch._dynamo.config"]
    assert type(torch._dynamo) is ModuleType


@pytest.mark.parametrize("broken", ["config.py", "__init__.py"])
def test_a_torch_that_is_laid_out_otherwise_is_left_as_it_is(torch: Any, broken: str) -> None:
    """Settings that fail alone, or a compiler that is no package."""
    folder = Path(torch.__path__[0]) / "_dynamo"
    (folder / "config.py").write_text("raise RuntimeError\n") if broken == "config.py" else (
        folder / "config.py"
    ).unlink()
    put_off_dynamo()
    assert "torch._dynamo" not in sys.modules
    assert not hasattr(torch, "_dynamo")
