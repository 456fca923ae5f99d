"""CSV cells and rows of AMD's tools."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.readers.amd.amd_csv import Columns, csv_rows, folded, header_of, number_in, whole_in
from kopt_kb.analysis.readers.common.errors import ReportError


def test_spellings_of_a_column_are_one():
    """gpu-id, GPU_ID and "Gpu Id" fold to one name."""
    assert {folded(one) for one in ("gpu-id", "GPU_ID", ' "Gpu Id" ')} == {"gpu_id"}


@pytest.mark.parametrize("name", ["LDS_Block_Size", "Lds_Block_Size", "Group_Segment_Size", "LDS_Per_Workgroup", "lds"])
def test_releases_name_one_column_differently(name):
    """Aliases lead to the common name."""
    assert Columns([folded("Kernel_Name"), folded(name)]).at("lds") == 1


def test_of_columns_with_one_name_the_first_counts():
    """Merged passes repeat columns."""
    assert Columns(["kernel_name", "wave_size", "wave_size"]).at("wave") == 1


def test_a_text_without_a_comma_has_no_header():
    """Foreign text is no table."""
    assert header_of("hello\nworld") == ()
    assert header_of('\ufeff"A","B c"\r\n1,2') == ("a", "b_c")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rows_come_with_their_lines_in_any_encoding(tmp_path, encoding, end):
    """Byte order marks, UTF-16 and CRLF change nothing; blank lines are skipped."""
    path = tmp_path / "x.csv"
    path.write_bytes(end.join(["a,b", '"x, y",1', "", "z,2", ""]).encode(encoding))
    assert list(csv_rows(path)) == [(1, ["a", "b"]), (2, ["x, y", "1"]), (4, ["z", "2"])]


@pytest.mark.parametrize(
    ("text", "line"), [("a,b\n1,2\n3\n", 3), ("a,b\n1,2,3\n", 2), ('a,b\n1,"2\n', 2), ('a,b\n1,"2"x\n', 2)]
)
def test_a_damaged_row_names_its_line(tmp_path, text, line):
    """Short, long and unclosed rows end the reading."""
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(ReportError) as caught:
        list(csv_rows(path))
    assert (caught.value.file, caught.value.line) == (str(path), line)


@pytest.mark.parametrize(
    ("cell", "value"),
    [("16384.000000", 16384.0), ("0.00000000e+00", 0.0), ("", None), ("N/A", None), (" 5 ", 5.0), ("nan", None)],
)
def test_numbers_and_empty_cells(tmp_path, cell, value):
    """An empty cell is absent and never 0."""
    assert number_in(cell, tmp_path, 3) == value


@pytest.mark.parametrize("cell", ["x", "1_0", "inf", "1e999", "1,5"])
def test_other_text_is_no_number(tmp_path, cell):
    """Nothing is guessed."""
    with pytest.raises(ReportError, match="no number"):
        number_in(cell, tmp_path, 3)


def test_counts_are_whole_and_not_negative(tmp_path):
    """16.0 is a count, 16.5 and -1 are not."""
    assert [whole_in(one, tmp_path, 3) for one in ("16", "16.0", "")] == [16, 16, None]
    for cell in ("16.5", "-1", "9" * 30):
        with pytest.raises(ReportError):
            whole_in(cell, tmp_path, 3)
