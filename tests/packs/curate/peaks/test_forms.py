"""Every form, over all products: what is written is read back, and agrees with the wiki."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.doors import table
from kopt_kb.doors.export import Export
from kopt_kb.doors.pack import Pack
from kopt_kb.packs.curate.differences import diff
from kopt_kb.packs.curate.foreign import read_foreign
from kopt_kb.packs.curate.peaks.forms import forms, read_binary, read_text, write
from kopt_kb.wiki.collect import Collection, collect
from kopt_kb.wiki.foreign_row import foreign_row
from kopt_kb.wiki.registry import Registry

FORMS = forms()


@pytest.fixture(scope="module")
def shipped() -> tuple[Registry, Collection]:
    """The registry of all products, and what stands in it."""
    registry = Registry.open()
    return registry, collect(registry)


@pytest.mark.parametrize("name", FORMS)
def test_all_products_agree_when_read_back(name: str, shipped: tuple[Registry, Collection], tmp_path: Path) -> None:
    """Each value of each form, by the same comparison that judges foreign tables."""
    if name == "parquet":
        pytest.importorskip("pyarrow")
    registry, found = shipped
    form = FORMS[name]
    write(form, found, tmp_path / "out")
    rows = read_foreign(tmp_path / "out")
    assert {row.platform for row in rows} == {
        str(one.identity.platform) for one in found.products if form.lacks is None or not form.lacks(one)
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


def test_a_strangers_form_is_written_and_read_back(
    invented: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its first line, or by its first bytes; what nobody recognises is left to the plain tables."""
    row = foreign_row({"platform": "T10", "metric": "sm_count", "value": "1", "unit": "count"}, "x:1")
    text = Export(
        "haiku", "who reads haiku", render=lambda found: {"a.txt": f"haiku {len(found.products)}"},
        recognises=lambda given: given.startswith("haiku"), read=lambda *_: [row],
    )  # fmt: skip
    binary = Export("song", "who sings", store=lambda *_: None, magic=b"SONG", load=lambda _: [row, row])
    monkeypatch.setattr(
        table, "packs", lambda: table.Packs({"strange": Pack("strange", "x", exports=(text, binary))}, ())
    )
    assert list(forms()) == ["haiku", "song"]
    write(forms()["haiku"], invented, tmp_path / "a.txt")
    assert read_foreign(tmp_path / "a.txt") == [row]
    assert read_text("sonnet", "x") is None
    assert read_binary(b"SONG and more", tmp_path) == [row, row]
    assert read_binary(b"NONE", tmp_path) is None


@pytest.mark.parametrize("name", ["/tmp/pwned", "../x", "a/b"])
def test_a_form_names_files_and_no_places(name: str, invented: Collection, tmp_path: Path) -> None:
    """What a stranger's form calls a file lies in the folder that was asked for, or nothing is written."""
    form = Export("evil", "writes elsewhere", render=lambda _: {name: "x"}, many=True)
    with pytest.raises(BadInput) as caught:
        write(form, invented, tmp_path / "out")
    assert caught.value.error_code == "KB124"
    assert not (tmp_path / "out").exists()
