"""Claims about what a record says of how Triton compiled its code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kopt_kb.launch.record.request import MakerAnswer

pytestmark = [pytest.mark.torch, pytest.mark.triton]


def test_each_code_object_has_its_request(recorded: dict[str, tuple[MakerAnswer, Path]]) -> None:
    """Kernel, file, signature and options as they were asked for, before the compiler changed them."""
    record: Any = recorded["plain"][0].record
    assert set(record.requests) == set(record.codes)
    (one,) = record.requests.values()
    assert (one.language, Path(one.file).name, one.refused) == ("Triton", "launchers.py", ())
    assert one.options["enable_fp_fusion"] is True
    assert set(one.signature.values()) >= {"constexpr"}
    gluon: Any = recorded["in_gluon"][0].record
    assert {each.language for each in gluon.requests.values()} == {"Gluon"}
