"""Every form, over all products: what is written is read back, and agrees with the wiki."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.wiki.differences import diff
from kopt_kb.wiki.foreign import read_foreign
from kopt_kb.wiki.peaks.collect import Collection, collect
from kopt_kb.wiki.peaks.forms import FORMS, write
from kopt_kb.wiki.registry import Registry


@pytest.mark.parametrize("name", FORMS)
def test_all_products_agree_when_read_back(name: str, tmp_path: Path) -> None:
    """Each value of each form, by the same comparison that judges foreign tables."""
    if name == "parquet":
        pytest.importorskip("pyarrow")
    registry = Registry.open()
    form = FORMS[name]
    found = collect(registry)
    write(form, found, tmp_path / "out")
    rows = read_foreign(tmp_path / "out")
    assert {row.platform for row in rows} == {
        str(one.identity.platform) for one in found.products if not form.lacks(one)
    }
    result = diff(registry, rows, name)
    assert dict(result.counts) == {"agrees": len(rows)}, [
        (one.row.where, one.key, one.reason) for one in result.rows if one.state != "agrees"
    ][:5]


def test_a_form_that_can_hold_nothing(invented: Collection, tmp_path: Path) -> None:
    """Refused; nothing is written."""
    with pytest.raises(BadInput):
        write(FORMS["geak"], invented, tmp_path / "out.md")
    assert not list(tmp_path.glob("out*"))


def test_a_file_is_replaced_as_a_whole(invented: Collection, tmp_path: Path) -> None:
    """No temporary file stays."""
    path = tmp_path / "peaks.csv"
    path.write_text("old")
    write(FORMS["csv"], invented, path)
    assert path.read_text().startswith("platform,")
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["peaks.csv"]


def test_a_folder_is_no_file(invented: Collection, tmp_path: Path) -> None:
    """Named."""
    with pytest.raises(BadInput, match="folder"):
        write(FORMS["csv"], invented, tmp_path)


def test_what_is_no_regular_file_stays(invented: Collection, tmp_path: Path) -> None:
    """A pipe, as a device would be: named, and still there afterwards."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(BadInput, match="no regular file"):
        write(FORMS["csv"], invented, pipe)
    assert pipe.is_fifo()
