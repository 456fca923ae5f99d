"""Claims about scanning files."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.frameworks import framework_named
from kopt_kb.base.errors import BadInput
from kopt_kb.launch.counts.isa_file import scan_file

PTX = ".version 8.7\n.target sm_100a\n.visible .entry k(\n)\n{\n\tld.global.b32 %r1, [%rd1];\n}\n"


def test_text_is_recognised_whatever_its_name(tmp_path):
    """PTX in a file called .txt."""
    path = tmp_path / "listing.txt"
    path.write_text(PTX)
    (scan,) = scan_file(path)
    assert (scan.kernel, scan.isa, scan.target) == ("k", "ptx", "sm_100")


@pytest.mark.parametrize(
    ("name", "fix"),
    [("k.py", "kb compile"), ("k.cu", "kb record"), ("k.toml", "kb compile"), ("k.hip", "hipcc")],
)
def test_source_is_refused_with_what_reads_it(name: str, fix: str, tmp_path: Path) -> None:
    """By its suffix, before anything is read; docs/languages.md has the table."""
    with pytest.raises(BadInput, match="a kernel's source") as caught:
        scan_file(tmp_path / name)
    assert fix in caught.value.fix


def test_the_table_of_languages_names_what_is_known(repo_root: Path) -> None:
    """Every framework that is recognised, and every language of a header."""
    table = (repo_root / "docs" / "languages.md").read_text()
    told = {row.split("|")[1].strip().lower().replace(" ", "") for row in table.splitlines() if row.startswith("| ")}
    known = {name for name in ("Triton", "Gluon", "CuteDSL", "cuTile", "FlyDSL") if framework_named(name) is not None}
    assert {name.lower() for name in known} == {"triton", "gluon", "cutedsl", "cutile", "flydsl"}
    assert {name.lower() for name in known} | {"tilelang", "helion", "cudac++", "hip"} <= told


@pytest.mark.triton
def test_a_cubin_is_disassembled(tmp_path):
    """From source to binary to scan."""
    pytest.importorskip("triton")
    from pathlib import Path

    from kopt_kb.launch.compile.request import OpCase
    from kopt_kb.launch.counts.static_profile import compile_kernel

    file = str(Path(__file__).parents[3] / "kopt_kb" / "launch" / "compile" / "kernels_to_compile.py")
    (made,) = compile_kernel(OpCase(file, (4096,), "fp32"), "sm_90", disassemble=False)
    path = tmp_path / "k.bin"
    path.write_bytes(made.compilation.binary)
    (scan,) = scan_file(path)
    assert (scan.kernel, scan.isa, scan.target) == ("vadd", "sass", "sm_90")
    assert scan.wide_share("global", ("load",), bits=128) == 1.0


@pytest.mark.parametrize("content", [None, b"", b"\x00\x01\x02", b"\x7fELF"])
def test_other_files_are_refused_in_one_line(tmp_path, content):
    """Absent, empty, bytes, a cut ELF header."""
    path = tmp_path / "file.cubin"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        scan_file(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
