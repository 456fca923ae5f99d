"""Code objects are told apart as Triton does, compiled once, and remembered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.request import CompileFailed, CompileRequest, KernelCase
from kopt_kb.packs.tables import code_objects
from kopt_kb.packs.tables.code_objects import CodeFacts, PlannedCode, Workbench, code_facts
from kopt_kb.wiki.cache import store
from tests.packs.tables.conftest import MOE

SETTINGS = frozenset({"BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "num_warps"})


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that another test compiled is remembered."""
    monkeypatch.setenv("KOPT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def bench(engine: Path, tmp_path: Path) -> Workbench:
    """A workbench for the invented program."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    return Workbench(engine, folder, "3.6.0")


def case(engine: Path, rows: int = 64, **constants: object) -> KernelCase:
    """A launch of its kernel, with an argument that this version lacks."""
    tensor = TensorSpec((rows, 256), "float32")
    args = {
        "a_ptr": tensor, "b_ptr": tensor, "c_ptr": tensor, "a_scale_ptr": None, "N": 256, "K": 256, "stride_am": 256,
        "stride_cm": 256, "a_desc": None,
    }  # fmt: skip
    blocks = {
        "BLOCK_SIZE_M": 16,
        "BLOCK_SIZE_N": 16,
        "BLOCK_SIZE_K": 16,
        "GROUP_SIZE_M": 1,
        "top_k": 8,
        "MUL_ROUTED_WEIGHT": False,
    }
    file = str(engine / MOE / "fused_moe.py")
    return KernelCase(file, "fused_moe_kernel", args, {**blocks, "HAS_BIAS": False, **constants}, {"num_warps": 4})


def test_launches_share_a_code_object_where_triton_does(bench: Workbench, engine: Path) -> None:
    """Other extents that 16 divides, and another group size, are the same; another tile, target or type are not."""

    def key(one: KernelCase, target: str = "sm_90") -> str:
        return bench.code_object(one, SETTINGS, target).key

    first = key(case(engine))
    assert key(case(engine, 128)) == key(case(engine, GROUP_SIZE_M=32)) == first
    args = dict(case(engine).args)  # type: ignore[arg-type]
    others = [replace(case(engine), args={**args, "stride_am": size}) for size in (1, 7, 1 << 33)]
    huge = replace(case(engine), args={**args, "a_ptr": TensorSpec((1 << 16, 1 << 16), "float32")})
    described = replace(case(engine), args={**args, "a_ptr": TensorSpec((64, 64), "float16", block_shape=(16, 16))})
    keys = [
        first,
        key(case(engine, BLOCK_SIZE_M=32)),
        key(case(engine), "sm_80"),
        *map(key, [*others, huge, described]),
    ]
    assert len(set(keys)) == len(keys)
    assert key(replace(case(engine), args={**args, "stride_am": 9})) == keys[4]
    assert replace(bench, triton="3.7.0").code_object(case(engine), SETTINGS, "sm_90").key not in keys


def test_a_changed_helper_is_another_code_object(bench: Workbench, engine: Path) -> None:
    """What the kernel takes along counts, in whichever file it stands."""
    before = bench.code_object(case(engine), SETTINGS, "sm_90").key
    helpers = engine / MOE / "helpers.py"
    helpers.write_text(helpers.read_text().replace("x * 2", "x * 3"))
    again = Workbench(engine, bench.folder, "3.6.0").code_object(case(engine), SETTINGS, "sm_90").key
    assert again != before


def test_a_setting_that_the_kernel_lacks_is_wrong(bench: Workbench, engine: Path) -> None:
    """A constant that another version of the engine has is not."""
    with pytest.raises(BadInput, match="no parameter USE_TMA") as caught:
        bench.code_object(case(engine, USE_TMA=True), SETTINGS | {"USE_TMA"}, "sm_90")
    assert caught.value.error_code == "KB081"
    less = replace(case(engine), constexprs={"BLOCK_SIZE_M": 16})
    with pytest.raises(BadInput, match="a parameter BLOCK_SIZE_N that is not known here") as caught:
        bench.code_object(less, SETTINGS, "sm_90")
    assert caught.value.error_code == "KB082"


def test_a_kernel_is_compiled_once_and_remembered(bench: Workbench, engine: Path) -> None:
    """Registers and shared memory of the object; a second time nothing is compiled."""
    pytest.importorskip("triton")
    made = bench.code_object(case(engine), SETTINGS, "sm_90")
    refused = bench.code_object(case(engine, BLOCK_SIZE_M=24), SETTINGS, "sm_90")
    first = {one.key: one for one in code_facts([made, refused, made], 1)}
    assert all(one.is_new for one in first.values()) and len(first) == 2
    facts = first[made.key].facts
    assert (facts.threads, facts.refusal, facts.spill_bytes) == (128, "", 0) and facts.registers > 0
    assert facts.resources.registers_per_thread == facts.registers
    assert facts.shared_bytes == facts.resources.shared_dynamic_bytes + facts.resources.shared_static_bytes
    assert first[refused.key].facts.kind == "compiler" and "power of" in first[refused.key].facts.refusal
    again = list(code_facts([made, refused], 1))
    assert [(one.key, one.is_new) for one in again] == [(made.key, False), (refused.key, False)]
    assert again[0].facts == facts


class _Pool:
    """Workers that answer one error each."""

    outcome: KoptError = MissingTool("triton is not installed", code="KB120")

    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def compile_all(self, requests: Iterable[CompileRequest]) -> Iterator[tuple[int, Any]]:
        """Answer every request alike."""
        yield from ((number, self.outcome) for number, _ in enumerate(requests))


def test_what_another_run_may_answer_otherwise_is_not_remembered(engine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time limit is asked again, a refusal is not; without a compiler nothing is said."""
    one = PlannedCode("table-code-test", case(engine), "sm_90")
    monkeypatch.setattr(code_objects, "CompilePool", _Pool)
    with pytest.raises(MissingTool):
        list(code_facts([one], 1))
    late = CompileFailed.of("time_limit", "60 s passed", where="k")
    for outcome, remembered in ((late, False), (BadInput("unknown argument", where="k", code="KB081"), True)):
        monkeypatch.setattr(_Pool, "outcome", outcome)
        assert [found.is_new for found in code_facts([one], 1)] == [True]
        assert [found.is_new for found in code_facts([one], 1)] == [not remembered]
    store(one.key, {"registers": "many"})
    assert [found.is_new for found in code_facts([one], 1)] == [True]
    assert CodeFacts().shared_bytes == 0
