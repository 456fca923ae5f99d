"""Tables judged without a GPU."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.packs.tables import audit as module
from kopt_kb.packs.tables.audit import audit_tables, table_files
from kopt_kb.wiki.registry import Registry

ROW = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 16, "BLOCK_SIZE_K": 16, "GROUP_SIZE_M": 1, "num_warps": 4}
REGISTRY = Registry.open()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tables of many kinds, and a file that is none."""
    monkeypatch.setenv("KOPT_CACHE", str(tmp_path / "cache"))
    tables = tmp_path / "tables"
    tables.mkdir()
    whole = json.dumps({"1": ROW, "2": ROW, "4": {**ROW, "num_warps": 8}})
    for name in ("NVIDIA_H200", "NVIDIA_H800", ""):
        (tables / f"E=8,N=256,device_name={name}.json").write_text(whole)
    (tables / "E=8,N=512,device_name=NVIDIA_H200.json").write_text(whole[:-20])
    (tables / "E=8,N=512,device_name=NVIDIA_H200,dtype=float8.json").write_text(
        whole.replace("GROUP_SIZE_M", "GROUP_M")
    )
    (tables / "notes.txt").write_text("hello")
    outside = tmp_path / "E=1,N=2,device_name=NVIDIA_H200.json"
    outside.write_text(whole)
    (tables / outside.name).symlink_to(outside)
    return tables


def test_without_an_engine_tables_are_judged_by_themselves(folder: Path) -> None:
    """What can't be read or leads out of the folder is a finding, and the rest is judged."""
    found = audit_tables([str(folder)], REGISTRY)
    kinds = [(one.kind, Path(one.file).name) for one in found.findings]
    assert ("no-device", "E=8,N=256,device_name=.json") in kinds
    assert ("no-product", "E=8,N=256,device_name=NVIDIA_H800.json") in kinds
    assert ("escapes-folder", "E=1,N=2,device_name=NVIDIA_H200.json") in kinds
    assert ("unreadable", "E=8,N=512,device_name=NVIDIA_H200.json") in kinds
    assert [one.line for one in found.findings if one.kind == "unreadable"] == [1]
    assert sum(kind == "unknown-setting" for kind, _ in kinds) == 3
    assert (len(found.tables), found.rows, found.is_clean, found.engines, found.code_objects) == (4, 12, False, (), 0)
    assert {one.platform for one in found.tables} == {"H200_SXM", None}
    assert found.counts["unknown-setting"] == 3


def test_a_clean_table_is_clean(folder: Path) -> None:
    """A note is no finding that a gate stops at."""
    found = audit_tables([str(folder / "E=8,N=256,device_name=NVIDIA_H800.json")], REGISTRY)
    assert found.is_clean and found.counts == {"no-product": 1}


def test_with_an_engine_rows_are_compiled_once(folder: Path, engine: Path) -> None:
    """By its own kernel, for the product's target; the second time nothing is compiled."""
    pytest.importorskip("triton")
    named = [
        str(folder / "E=8,N=256,device_name=NVIDIA_H200.json"),
        str(folder / "E=8,N=512,device_name=NVIDIA_H200,dtype=float8.json"),
    ]
    found = audit_tables(named, REGISTRY, str(engine), 1)
    assert (found.engines, found.code_objects, found.compiled) == (("vllm",), 4, 4)
    assert [one.compiled for one in found.tables] == [3, 0]
    kinds = {one.kind for one in found.findings}
    assert {"never-read", "unjudged"} <= kinds
    again = audit_tables(named, REGISTRY, str(engine))
    assert (again.compiled, again.findings) == (0, found.findings)


def test_files_are_found_below_folders(folder: Path) -> None:
    """Those in a known form; a folder without any is refused, a file is taken as it is named."""
    assert len(list(table_files([str(folder)]))) == 6
    (only,) = table_files([str(folder / "notes.txt")])
    assert only == (folder / "notes.txt", folder)
    with pytest.raises(BadInput, match="is no tuned table"):
        audit_tables([str(folder / "notes.txt")], REGISTRY)
    empty = folder / "empty"
    empty.mkdir()
    with pytest.raises(BadInput, match="holds no tuned table"):
        audit_tables([str(empty)], REGISTRY)
    with pytest.raises(BadInput, match="no such file"):
        audit_tables([str(folder / "gone.json")], REGISTRY)


def test_a_file_that_can_not_be_opened_is_known_by_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is named when it is read."""

    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(Path, "open", refuse)
    assert len(list(table_files([str(folder)]))) == 6


def test_without_triton_nothing_is_compiled(folder: Path, engine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And that is said before any table is read."""

    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(module, "version", absent)
    with pytest.raises(MissingTool, match="triton is not installed"):
        audit_tables([str(folder)], REGISTRY, str(engine))
