"""`kb isa` on text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

SASS = """	.headerflags	@"EF_CUDA_SM90"
	.section	.text.narrow,"ax",@progbits
        /*0000*/                   LDG.E R2, desc[UR4][R2.64] ;
        /*0010*/                   STG.E desc[UR4][R4.64], R2 ;
        /*0020*/                   EXIT ;
	.section	.text.wide,"ax",@progbits
        /*0000*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0010*/                   STG.E.128 desc[UR4][R8.64], R4 ;
        /*0020*/                   EXIT ;
"""


def test_widths_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """32-bit accesses miss the target: exit 1; 128-bit ones meet it: exit 0."""
    file = tmp_path / "k.sass"
    file.write_text(SASS)
    assert main(["isa", str(file), "--kernel", "wide"]) == 0
    assert main(["isa", str(file), "--json"]) == 1
    out = capsys.readouterr().out
    body = json.loads(out[out.index("{") :])
    status = {k["name"]: {t["id"]: t["status"] for t in k["targets"]} for k in body["kernels"]}
    assert status["narrow"]["global_load_128b_share"] == "not_met"
    assert status["wide"]["global_load_128b_share"] == "met"


@pytest.mark.parametrize("words", [["/nowhere"], ["FILE", "--kernel", "none"]])
def test_bad_input(words: list[str], tmp_path: Path) -> None:
    """No file, no such kernel."""
    file = tmp_path / "k.sass"
    file.write_text(SASS)
    assert main(["isa", *[str(file) if word == "FILE" else word for word in words]]) == 2


def test_other_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A poem is no machine code."""
    file = tmp_path / "poem.txt"
    file.write_text("roses are red\n")
    assert main(["isa", str(file)]) == 2
    assert "poem.txt" in capsys.readouterr().err
