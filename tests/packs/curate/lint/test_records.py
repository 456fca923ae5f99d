"""Hardware records of other wikis: members are read with their lines, what means nothing or several things is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.cli.main import main
from kopt_kb.packs.curate.lint.importing import read_foreign_wiki
from kopt_kb.packs.curate.lint.records import is_record, read_record
from kopt_kb.wiki.registry import Registry


def record(**facts: Any) -> dict[str, Any]:
    """A record of the invented product."""
    return {"schema": "hw-1.0", "identity": {"vendor": "nvidia", "product": "t10"}, "facts": facts}


def peak(dtype: str, dense: float, kind: str = "tensor-core", **more: float) -> dict[str, Any]:
    """A peak as records write it."""
    return {"dtype": dtype, "unit": "TFLOPS", "unit_kind": kind, "dense": dense, **more}


def read(body: dict[str, Any], wiki_root: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return place → key, value and unit of what is read, and reason → the lines that it names."""
    text = json.dumps(body, indent=1)
    rows, left = read_record(Registry.open(wiki_root), "r.json", text)
    lines = text.split("\n")
    said = {
        lines[int(row.where.rpartition(":")[2]) - 1].strip(
            " ,"
        ): f"{row.metric} {dict(row.axes)} {row.value} {row.unit}"
        for row in rows
    }
    return said, {why: [lines[line - 1].strip(" ,") for line in sorted(found)] for why, found in left.items()}


def test_members_are_values_with_their_lines(wiki_root: Path) -> None:
    """Dense and sparse peaks of an engine, memory, processors; the number is the one on the line that is named."""
    body = record(
        peak_compute=[peak("fp16", 102.4, sparse_2to4=204.8), peak("fp32", 25.6, "cuda-core")],
        memory={"capacity_gb": 48, "l2_cache_mb": 50},
        compute_units={"sm_count": 100},
    )
    said, left = read(body, wiki_root)
    assert left == {}
    assert said == {
        '"dense": 102.4': "peak_compute {'dtype': 'fp16', 'engine': 'matrix', 'sparsity': 'dense'} 512/5 TFLOPS",
        '"sparse_2to4": 204.8': "peak_compute {'dtype': 'fp16', 'engine': 'matrix', 'sparsity': '2:4'} 1024/5 TFLOPS",
        '"dense": 25.6': "peak_compute {'dtype': 'fp32', 'engine': 'vector', 'sparsity': 'dense'} 128/5 TFLOPS",
        '"capacity_gb": 48': "memory_capacity {} 48 GB",
        '"l2_cache_mb": 50': "l2_capacity {} 50 MB",
        '"sm_count": 100': "sm_count {} 100 count",
    }


@pytest.mark.parametrize("product", [None, "hopper", "T", 10])
def test_a_record_of_no_single_product_is_named_and_not_read(wiki_root: Path, product: object) -> None:
    """A chip family, a name that is none of ours, no text."""
    body = record(memory={"capacity_gb": 48})
    body["identity"]["product"] = product
    assert read(body, wiki_root) == ({}, {"no-product": ['"capacity_gb": 48']})
    del body["identity"]
    assert read(body, wiki_root) == ({}, {"no-product": ['"capacity_gb": 48']})


def test_what_means_nothing_or_several_things_is_named(wiki_root: Path) -> None:
    """A member, engine, type or unit that the form does not give, and a peak that stands there twice."""
    body = record(
        peak_compute=[
            peak("fp16", 1), peak("fp16", 2), peak("fp7", 3), peak("fp8", 4, "npu"), {**peak("int8", 5), "unit": "W"},
        ],
        compute_units={"gpcs": 12, "list": [13], "deep": {"er": 14}, "yes": True, "none": None, "text": "15"},
    )  # fmt: skip
    said, left = read(body, wiki_root)
    assert said == {}
    assert left == {
        "several-meanings": ['"dense": 1', '"dense": 2'],
        "no-meaning": ['"dense": 3', '"dense": 4', '"dense": 5', '"gpcs": 12', '"er": 14'],
    }


def test_numbers_in_texts_move_no_line(wiki_root: Path) -> None:
    """What looks like a member inside a text is text; members outside the facts are no facts."""
    body = {"version": 7, "note": 'says "sm_count": 99', **record(compute_units={"sm_count": 100}), "end": 8}
    assert list(read(body, wiki_root)[0]) == ['"sm_count": 100']


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"schema": "hw-1.0"}', '{"schema": "sw-1.0", "facts": {}}', '{"facts": {}}', "[" * 100_000]
)
def test_other_json_is_no_record(text: str) -> None:
    """Another schema, no facts, no JSON, JSON without an end."""
    assert not is_record(text)


def test_a_folder_of_records_is_checked(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Values are held against ours with file and line; numbers in sentences of any JSON are named."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "t10.json").write_text(json.dumps(record(memory={"capacity_gb": 40}), indent=1))
    (folder / "card.json").write_text(json.dumps({"text": "T10 reaches 2.0 TB/s", "n": 3}, indent=1))
    (folder / "index.json").write_text('{"ids": ["a"]}')
    found = read_foreign_wiki(Registry.open(wiki_root), folder)
    assert [(one.row.where.rpartition("/")[2], one.compared.state) for one in found.rows] == [
        ("t10.json:9", "disagrees")
    ]
    assert {file.path.rpartition("/")[2]: (file.read, file.left) for file in found.files} == {
        "t10.json": (1, {}),
        "card.json": (0, {"in-words": (2,)}),
    }
    assert main(["wiki", "import-check", str(folder), "--wiki", str(wiki_root)]) == 1
    assert "t10.json: 1 read" in capsys.readouterr().out
