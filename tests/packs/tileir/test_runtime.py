"""What a prepared file carries: the choice between two kernels, and configurations of one backend alone."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from kopt_kb.packs.tileir import runtime
from kopt_kb.packs.tileir.runtime import TileirChoice, TileirTuned, tileir_configs

NEEDS = (
    ("unit", "a", ("s",), 1),
    ("stride", "a", ("m",), 1),
    ("aligned", "a", ("B",), 1),
    ("block", "a", ("B",), 1),
    ("extent", "a", ("n",), 1),
)


def _kernel(name: str, **more: object) -> SimpleNamespace:
    kernel = SimpleNamespace(arg_names=("a", "c", "s", "m", "n", "B"), fn=None, **more)
    return type("K", (SimpleNamespace,), {"__getitem__": lambda self, grid: lambda *a, **k: (name, k)})(**vars(kernel))


def _choice(**more: object) -> TileirChoice:
    return TileirChoice(_kernel("plain"), _kernel("tiled", **more), ("a", "c", "s", "m", "n", "B"), NEEDS, ("c",))


GOOD = {"s": 1, "m": 64, "n": 5, "B": 32}


@pytest.fixture(autouse=True)
def _asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEIR_DESCRIPTORS", "1")
    monkeypatch.setattr(runtime, "_ensure_allocator", lambda: None)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, ""), ({"s": 2}, "unit"), ({"m": 65}, "stride"), ({"m": 0}, "stride"), ({"B": 4}, "aligned"),
        ({"n": 0}, "extent"), ({"n": None}, "extent"), ({"s": None}, "unit"),
    ],
)  # fmt: skip
def test_a_launch_that_lacks_something_gets_the_plain_kernel(change: dict[str, object], reason: str) -> None:
    choice = _choice()
    a, c = torch.zeros(128, dtype=torch.float16), torch.zeros(128)
    name, _ = choice[(1,)](a, c, **{**GOOD, **change})
    assert name == ("plain" if reason else "tiled")
    assert choice.refused.startswith(reason)


def test_memory_that_is_shared_or_not_aligned_or_no_tensor() -> None:
    choice = _choice()
    a = torch.zeros(128, dtype=torch.float16)
    for given, reason in (
        ((a, a[8:]), "share memory"),
        ((a[1:], a.clone()), "16 bytes"),
        ((3, a), "no tensor"),
        ((a.bool(), a), "torch.bool"),
    ):
        assert choice[(1,)](*given, **GOOD)[0] == "plain"
        assert reason in choice.refused
    assert choice[(1,)](None, a, **GOOD)[0] == "tiled"


def test_a_pointer_that_has_to_be_given() -> None:
    choice = TileirChoice(_kernel("plain"), _kernel("tiled"), ("a",), (("present", "a", (), 1),), ())
    assert choice[(1,)](None)[0] == "plain"
    assert choice.refused == "a is not given"
    assert choice[(1,)](torch.zeros(8))[0] == "tiled"


def test_every_configuration_has_to_fit() -> None:
    configs = [SimpleNamespace(kwargs={"B": 32}), SimpleNamespace(kwargs={"B": 2})]
    choice = _choice(configs=configs)
    assert choice[(1,)](torch.zeros(8, dtype=torch.float16), None, s=1, m=64, n=5)[0] == "plain"
    choice = _choice(configs=configs[:1], values={"n": lambda args: args["B"]})
    assert choice[(1,)](torch.zeros(8, dtype=torch.float16), None, s=1, m=64)[0] == "tiled"


def test_descriptors_only_where_asked_or_active(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEIR_DESCRIPTORS", "")
    assert _choice()[(1,)](torch.zeros(8, dtype=torch.float16), None, **GOOD)[0] == "plain"
    assert _choice().arg_names[0] == "a"


def test_configurations_are_added_with_that_backend_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import triton

    own = [
        triton.Config({"B": 1}, num_warps=4),
        triton.Config({"B": 1}, num_warps=8),
        triton.Config({"B": 2}, num_stages=5),
    ]
    assert tileir_configs(own, ((1, 0, 1), (2, 4, 2))) is own
    monkeypatch.setattr(runtime, "tileir_active", lambda: True)
    made = tileir_configs(own, ((1, 0, 1), (2, 4, 2)))
    assert [(one.kwargs["B"], one.kwargs["occupancy"], one.num_stages, one.num_ctas) for one in made] == [
        (1, 1, 3, 1), (1, 2, 4, 2), (2, 1, 5, 1), (2, 2, 4, 2),
    ]  # fmt: skip
    assert len({one.num_warps for one in made}) == 1


def test_a_kernel_without_configurations(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it was launched with is searched instead, and only tensors it writes to are put back."""
    tuned = TileirTuned(_kernel("plain"), ((1, 0, 1),), written=("a", "n"))
    assert tuned[(1,)](1, num_warps=8) == ("plain", {"num_warps": 8})
    assert tuned.arg_names[0] == "a"
    seen = {}

    def autotune(**options: object):
        seen.update(options)
        return lambda kernel: _kernel("tuned")

    monkeypatch.setattr(runtime, "tileir_active", lambda: True)
    monkeypatch.setattr(runtime, "_triton", SimpleNamespace(autotune=autotune, Config=lambda kwargs: kwargs))
    monkeypatch.setattr(runtime, "tileir_configs", lambda configs, hints: [1])
    assert tuned[(1,)](torch.zeros(1), n=5, num_warps=8) == ("tuned", {"n": 5})
    assert (seen["restore_value"], seen["key"]) == (["a"], ["n"])


def test_backend_is_active_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENABLE_TILE", raising=False)
    assert not runtime.tileir_active()
    target = SimpleNamespace(backend="tileir")
    driver = SimpleNamespace(active=SimpleNamespace(get_current_target=lambda: target))
    monkeypatch.setattr(runtime, "_triton", SimpleNamespace(runtime=SimpleNamespace(driver=driver)))
    monkeypatch.setenv("ENABLE_TILE", "1")
    assert runtime.tileir_active()
    monkeypatch.setattr(runtime, "_triton", SimpleNamespace())
    assert not runtime.tileir_active()
