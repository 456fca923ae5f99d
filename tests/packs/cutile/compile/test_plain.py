"""A tile kernel's code object becomes an ordinary one: same instructions, all parameters, nothing for the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.compile.request import CompileFailed
from kopt_kb.launch.cuda.cubin import host_sections, read_cubin, sections
from kopt_kb.packs.cutile.compile.plain import host_code, plain_code, plain_text

ARRAY = (8, 4, 4, 4, 4)
"""Sizes of an address, two extents and two strides."""


def _ptx(code: bytes) -> str:
    (held,) = [one for one in sections(code) if one.name == ".nv_debug_ptx_txt"]
    return code[held.offset :][: held.size].replace(b"\0", b"\n").decode()


def test_what_tileiras_writes_hides_its_tensor_maps(tile_code: bytes) -> None:
    """Its list of parameters is of another kind, and x86 code lies beside the kernel."""
    assert host_code(tile_code)[:4] == b"\x7fELF"
    assert read_cubin(tile_code).entries["product"].parameters == ()


def test_the_text_declares_them(tile_code: bytes) -> None:
    """Nothing is hidden, no language is said, and what only debuggers read is gone."""
    made, hidden = plain_text(_ptx(tile_code), "there")
    assert hidden == 3
    assert ".param .align 64 .b8 product_param_17[128]" in made
    assert not any(word in made for word in (".hidden", ".language", "LAUNCH_META_DATA", "mmaf"))


@pytest.mark.parametrize("text", ["", ".target sm_90a\n.hidden\t.param .align 8 .b8 one[64]\n"])
def test_other_hidden_parameters_are_refused(text: str) -> None:
    """Nothing is known that would fill them; nor is a code object without PTX."""
    with pytest.raises(BadInput, match="no tensor map|no PTX"):
        plain_text(text, "there")


def test_what_is_cut_short_is_refused(tile_code: bytes) -> None:
    """Whole, or not at all."""
    for size in (0, 100, 4096, len(tile_code) // 2):
        with pytest.raises(BadInput, match="no whole code object"):
            plain_code(tile_code[:size], Path("ptxas"), "there")


@pytest.mark.parametrize(("script", "words"), [("echo no such thing >&2; exit 1", "no such thing"), ("", "refuses")])
def test_an_assembler_that_refuses(tile_code: bytes, tmp_path: Path, script: str, words: str) -> None:
    """Its words, or that it made nothing."""
    tool = tmp_path / "ptxas"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    with pytest.raises(CompileFailed, match=words):
        plain_code(tile_code, tool, "there")


def test_other_instructions_are_refused(tile_code: bytes, tmp_path: Path) -> None:
    """An assembler of another release may make some: this one writes a file with one instruction changed."""
    (text,) = [one for one in sections(tile_code) if one.name == ".text.product"]
    other = tmp_path / "other"
    other.write_bytes(tile_code[: text.offset] + b"\xff" + tile_code[text.offset + 1 :])
    tool = tmp_path / "ptxas"
    tool.write_text(f'#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp {other} "$2"\n')
    tool.chmod(0o755)
    with pytest.raises(CompileFailed, match="other instructions"):
        plain_code(tile_code, tool, "there")


def test_every_parameter_is_declared_and_nothing_runs_on_the_host(tile_file: Path, tile_code: bytes) -> None:
    """Tensor maps come last, at multiples of 64 bytes of the bank that begins at 0x210."""
    from kopt_kb.packs.cutile.compile.compiler import tileiras

    made = plain_code(tile_code, tileiras().path.with_name("ptxas"), str(tile_file))
    assert made.entry.parameters == (*ARRAY, *ARRAY, *ARRAY, 128, 128, 128)
    assert made.entry.offsets == (0, 8, 12, 16, 20, 24, 32, 36, 40, 44, 48, 56, 60, 64, 68, 112, 240, 368)
    assert made.declared == 15
    assert host_sections(made.code) == []
    assert "0 bytes spill stores" in made.log
