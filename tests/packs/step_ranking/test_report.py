from __future__ import annotations

from kopt_kb.packs.step_ranking.report import OperatorTime


def _time(**values):
    given = {"operator": "", "shapes": "", "category": "copies", "count": 1, "kernels": ("Memset (Device)",)}
    return OperatorTime(**{**given, "library": "", "total_s": 2.0, "share": 1.0, **values})


def test_the_share_of_the_roof_is_known_with_a_roof_only() -> None:
    assert (_time().share_of_roof, _time(roof_s=1.0).share_of_roof) == (None, 0.5)
    assert _time(roof_s=1.0, total_s=0.0).share_of_roof is None


def test_transfers_are_no_kernels() -> None:
    assert _time().is_transfer
    assert not _time(operator="aten::mm").is_transfer
    assert not _time(kernels=("k",)).is_transfer
