"""FlyDSL makes a code object of AMD; a stand-in of its modules hands out a code object that lies here."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.cuda.languages import FunctionJob, made_of
from kopt_kb.launch.record.model import TensorView

VIEW = TensorView("x", 0, (4, 8), (8, 1), "bf16")
PYTHON = """
seen = []


class add:
    _mem_cache = {0: type("Held", (), {"_ir_text": "module"})}

    @staticmethod
    def func(x, out, THREADS):
        pass

    def __new__(cls, *tensors, **words):
        seen.append((tensors, words))
"""


@pytest.fixture
def objects(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What the stand-in's IR holds; modules with the language's names read it."""
    held = [b"\x7fELFcode"]

    class Context:
        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

    class Operation:
        def walk(self, visit: Any) -> None:
            for one in held:
                visit(SimpleNamespace(name="gpu.binary", attributes={"objects": one}))
            visit(SimpleNamespace(name="gpu.module", attributes={}))

    def module(name: str, **members: Any) -> ModuleType:
        made = ModuleType(name)
        vars(made).update(members)
        monkeypatch.setitem(sys.modules, name, made)
        return made

    module("flydsl")
    module("flydsl.compiler")
    module("flydsl.compiler.jit_function", _create_mlir_context=Context)
    module("flydsl._mlir")
    parse = SimpleNamespace(parse=lambda _: SimpleNamespace(operation=Operation()))
    walked = SimpleNamespace(ADVANCE="on")
    module("flydsl._mlir.ir", Module=parse, WalkResult=walked, ArrayAttr=lambda one: [one])
    module("flydsl._mlir.dialects")
    module("flydsl._mlir.dialects.gpu", ObjectAttr=lambda one: SimpleNamespace(object=one))
    monkeypatch.setattr(metadata, "version", lambda _: "0.1")
    for name in ("COMPILE_ONLY", "ARCH", "FLYDSL_RUNTIME_ENABLE_CACHE", "ROCM_PATH"):
        monkeypatch.setenv(name, "")
    return held


def _job(folder: Path, arch: int | str = "gfx942") -> FunctionJob:
    file = folder / "k.py"
    file.write_text(PYTHON)
    return FunctionJob(file, "add", [VIEW, VIEW], {"THREADS": 64, "elements": 32}, arch, ["add"])


def test_a_function_is_run_on_tensors_that_nobody_touches(objects: list[bytes], tmp_path: Path) -> None:
    """For the target, with the header's tuning values; its linker is gone afterwards."""
    pytest.importorskip("torch")
    made = made_of("flydsl", _job(tmp_path))
    assert (made.binary, made.versions) == (objects[0], {"flydsl": "0.1"})
    assert (os.environ["ARCH"], os.environ["COMPILE_ONLY"]) == ("gfx942", "1")
    assert not Path(os.environ["ROCM_PATH"]).exists()


@pytest.mark.parametrize("count", [0, 2])
def test_another_number_of_code_objects_is_refused(objects: list[bytes], tmp_path: Path, count: int) -> None:
    pytest.importorskip("torch")
    objects[:] = [b"code"] * count
    with pytest.raises(BadInput, match=f"{count} code objects in place of one"):
        made_of("flydsl", _job(tmp_path))


def test_it_is_nothing_for_nvidia(objects: list[bytes], tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        made_of("flydsl", _job(tmp_path, 90))
    assert caught.value.error_code == "KB106"
