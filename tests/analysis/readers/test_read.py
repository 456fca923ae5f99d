"""The entry point recognises by content and fails in one line."""

from __future__ import annotations

import os

import pytest

from kopt_kb.analysis.readers import NoKernelMatches, ReportError, read_profiles, reader_of
from kopt_kb.analysis.readers.common.base import Reader
from kopt_kb.base.errors import BadInput
from kopt_kb.doors import table
from kopt_kb.doors.pack import Pack


@pytest.fixture
def page(tmp_path, samples):
    file = tmp_path / "anything.xyz"
    file.write_text(samples.two_launches())
    return file


def test_the_suffix_doesn_t_matter(page):
    """A live CSV in a file of any name is read."""
    (profile,) = read_profiles(page)
    assert (profile.name, profile.launch_count, profile.source.format) == ("scale(float *, int)", 2, "ncu-csv")


def test_kernels_are_selected_by_a_pattern_in_the_name(page):
    """The pattern is searched, not matched from the start."""
    assert len(list(read_profiles(page, kernel="ale.float"))) == 1


def test_a_pattern_that_matches_nothing_lists_the_names(page):
    """An empty selection is an error, never an empty result."""
    with pytest.raises(NoKernelMatches, match="the report has scale"):
        list(read_profiles(page, kernel="gemm"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "Git LFS pointer"),
        (b"hello\nworld\n", "no profiler report that is known here"),
        (bytes(range(256)) * 40, "no profiler report that is known here"),
        (b"==ERROR== ERR_NVGPUCTRPERM - no permission\n", "no permission"),
        (b"==PROF== Connected\n==WARNING== No kernels were profiled.\n", "profiled no kernel"),
    ],
)
def test_what_is_no_report_is_refused_with_its_reason(tmp_path, content, words):
    """Each says what the file is."""
    file = tmp_path / "x.csv"
    file.write_bytes(content)
    with pytest.raises(ReportError, match=words):
        list(read_profiles(file))


def test_text_under_the_name_of_a_report_names_the_magic(tmp_path):
    """A renamed file is told apart from a damaged one."""
    file = tmp_path / "x.ncu-rep"
    file.write_text("hello")
    with pytest.raises(ReportError, match="magic NVR"):
        reader_of(file)


def test_a_missing_file_and_a_bad_pattern_are_errors(tmp_path, page):
    """Both are told before anything is read."""
    with pytest.raises(ReportError, match="no such report"):
        read_profiles(tmp_path / "none")
    with pytest.raises(BadInput, match="no regular expression"):
        read_profiles(page, kernel="(")


@pytest.mark.parametrize("inside", [False, True])
def test_a_pipe_is_never_opened(tmp_path, inside, amd):
    """A FIFO would be waited for, whether it is the report or lies beside its tables."""
    pipe = tmp_path / "x_agent_info.csv"
    os.mkfifo(pipe)
    if not inside:
        with pytest.raises(ReportError, match="neither a file nor a folder"):
            list(read_profiles(pipe))
        return
    os.mkfifo(tmp_path / "y_kernel_trace.csv")
    (tmp_path / "z_kernel_trace.csv").write_text(amd.trace_table(amd.trace_row(1, 1000, 1500)))
    (found,) = read_profiles(tmp_path)
    assert found.launch_count == 1


def test_a_device_is_no_report():
    """Reading /dev/zero would never end."""
    with pytest.raises(ReportError, match="neither a file nor a folder"):
        reader_of("/dev/zero")


def test_readers_of_packs_are_asked_last_and_only_then(page, tmp_path, monkeypatch):
    """A report that a built-in reader takes loads no table of packs; one that nobody else takes is read by the pack."""
    asked = []
    mine = Reader("mine", "a report of mine", lambda head: head.data.startswith(b"mine"), lambda _: iter(()))
    greedy = Reader("all", "whatever there is", lambda _: True, lambda _: iter(()))
    found = table.Packs({"a": Pack("a", "x", readers=(mine,)), "b": Pack("b", "x", readers=(greedy,))}, ())
    monkeypatch.setattr(table, "packs", lambda: asked.append(1) or found)
    assert reader_of(page).id == "ncu-csv"
    assert not asked
    (tmp_path / "report").write_text("mine: nothing happened")
    assert reader_of(tmp_path / "report") is mine
    (tmp_path / "report").write_text("yours: nothing happened")
    assert reader_of(tmp_path / "report") is greedy


def test_what_is_known_names_readers_of_packs(tmp_path, monkeypatch):
    """In the order in which they are asked."""
    mine = Reader("mine", "a report of mine", lambda _: False, lambda _: iter(()))
    monkeypatch.setattr(table, "packs", lambda: table.Packs({"a": Pack("a", "x", readers=(mine,))}, ()))
    (tmp_path / "report").write_text("yours: nothing happened")
    with pytest.raises(ReportError) as caught:
        reader_of(tmp_path / "report")
    assert caught.value.fix.endswith(", a report of mine")
