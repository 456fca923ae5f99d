"""Foreign wikis: pages with a product a section are read, the rest is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.main import main
from kopt_kb.packs.curate.foreign import read_foreign
from kopt_kb.packs.curate.lint.importing import ForeignWiki, read_foreign_wiki
from kopt_kb.wiki.registry import Registry

PAGE = """# Hopper specs

## NVIDIA H100 SXM (sm_90, Hopper)

| Precision | Peak TFLOPS | With Sparsity |
|---|---|---|
| **FP64 (Tensor Core)** | 33.5 | — |
| **FP16 / BF16 (Tensor Core)** | 989.4 | 1,978.9 |

### Memory

| Parameter | Value |
|---|---|
| VRAM | 80 GB HBM3 |
| Memory Bandwidth | 3.35 TB/s |
| TDP | 700 W |

## NVIDIA H20 (sm_90, Hopper)

| Precision | Peak TFLOPS |
|---|---|
| **FP8 (Tensor Core)** | ~296 |

## Both H100 and H200

The peak memory bandwidth is 3.35 TB/s.
"""


@pytest.fixture
def read(tmp_path: Path) -> ForeignWiki:
    """The page above and one without numbers."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "hopper.md").write_text(PAGE)
    (tmp_path / "README.md").write_text("# index\n")
    return read_foreign_wiki(Registry.open(), tmp_path)


def test_values_under_one_product_are_read(read: ForeignWiki) -> None:
    """Each format of a row, dense and sparse apart, with its place; a known error of such a page is found."""
    rows = [(one.row.platform, one.row.metric, dict(one.row.axes).get("dtype"), one.row.text) for one in read.rows]
    assert ("H100_SXM", "peak_compute", "bf16", "989.4") in rows and (
        "H100_SXM",
        "peak_compute",
        "fp16",
        "1978.9",
    ) in rows
    assert ("H100_SXM", "memory_bandwidth", None, "3.35") in rows and ("H100_SXM", "board_power", None, "700") in rows
    states = {(dict(one.row.axes).get("dtype"), one.row.text): one.compared.state for one in read.rows}
    assert states["fp64", "33.5"] == "disagrees"
    assert states["fp16", "1978.9"] == states["bf16", "989.4"] == "agrees"
    assert all(one.row.where.rpartition(":")[2].isdigit() for one in read.rows)


def test_the_rest_is_named(read: ForeignWiki) -> None:
    """A guess, and what is said of two products; files without numbers are not listed."""
    (file,) = read.files
    assert file.left == {"guess": (22,), "no-product": (26,)}
    assert file.read == len(read.rows) == 8


def test_the_document_is_a_table_for_diff(read: ForeignWiki, tmp_path: Path) -> None:
    """What is printed as JSON is read back."""
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(read.to_json()))
    assert [row.si for row in read_foreign(path)] == [one.row.si for one in read.rows]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1 on a disagreement; the file with its reasons."""
    (tmp_path / "a.md").write_text(PAGE)
    assert main(["wiki", "import-check", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "8 read; left, guess: lines 22; no-product: lines 26" in out
    assert "33.5 TFLOPS: disagrees" in out


@pytest.mark.parametrize("name", ["nothing", "empty"])
def test_what_is_no_wiki(tmp_path: Path, name: str) -> None:
    """No folder, or one without pages."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput):
        read_foreign_wiki(Registry.open(), tmp_path / name)
