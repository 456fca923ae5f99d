"""Claims about recognising and scanning a listing."""

from __future__ import annotations

import json

import pytest

from kopt_kb.analysis.ir.machine.scan import recognise, scan_text
from kopt_kb.base.errors import BadInput

SASS = """\
\t.headerflags\t@"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
\t.section\t.text.gemm,"ax",@progbits
        /*0000*/                   HGMMA.64x128x16.F32 R24, gdesc[UR4], R24 ;
        /*0010*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0020*/                   LDG.E R4, desc[UR4][R2.64] ;
"""
PTX = ".version 8.7\n.target sm_100a\n.visible .entry k(\n)\n{\n\tld.global.b32 %r1, [%rd1];\n}\n"
AMDGCN = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\nk:\n\ts_endpgm\n'


@pytest.mark.parametrize(
    ("text", "isa", "target"), [(SASS, "sass", "sm_90"), (PTX, "ptx", "sm_100"), (AMDGCN, "amdgcn", "gfx942")]
)
def test_a_listing_is_recognised_by_content(text, isa, target):
    """The file's name plays no part; the `a` of sm_100a is dropped."""
    (scan,) = scan_text(text)
    assert (scan.isa, scan.target) == (isa, target)


def test_shares_are_over_instructions():
    """One of two global loads is 128 bits wide; there is no shared memory access."""
    (scan,) = scan_text(SASS)
    assert scan.wide_share("global", ("load", "copy"), bits=128) == 0.5
    assert scan.wide_share("shared", ("load",), bits=128) is None


def test_json_is_plain_data():
    """Everything survives a JSON round trip."""
    (scan,) = scan_text(SASS)
    data = json.loads(json.dumps(scan.to_json()))
    assert data["matrix_instructions"] == {"HGMMA": 1}
    assert {"space": "global", "kind": "load", "width_bits": 128, "count": 1} in data["accesses"]


@pytest.mark.parametrize("text", ["", "hello\nworld\n", "x = 1  # v_mfma\n"])
def test_other_text_is_refused_in_one_line(text):
    """What it is not, and what to give instead."""
    with pytest.raises(BadInput, match="neither SASS, PTX nor AMDGCN") as caught:
        scan_text(text, where="notes.txt")
    assert "\n" not in str(caught.value)


def test_an_absent_kernel_lists_the_present_ones():
    """A filter that matches nothing is an error, not an empty answer."""
    with pytest.raises(BadInput, match="kernels here: gemm"):
        scan_text(SASS, kernel="softmax")


def test_lines_are_read_once_from_an_iterator():
    """A file object works as well as a string."""
    assert scan_text(iter(SASS.splitlines()))[0].instructions == 3
    assert recognise(iter(["nothing"])) is None
