"""What a product makes of compiled rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.doors.table_form import TableForm
from kopt_kb.launch.compile.request import KernelCase
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.packs.tables.code_objects import CodeFacts, Workbench
from kopt_kb.packs.tables.engine_checks import PlannedTable, judged, planned
from kopt_kb.problem.tuned_table import TunedRow, TunedTable
from kopt_kb.wiki.registry import Platform, Registry

FINE = CodeFacts(threads=128, registers=64, shared_dynamic_bytes=1024)


@pytest.fixture(scope="module")
def h200() -> Platform:
    """A product with 227 KiB for a block."""
    return Registry.open().platform("H200_SXM")


def _launches(table: TunedTable, row: TunedRow, root: Path, target: str) -> tuple[KernelCase, ...]:
    if row.key == "wrong":
        raise BadInput("fails", where="k", code="KB081")
    if row.key == "unknown":
        raise BadInput("nobody knows", where="k", code="KB116")
    constants = {"BLOCK": row.settings["BLOCK"], "SECOND": False}
    one = KernelCase(str(root / "k.py"), "k", {}, constants)
    return (one, replace(one, constexprs={**constants, "SECOND": True}))


FORM = TableForm(
    name="tiles",
    what="tiles",
    recognises=lambda *_: False,
    read=lambda *_: TunedTable("tiles", "a.json", "", {}, ()),
    write=lambda *_: b"",
    launches=_launches,
)
ROWS = tuple(
    TunedRow(key, {"BLOCK": number}, number) for number, key in enumerate(("1", "wrong", "unknown", "unknown"), 2)
)
TABLE = TunedTable("tiles", "a.json", "NVIDIA H200", {}, ROWS)


def plan(tmp_path: Path, platform: Platform, form: TableForm = FORM) -> PlannedTable:
    """The plan of the table."""
    text = "import triton\nimport triton.language as tl\n@triton.jit\ndef k(BLOCK: tl.constexpr, SECOND: tl.constexpr):\n    pass\n"
    (tmp_path / "k.py").write_text(text)
    return planned(TABLE, form, "a.json", platform, Workbench(tmp_path, tmp_path, "3.6.0"))


def test_what_is_wrong_stands_at_its_row_and_what_is_unknown_once(tmp_path: Path, h200: Platform) -> None:
    """Rows that can be compiled are."""
    found = plan(tmp_path, h200)
    assert [one.row.key for one in found.rows] == ["1"]
    assert [(one.kind, one.key) for one in found.findings] == [("wrong-launch", "wrong"), ("unjudged", "")]
    assert plan(tmp_path, h200, replace(FORM, launches=None)).rows == ()


def test_a_target_that_is_not_compiled_for_is_said(tmp_path: Path) -> None:
    """Once."""
    registry = Registry.open()
    others = (registry.platform(name) for name in registry.platforms())
    strange = next((one for one in others if not str(one.identity.target).startswith(("sm_", "gfx9", "gfx1"))), None)
    platform = strange or registry.platform("H200_SXM")
    if strange is None:
        platform.identity = replace(platform.identity, target="xe2")
    found = plan(tmp_path, platform)
    assert [one.kind for one in found.findings] == ["unjudged"] and found.rows == ()


@pytest.mark.parametrize(
    ("facts", "kind", "says"),
    [
        ({"shared_dynamic_bytes": 300_000}, "shared-memory", "300000 B of shared memory, H200_SXM has 232448 B"),
        ({"threads": 1024, "registers": 255}, "cannot-launch", "nothing fits on H200_SXM"),
        ({"spill_bytes": 24}, "spills", "24 B a thread at 64 registers"),
        ({"is_serialised": True}, "serialised", "ptxas serialises"),
        ({"refusal": "no power of two", "kind": "compiler"}, "refused", "no power of two"),
        ({"refusal": "60 s", "kind": "time_limit"}, "unjudged", "60 s"),
        ({}, "", ""),
    ],
)
def test_facts_are_judged_for_the_product(
    tmp_path: Path, h200: Platform, facts: Mapping[str, int], kind: str, says: str
) -> None:
    """Both products of a layer that say the same are one finding; one alone is named."""
    found = plan(tmp_path, h200)
    first, second = (one.key for one in found.rows[0].objects)
    bad = replace(FINE, **facts)  # type: ignore[arg-type]
    both = [one for one in judged(found, {first: bad, second: bad}, limits_of(h200)) if one.key == "1"]
    assert [one.kind for one in both] == ([kind] if kind else [])
    if kind:
        assert both[0].message.startswith("first product and second product: ") and says in both[0].message
        only = [one for one in judged(found, {first: FINE, second: bad}, limits_of(h200)) if one.key == "1"]
        assert only[0].message.startswith("second product: ")
