"""Every public table in a folder is read and written byte for byte; nothing of them is in this repository.

KOPT_PUBLIC_TABLES names a folder with checkouts or unpacked wheels of vLLM, SGLang and AITER.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.pack import PACK

_LEAST = {"fused-moe": 100, "block-gemm": 100}
_FEW_REFUSED = 0.05


def test_public_tables_keep_their_bytes() -> None:
    """At least 100 files of each form that has so many; those that are damaged are few."""
    named = os.environ.get("KOPT_PUBLIC_TABLES")
    if not named:
        pytest.skip("no public tables: set KOPT_PUBLIC_TABLES to a folder with vLLM, SGLang and AITER")
    same: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for path in (one for one in Path(named).rglob("*") if one.is_file()):
        data = path.read_bytes()
        form = next((one for one in PACK.table_forms if one.recognises(path.name, data[:4096])), None)
        if form is None:
            continue
        try:
            table = form.read(data, path)
        except BadInput:
            refused[form.name] += 1
        else:
            assert form.write(table) == data, path
            same[form.name] += 1
    assert all(same[name] >= least for name, least in _LEAST.items()), same
    assert all(refused[name] <= _FEW_REFUSED * same[name] for name in refused), refused
