"""Pages of ncu's CSV output."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.readers import ReportError, read_profiles, reader_of


@pytest.mark.parametrize(
    "text",
    [
        'Launch Settings\n"Launch Attribute","Value"\n"Profiler Command Line","ncu --set basic app"\n',
        'Session Info\n"Session Attribute","Value"\n"Host Name","h"\n',
        '"#","Source","Warp Stall Sampling"\n"1","x","2"\n',
    ],
)
def test_pages_without_metrics_are_refused_with_the_export_to_use(tmp_path, text):
    """The advice is a command."""
    file = tmp_path / "page.csv"
    file.write_text(text)
    with pytest.raises(ReportError, match="--page raw --csv --print-units base"):
        list(read_profiles(file))


def test_a_header_after_much_output_is_found(tmp_path, samples):
    """An application that prints a lot before the table hides nothing."""
    file = tmp_path / "page.csv"
    file.write_text("==PROF== Connected\n" + "step\n" * 80_000 + samples.two_launches())
    assert reader_of(file).id == "ncu-csv"
    (profile,) = read_profiles(file)
    assert profile.launch_count == 2


def test_skipped_lines_become_a_note(tmp_path, samples):
    """Whoever reads the profile learns of them."""
    file = tmp_path / "page.csv"
    file.write_text(samples.two_launches() + "done\n")
    (profile,) = read_profiles(file)
    assert profile.notes == ("1 lines that are no rows were skipped, first line 6",)


@pytest.mark.parametrize("cut", [1, 4, 12, 30])
def test_a_last_row_that_is_cut_keeps_the_rest(tmp_path, samples, cut):
    """The file ends inside a row: the other launch is there, and the profile says what is missing."""
    file = tmp_path / "page.csv"
    file.write_text(samples.two_launches().rstrip("\n")[:-cut])
    (profile,) = read_profiles(file)
    assert profile.duration_s is not None
    assert any("ends inside line" in note for note in profile.notes)


def test_a_cut_row_inside_the_file_is_damage(tmp_path, samples):
    """Only the last row may be cut."""
    lines = samples.two_launches().rstrip("\n").splitlines()
    file = tmp_path / "page.csv"
    file.write_text("\n".join([*lines[:-2], lines[-2][:-12], lines[-1]]))
    with pytest.raises(ReportError):
        list(read_profiles(file))


def test_a_launch_without_a_possible_time_says_so(tmp_path, samples):
    """Zero nanoseconds are no time, and no silence."""
    file = tmp_path / "page.csv"
    file.write_text(samples.two_launches().replace("1500", "0"))
    (profile,) = read_profiles(file)
    assert any("which no kernel does" in note for note in profile.notes)
