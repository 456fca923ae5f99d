"""Side by side: a ratio only under the same conditions, and what stands in the way is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.wiki.compare import SideBySideLine, compare
from kopt_kb.wiki.registry import Registry


def lines(wiki_root: Path, metric: str, **axes: str) -> list[SideBySideLine]:
    """Lines of the two invented products."""
    registry = Registry.open(wiki_root)
    return list(compare([registry.platform("T10"), registry.platform("T10_PRO")], metric, **axes).lines)


def edit(wiki_root: Path, old: str, new: str) -> None:
    """Change the page of the second product."""
    page = wiki_root / "hardware/nvidia/t10_pro.md"
    assert old in page.read_text()
    page.write_text(page.read_text().replace(old, new))


def test_same_conditions_have_a_ratio(wiki_root: Path) -> None:
    """3.0 over 2.0 TB/s."""
    edit(
        wiki_root,
        '| memory_bandwidth | 2.0 | TB/s | - | vendor | [^sheet] bandwidth row quote="2.0TB/s"',
        '| memory_bandwidth | 3.0 | TB/s | - | vendor | [^sheet] bandwidth row quote="3.0TB/s"',
    )
    edit(
        wiki_root,
        '| 3.9 | Gbit/s | - | vendor | [^sheet] memory row quote="3.9 Gbps"',
        '| 5.9 | Gbit/s | - | vendor | [^sheet] memory row quote="5.9 Gbps"',
    )
    (line,) = lines(wiki_root, "memory_bandwidth")
    assert (line.comparable, line.ratios()) == (True, (1.0, 1.5))


def test_another_accumulator_is_said_and_has_no_ratio(wiki_root: Path) -> None:
    """One line, the condition named."""
    edit(
        wiki_root,
        'sparsity=dense; acc=fp32; clock=boost | vendor | [^sheet] table 1 quote="102.4',
        'sparsity=dense; acc=fp16; clock=boost | vendor | [^sheet] table 1 quote="102.4',
    )
    (line,) = lines(wiki_root, "peak_compute", dtype="fp16", sparsity="dense")
    assert (line.comparable, line.differs, line.ratios()) == (False, ("acc: fp32, fp16",), (None, None))


@pytest.mark.parametrize(("axis", "stated"), [("acc", "acc=fp32; clock=boost"), ("clock", "acc=fp32; clock=boost")])
def test_an_unstated_condition_is_said_and_has_a_ratio(wiki_root: Path, axis: str, stated: str) -> None:
    """A sheet that is silent about its clock or accumulator is compared, and the line says about what."""
    silent = "; ".join(f"{axis}=unstated" if one.startswith(axis) else one for one in stated.split("; "))
    edit(
        wiki_root,
        f'sparsity=dense; {stated} | vendor | [^sheet] table 1 quote="102.4',
        f'sparsity=dense; {silent} | vendor | [^sheet] table 1 quote="102.4',
    )
    (line,) = lines(wiki_root, "peak_compute", dtype="fp16", sparsity="dense")
    assert (line.differs, line.ratios()) == (
        (f"{axis}: {stated.partition(axis + '=')[2].partition(';')[0]}, unstated",),
        (1.0, 1.0),
    )


def test_a_missing_product_leaves_the_others_their_ratio(wiki_root: Path) -> None:
    """Of three the second has no row: the third still has its ratio to the first."""
    registry = Registry.open(wiki_root)
    one, two = (registry.platform(name) for name in ("T10", "T10_PRO"))
    (line,) = compare([one, two], "memory_bandwidth").lines
    held = SideBySideLine(("A", "B", "C"), line.key, (line.rows[0], None, line.rows[1]), ("", "", ""), ())
    assert held.ratios() == (1.0, None, 1.0)


def test_a_ceiling_of_the_target_is_no_value_of_its_products(wiki_root: Path) -> None:
    """What the target allows at most says nothing of two products that are cut differently."""
    registry = Registry.open(wiki_root)
    both = [registry.platform("T10"), registry.platform("T10_PRO")]
    assert any(row.is_ceiling for row in both[0].sheet.rows)
    found = compare(both)
    assert not any(row.is_ceiling for line in found.lines for row in line.rows if row is not None)


def test_dense_and_sparse_never_share_a_line(wiki_root: Path) -> None:
    """A product without a dense row shows what it has."""
    page = wiki_root / "hardware/nvidia/t10_pro.md"
    page.write_text("\n".join(line for line in page.read_text().split("\n") if "| 102.4 |" not in line))
    dense, sparse = lines(wiki_root, "peak_compute", dtype="fp16")
    assert (dense.comparable, dense.notes[1]) == (False, "only sparsity=2:4: 204.8 TFLOPS")
    assert sparse.ratios() == (1.0, 1.0)


def test_unknown_and_none_are_no_values(wiki_root: Path) -> None:
    """Shown as states, never as a ratio."""
    for dtype, kind in (("bf16", "unknown"), ("fp8", "none")):
        (line,) = lines(wiki_root, "peak_compute", dtype=dtype)
        assert [row.kind for row in line.rows if row] == [kind, kind]
        assert not line.comparable


def test_no_value_row_is_left_out(wiki_root: Path) -> None:
    """Every value of both products stands on some line."""
    registry = Registry.open(wiki_root)
    both = [registry.platform("T10"), registry.platform("T10_PRO")]
    found = compare(both)
    shown = [{row.key for line in found.lines if (row := line.rows[at]) is not None} for at in (0, 1)]
    for platform, keys in zip(both, shown, strict=True):
        assert keys == {row.key for row in platform.sheet.chosen().values() if not row.is_ceiling}


def test_bad_requests(wiki_root: Path) -> None:
    """One product, the same twice, conditions that nothing fits."""
    registry = Registry.open(wiki_root)
    one = registry.platform("T10")
    for platforms in ([one], [one, one]):
        with pytest.raises(BadInput, match="two different"):
            compare(platforms)
    with pytest.raises(BadInput, match="is one product"):
        compare("T10")
    with pytest.raises(BadInput, match="fits the conditions"):
        compare([one, registry.platform("T10_PRO")], "peak_compute", dtype="int4")


def test_another_scope_is_said_where_the_whole_is_missing(wiki_root: Path) -> None:
    """The second product prints its cache a die at a time: no value, and what it has instead."""
    row = "| l2_capacity | 50 | MiB | {} | vendor | [^sheet] {}"
    edit(wiki_root, row.format("-", ""), row.format("scope=die", "each die, "))
    whole, die = lines(wiki_root, "l2_capacity")
    assert (whole.comparable, whole.ratios(), whole.notes) == (False, (None, None), ("", "only scope=die: 50 MiB"))
    assert die.notes == ("only scope=gpu: 50 MiB", "")
    cells = whole.to_json()["cells"]
    assert [cell["state"] for cell in cells] == ["value", "missing"]


def test_words_are_compared_without_a_ratio(wiki_root: Path) -> None:
    """HBM3 beside HBM3: comparable, and nothing to divide."""
    (line,) = lines(wiki_root, "memory_type")
    assert (line.comparable, line.ratios()) == (True, (None, None))


def test_conditions_that_no_row_has(wiki_root: Path) -> None:
    """Leave conditions out."""
    with pytest.raises(BadInput, match="fits the conditions"):
        lines(wiki_root, "peak_compute", dtype="fp4")


def test_rated_clocks_of_two_vendors_have_a_ratio() -> None:
    """NVIDIA rates peaks at the boost clock, AMD at the maximum: dense peaks are compared, and the line says so."""
    (line,) = compare(["H100_SXM", "MI300X"], "peak_compute", dtype="bf16", engine="matrix", sparsity="dense").lines
    assert line.ratios() == (1.0, pytest.approx(1307.4 / 989.4))
    assert "clock: boost, max" in line.differs


def test_links_of_two_names_share_a_line() -> None:
    """NVLink of two generations, and the links of two vendors."""
    for other in ("B200", "MI300X"):
        (line,) = compare(["H100_SXM", other], "link_bandwidth[direction=both;scope=gpu]").lines
        assert line.ratios()[1] is not None and line.differs[0].startswith("link: nvlink4, ")


def test_keys_of_two_vendors_align() -> None:
    """In one comparison and between two: the rows that people look for are under the same keys, as numbers."""
    wanted = ("peak_compute[dtype=bf16;engine=matrix;sparsity=dense]", "memory_bandwidth", "memory_capacity", "l2_capacity",
              "link_bandwidth[direction=both]", "board_power[kind=tdp]")  # fmt: skip
    for pair in (("H100_SXM", "MI300X"), ("B200", "MI355X"), ("H20", "MI325X")):
        rows = {row["key"]: row for row in compare(pair).records()}
        assert all(isinstance(rows[key][name], float) for key in wanted for name in pair), pair


def test_records_are_in_base_units_and_unique() -> None:
    """A key is one row; what is missing is None."""
    rows = compare(["H20", "H100_SXM"]).records()
    keys = [row["key"] for row in rows]
    assert len(keys) == len(set(keys))
    assert next(row for row in rows if row["key"] == "memory_bandwidth") == {
        "key": "memory_bandwidth", "unit": "B/s", "H20": 4e12, "H100_SXM": 3.352e12, "differs": "",
    }  # fmt: skip
    assert next(row for row in rows if row["key"] == "sm_clock[class=max;ops=all]")["H20"] is None
