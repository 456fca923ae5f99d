"""What machines have of TileIR."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kopt_kb.launch.machine.health import Host
from kopt_kb.packs.tileir.environment import backends_here, examine


def _host(
    packages: dict[str, str], gpus: str = "", environ: dict[str, str] | None = None, files: tuple[str, ...] = ()
) -> Host:
    return cast(
        Host,
        SimpleNamespace(
            package=packages.get, which=lambda name: f"/bin/{name}" if name == "nvidia-smi" and gpus else None,
            ask=lambda words: (0, gpus), environ=environ or {}, exists=lambda path: path in files, root=Path("/"),
        ),
    )  # fmt: skip


def _state(found, name: str) -> str:
    return next(one.state for one in found.findings if one.name == name)


def test_stock_triton_without_a_gpu() -> None:
    found = examine(_host({"triton": "3.6.0"}), ("amd", "nvidia"))
    assert (found.triton_installed, found.nvtriton_installed, found.tileir_active, found.gpus) == (
        "3.6.0",
        False,
        False,
        (),
    )
    assert (_state(found, "backend"), _state(found, "gpu")) == ("absent", "absent")
    assert found.recommendation.startswith("prepare kernels now")


def test_active_on_blackwell() -> None:
    host = _host(
        {"triton": "3.5.0"}, "NVIDIA B200, 10.0\n", {"ENABLE_TILE": "1", "CUDA_HOME": "/cuda"}, ("cuda/bin/tileiras",)
    )
    found = examine(host, ("nvidia", "tileir"))
    assert found.tileir_active
    assert (found.blackwell_gpu, found.gpus[0].two_cta, found.recommendation) == (True, True, "run with it")
    without = examine(_host({"triton": "3.5.0"}, "NVIDIA B200, 10.0\n"), ("tileir",))
    assert (without.tileir_active, _state(without, "tileiras")) == (False, "wrong")


@pytest.mark.parametrize(
    ("row", "family", "two_cta"),
    [
        ("RTX 5090, 12.0", "Blackwell", False),
        ("H100, 9.0", "", False),
        ("A100, 8.0", "Ampere", False),
        ("L4, 8.9", "", False),
    ],
)
def test_devices(row: str, family: str, two_cta: bool) -> None:
    """Blackwell is more than one family: two-CTA products are not on all of it."""
    (gpu,) = examine(_host({}, f"{row}\n"), ()).gpus
    assert (gpu.family, gpu.two_cta) == (family, two_cta)


def test_packages_that_overwrite_each_other_and_the_placeholder() -> None:
    two = examine(_host({"triton": "3.6.0", "pytorch-triton": "3.5.0"}), ())
    assert _state(two, "packages of triton") == "wrong"
    placeholder = examine(_host({"nvtriton": "0.0.0a0"}), ())
    assert (placeholder.triton_installed, placeholder.nvtriton_installed) == ("", False)


def test_backends_of_this_triton() -> None:
    assert "nvidia" in backends_here()
