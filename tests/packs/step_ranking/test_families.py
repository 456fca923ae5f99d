from __future__ import annotations

from kopt_kb.packs.step_ranking.families import category_of_op, is_known
from kopt_kb.packs.step_ranking.operands import Shaped
from kopt_kb.packs.step_ranking.recorded import OpCall
from tests.packs.step_ranking.traces import ADD, FP32


def test_an_operator_is_known_by_its_name_or_by_kernels_of_torch() -> None:
    assert is_known(Shaped(OpCall("aten::mm"), ("k",)))
    assert is_known(Shaped(OpCall("triton_poi_fused_0"), ("k",)))
    assert is_known(Shaped(OpCall("aten::strange", ((2,),), (FP32,)), (ADD,)))
    assert not is_known(Shaped(OpCall("aten::strange", ((2,),), (FP32,)), ("k",)))
    assert not is_known(Shaped(OpCall("fbgemm::lookup", ((2,),), (FP32,)), (ADD,)))


def test_only_names_of_the_tables_have_a_category() -> None:
    assert (category_of_op("aten::bmm"), category_of_op("aten::strange")) == ("products", None)
