from __future__ import annotations

import pytest

from kopt_kb.packs.step_ranking.collectives import link_time, sent_bytes
from kopt_kb.packs.step_ranking.recorded import OpCall, read_recorded
from tests.packs.step_ranking.traces import event, kernel, launch, write


def _call(*facts):
    return OpCall("record_param_comms", facts=facts)


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("allreduce", 2 * 7 * 2 * 800 // 8),
        ("_allgather_base", 7 * 2 * 1600 // 8),
        ("reduce_scatter", 7 * 2 * 800 // 8),
        ("all_to_allv", 7 * 2 * 800 // 8),
    ],
)
def test_a_ring_sends_what_its_algorithm_says(name, sent) -> None:
    assert sent_bytes(_call(name, "BFloat16", 800, 1600, 8)) == sent


@pytest.mark.parametrize(
    "facts",
    [(), ("barrier", "Int", 1, 1, 8), ("allreduce", "Strange", 8, 8, 8), ("allreduce", "Int", 8, 8, 16),
     ("allreduce", "Int", 8, 8, 1), ("allreduce", "Int", None, 8, 8), (None, "Int", 8, 8, 8),
     ("allreduce", "Int", 10**400, 8, 8)],
    ids=["nothing", "barrier", "type", "several nodes", "alone", "no size", "no name", "no memory"],
)  # fmt: skip
def test_other_collectives_have_no_bytes(facts, registry) -> None:
    assert sent_bytes(_call(*facts)) is None
    assert link_time(_call(*facts), registry.platform("H100_SXM")) is None


def test_the_rate_is_that_of_all_links_in_one_direction(registry) -> None:
    h100 = registry.platform("H100_SXM")
    seconds, link = link_time(_call("allreduce", "Float", 1 << 20, 1 << 20, 8), h100)
    assert link == "nvlink4"
    assert seconds == pytest.approx(2 * 7 / 8 * (4 << 20) / 450e9)


def test_sizes_of_a_collective_are_read_from_its_operator(tmp_path) -> None:
    sizes = {"Collective name": "allreduce", "dtype": "Half", "In msg nelems": 8, "Out msg nelems": 8, "Group size": 4}
    events = [event("cpu_op", "record_param_comms", 0, 9, **sizes), launch(1, 1), kernel("nccl", 20, 3, 1)]
    (call,) = read_recorded(write(tmp_path / "t.json", *events)).calls
    assert call.facts == ("allreduce", "Half", 8, 8, 4)
