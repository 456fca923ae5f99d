"""A kernel's own configurations: which a product takes, and the sourced limit that forbids each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.launch.compile.request import Compilation, CompileFailed, CompileRequest, KernelCase, Listed, OpCase
from kopt_kb.launch.counts.own_configs import OwnConfigs, judged, judged_cases, own_cases

LIMITS = Limits(
    "nvidia", warp_size=32, warps_per_sm=64, threads_per_block=1024, simds_per_sm=4, blocks_per_sm=32,
    registers_per_sm=65536, registers_per_block=65536, registers_per_thread=255, register_granule=256,
    shared_memory_per_sm=228 * 1024, shared_memory_per_block=60_000, shared_memory_reserved_per_block=1024,
    shared_memory_granule=128,
    citations={name: f"x.md:L{at}" for at, name in enumerate(("shared_memory_per_block", "threads_per_block",
                                                              "registers_per_block"))},
)  # fmt: skip
PTX = ".version 8.0\n.target sm_90\n.visible .entry k()\n{\nret;\n}\n"
CASE = KernelCase("f.py", "k", (1,), {}, {"num_ctas": 1})


def made(registers: int, warps: int, shared: int = 0, spills: int = 0) -> list[Compilation]:
    """One compiled kernel that uses so much."""
    log = f"ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info    : Function properties for k\n    0 bytes stack frame, {spills} bytes spill stores, 0 bytes spill loads\nptxas info    : Used {registers} registers\n"
    numbers = {"shared": shared, "tmem_size": 0, "num_warps": warps, "num_stages": 3, "num_ctas": 1}
    return [Compilation("k", "sm_90", "", PTX, "", log, numbers, {}, {}, {}, {}, {})]


class Pool:
    """Answers as a pool would: of a listing its configurations, of a case what its number stands for."""

    def __init__(self, *outcomes: tuple[dict[str, Any], Any]) -> None:
        self.outcomes, self.asked = outcomes, list[CompileRequest]()

    def listed(self, _: CompileRequest) -> Listed:
        return Listed(tuple(config for config, _ in self.outcomes))

    def compile_all(self, requests: Iterable[CompileRequest]) -> Iterator[tuple[int, Any]]:
        self.asked = list(requests)
        for position, one in reversed(list(enumerate(self.asked))):  # as they end, in any order
            yield position, self.outcomes[int(one.case.options["autotune_config"])][1]  # type: ignore[union-attr,call-overload]


def test_each_configuration_is_kept_or_named_with_its_limit() -> None:
    """Threads are known without compiling; registers of a block and shared memory of what was compiled; a spill stays."""
    pool: Any = Pool(
        ({"num_warps": 4}, made(40, 4, 1000, 16)),
        ({"num_warps": 64}, None),
        ({"num_warps": 32}, made(128, 32)),
        ({"num_warps": 4, "B": 9}, made(40, 4, 60_001)),
        ({"num_warps": 4}, CompileFailed.of("shared_memory", "needs 70000 B", where="k")),
        ({"num_warps": 4}, CompileFailed.of("compiler", "does not compile: 9 is no power of two", where="k")),
    )
    cases = own_cases(CASE, "sm_90", pool, {})
    assert [one.options for _, one in cases[:2]] == [{"num_ctas": 1, "autotune_config": n} for n in (0, 1)]
    found = OwnConfigs("sm_90", "X", tuple(judged_cases(cases, "sm_90", LIMITS, pool, {"multi_processor_count": 7})))
    assert len(pool.asked) == 5
    assert pool.asked[0].facts == {"multi_processor_count": 7}
    assert [one.reason for one in found.configurations] == [
        None, "threads", "registers", "shared_memory", "shared_memory", "compiler",
    ]  # fmt: skip
    first, threads, registers, shared, early, _ = found.configurations
    assert (first.registers, first.spill_bytes, first.shared_bytes, first.blocks_per_sm) == (40, 16, 1000, 12)
    assert "2048 threads a block (64 warps); threads_per_block=1024 <- x.md:L1" in threads.detail
    assert "registers_per_block=65536 <- x.md:L2" in registers.detail
    assert shared.detail == "60001 B of shared memory; shared_memory_per_block=60000 <- x.md:L0"
    assert early.detail == "needs 70000 B; shared_memory_per_block=60000 <- x.md:L0"
    assert (found.total, found.kept, found.to_json()["kept"]) == (6, 1, 1)


def test_without_a_product_nothing_is_judged() -> None:
    """Registers and shared memory are said, no limit is applied."""
    (one,) = judged_cases([({"num_warps": 64}, CASE)], "sm_90", None, SimpleNamespace(compile_all=_huge), {})  # type: ignore[arg-type]
    assert (one.reason, one.registers, one.blocks_per_sm) == (None, 255, None)


def _huge(requests: Iterable[CompileRequest]) -> list[tuple[int, Any]]:
    return [(at, made(255, 64, 1 << 20)) for at, _ in enumerate(requests)]


@pytest.mark.parametrize("case", [CASE, OpCase("f.py", (1,), "bf16")])
def test_a_kernel_without_configurations_is_refused(case: KernelCase | OpCase) -> None:
    """None are listed of it."""
    with pytest.raises(BadInput, match="no configurations of its own"):
        own_cases(case, "sm_90", Pool(), {})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BadInput("the kernel's own rule leaves it out", code="KB082"), "own_rule"),
        (BadInput("the launcher fails", code="KB445"), "launcher"),
        (BadInput("missing argument n", code="KB081"), "invalid"),
    ],
)
def test_a_refusal_has_its_kind(error: KoptError, reason: str) -> None:
    """By the code of its cause, which is all that comes from a maker; a missing compiler is no verdict."""
    assert judged(3, {}, error, LIMITS).reason == reason
    with pytest.raises(MissingTool):
        judged(3, {}, MissingTool("triton is not installed", code="KB120"), LIMITS)
