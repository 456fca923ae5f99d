"""torch's questions about the GPU: memory, versions, bindings, operators that somebody registers."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.launch.compile.device import DeviceFacts  # noqa: E402
from kopt_kb.launch.compile.torch_stand_ins import own_kernel, stand_ins  # noqa: E402

FACTS = DeviceFacts("Test", "sm_90", {"total_memory": 1 << 30})


def test_questions_have_answers_of_facts() -> None:
    """All memory is free; what nobody knows is refused; afterwards torch is as before."""
    before = torch.cuda.Stream, torch.version.cuda, hasattr(torch._C, "_cuda_getCurrentRawStream")
    with stand_ins(FACTS):
        assert torch.cuda.mem_get_info() == (1 << 30, 1 << 30)
        assert (torch.cuda.get_arch_list(), torch.cuda.graph_pool_handle()) == (["sm_90"], (0, 0))
        assert torch._C._cuda_getCurrentRawStream(0) == 0
        assert torch.accelerator.current_accelerator() == torch.device("cuda")
        with torch.cuda.stream(torch.cuda.Stream()), torch.cuda.use_mem_pool(torch.cuda.MemPool()):
            assert torch.cuda.get_rng_state().numel() == 16
        torch.cuda.set_rng_state(torch.cuda.get_rng_state())
    assert before == (torch.cuda.Stream, torch.version.cuda, hasattr(torch._C, "_cuda_getCurrentRawStream"))
    with stand_ins(DeviceFacts("Test", "sm_90")), pytest.raises(BadInput, match="total_memory"):
        torch.cuda.mem_get_info()


def test_the_version_is_that_of_the_assembler() -> None:
    """It is compared by libraries; an AMD target has none."""
    pytest.importorskip("triton")
    with stand_ins(FACTS):
        assert int(torch.version.cuda.split(".")[0]) >= 12
    with stand_ins(DeviceFacts("Test", "gfx942")):
        assert torch.cuda.get_arch_list() == ["gfx942"]
        assert torch.version.hip


@pytest.mark.filterwarnings("ignore:Warning only once:UserWarning")
def test_operators_are_found_by_name_and_may_be_registered_twice() -> None:
    """The kernel for CUDA, else the one for all; a module that runs again registers again."""
    with stand_ins(FACTS):
        library = torch.library.Library("kopt_twice", "FRAGMENT")
        for _ in range(2):
            library.define("one(Tensor x) -> Tensor")
            library.impl("one", len, "CompositeExplicitAutograd")
            library._register_fake("one", len)
        assert own_kernel("kopt_twice::one") is len
        library.impl("one", abs, "CUDA")
        assert own_kernel("kopt_twice::one") is abs
        assert own_kernel("kopt_twice::two") is None
        with pytest.raises(RuntimeError):
            library.define("this is no schema")
