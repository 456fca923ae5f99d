"""Files that are not read are named, with the command that helps."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3

import pytest

from kopt_kb.analysis.readers import ReportError, reader_of

NSYS = b"NVIDIA Tegra Profiler Report36398880.\n"
ZIPPED = b"PK\x03\x04" + bytes(30)


def refusal(path):
    """Return the message of a refusal."""
    with pytest.raises(ReportError) as caught:
        reader_of(path)
    assert "[KB204]" in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "what", "fix"),
    [
        ("a b.nsys-rep", NSYS, "an Nsight Systems report", "nsys export --type sqlite --output '{}/a b.sqlite' '{}/a b.nsys-rep'"),
        ("a.qdrep", NSYS, "an Nsight Systems report", "nsys export --type sqlite"),
        ("x", b"U3w[END]NVIDIA Nsight Systems Stream2025.3.1.0!", "unfinished Nsight Systems", "QdstrmImporter"),
        ("x.xz", b"\xfd7zXZ\x00rest", "packed by xz", "xz -dk"),
        ("x.zip", ZIPPED, "packed by zip", "unzip"),
        ("x.gz", gzip.compress(b"text" * 99, mtime=0), "a gzip file without a trace", "gunzip -k"),
        ("x.parquet", b"PAR1" + bytes(9), "a Parquet file", "nsys export --type sqlite"),
        ("x.pickle", b"\x80\x04\x95", "a Python pickle", "export_chrome_trace"),
        ("x.pftrace", b"\n\x20abc", "a Perfetto trace", "rocprofv3 --output-format rocpd"),
        ("x.att", bytes(99), "a raw thread trace", "ui_output"),
        ("x.csv", b'Time (%),Total Time (ns),Instances,Avg (ns)\n1,2,3,4\n', "nsys stats", "nsys export --type sqlite"),
        ("x.html", b"<!DOCTYPE html><html>", "an HTML page", "profiler's own file"),
        ("x.json", b'{"a": 1, "b": {"c": 2}}', "JSON of no profiler known here (members a, b, c)", "Chrome traces"),
        ("x.json", b"[1, 2, 3]", "JSON of no profiler known here;", "Chrome traces"),
        ("x.cubin", b"\x7fELF\x02", "a program or code object", "kb isa"),
    ],
)  # fmt: skip
def test_a_kind_is_named_with_what_helps(tmp_path, name, content, what, fix):
    """By content; quoted, so that the command can be pasted."""
    path = tmp_path / name
    path.write_bytes(content)
    told = refusal(path)
    assert what in told
    assert fix.format(tmp_path, tmp_path) in told
    assert "known are" not in told


def test_databases_are_named_by_their_tables(tmp_path):
    """Those of nvprof, empty ones, and others."""
    for number, (tables, what) in enumerate(
        [
            (["CUPTI_ACTIVITY_KIND_KERNEL", "StringTable"], "an nvprof database"),
            ([], "SQLite"),
            ([f"t{one}" for one in range(9)], "(tables t0, t1, t2, t3, t4 and 4 more)"),
        ]
    ):
        path = tmp_path / f"{number}.db"
        with sqlite3.connect(path) as base:
            for one in tables:
                base.execute(f"CREATE TABLE {one} (x)")
            base.execute("PRAGMA user_version = 3")
        base.close()
        assert what in refusal(path)


def test_an_empty_folder_is_named(tmp_path):
    """Nothing in it is a report."""
    (tmp_path / "x.txt").write_text("text")
    assert "a folder without reports" in refusal(tmp_path)


def test_control_characters_of_members_stay_out(tmp_path):
    """Names are matched by letters only."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"\x1b[31mred": 1, "ok": 2}))
    assert "(members ok)" in refusal(path)


@pytest.mark.skipif(shutil.which("mkfifo") is None, reason="no mkfifo here")
def test_pipes_are_refused_without_being_read(tmp_path):
    """A FIFO would block for ever."""
    import os

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ReportError, match="neither a file nor a folder"):
        reader_of(tmp_path / "pipe")
