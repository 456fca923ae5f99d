"""What was compiled ahead is found by what it was compiled of, and held against itself."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.cutile.compile.ahead import keep_tile, tile_ahead, tile_key
from kopt_kb.packs.cutile.compile.compiler import CompiledTile
from kopt_kb.packs.cutile.compile.plain import plain_again

TEXT = "SCALE = 2\n\n\ndef product(x, y, out):\n    return SCALE * x\n"
TUNED = "\n\n# kb tuned configurations: begin\nTUNED_CONFIGS = {}\n# kb tuned configurations: end\n"


@pytest.fixture
def kernel_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Make what cuTile's decorator would make of a file's function."""
    monkeypatch.setattr(metadata, "version", lambda _: "1.7.0")
    monkeypatch.setenv("KOPT_CODE", str(tmp_path / "code"))

    def made(text: str = TEXT, hints: str = "occupancy=2", name: str = "kernel.py") -> Any:
        file = tmp_path / name
        file.write_text(text)
        spec = importlib.util.spec_from_file_location("held", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return SimpleNamespace(
            _annotated_function=SimpleNamespace(pyfunc=module.product), _compiler_options=SimpleNamespace(hints=hints)
        )

    return made


def test_found_by_what_it_was_compiled_of(
    kernel_of: Callable[..., Any], tile_code: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search's values at the end of a file do not count, in any folder; text, hints, types and target do."""
    plain = plain_again(tile_code, tile_code, "Used 168 registers", "kernel.py")
    compiled = CompiledTile(tile_code, "text", (), 2, {"cuda-tile": "1.7.0", "tileiras": "13.4.92"})
    kernel = kernel_of()
    keep_tile(tmp_path / "code", tile_key(kernel, "fp16", "sm_90"), compiled, plain)
    for one in (kernel, kernel_of(TEXT + TUNED, name="candidate.py")):
        found = tile_ahead(one, "fp16", "sm_90", "kernel.py")
        assert found is not None
        assert found[1] == plain
        assert (found[0].code, found[0].opt_level, found[0].versions) == (tile_code, 2, compiled.versions)
    for other in (kernel_of(TEXT.replace("2", "3"), name="other.py"), kernel_of(hints="occupancy=4")):
        assert tile_ahead(other, "fp16", "sm_90", "kernel.py") is None
    kernel = kernel_of()
    assert tile_ahead(kernel, "bf16", "sm_90", "kernel.py") is None
    assert tile_ahead(kernel, "fp16", "sm_100", "kernel.py") is None
    monkeypatch.delenv("KOPT_CODE")
    assert tile_ahead(kernel, "fp16", "sm_90", "kernel.py") is None


def test_what_lies_there_is_not_believed(kernel_of: Callable[..., Any], tile_code: bytes, tmp_path: Path) -> None:
    """Half a code object is no code object."""
    plain = plain_again(tile_code, tile_code, "", "kernel.py")
    kernel = kernel_of()
    key = tile_key(kernel, "fp16", "sm_90")
    keep_tile(tmp_path / "code", key, CompiledTile(tile_code, "", (), 3, {}), plain)
    (tmp_path / "code" / f"{key}-plain.bin").write_bytes(tile_code[: len(tile_code) // 2])
    with pytest.raises(BadInput, match="code object"):
        tile_ahead(kernel, "fp16", "sm_90", "kernel.py")
