"""What JSON ladders share: names, folders, rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.packs.tables.ladder import engine_of, is_extent, triton_of


@pytest.mark.parametrize(
    ("path", "engine", "triton"),
    [
        ("/x/vllm/configs/a.json", "vllm", ""),
        ("/x/sglang/kernels/a.json", "sglang", ""),
        ("/x/configs/triton_3_5_1/a.json", "sglang", "3.5.1"),
        ("/x/vllm/sglang/a.json", "sglang", ""),
        ("/x/triton_next/a.json", "", ""),
    ],
)
def test_a_folder_says_whose_table_it_is(path: str, engine: str, triton: str) -> None:
    """The innermost folder decides; a folder of a Triton version is SGLang's."""
    assert (engine_of(Path(path)), triton_of(Path(path))) == (engine, triton)


@pytest.mark.parametrize(("value", "expected"), [(1, True), (0, False), (-1, False), (True, False), ("1", False)])
def test_an_extent_is_a_whole_number_above_zero(value: object, expected: bool) -> None:
    """True is none."""
    assert is_extent(value) is expected
