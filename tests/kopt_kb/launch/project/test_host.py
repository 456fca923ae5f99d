"""The machine is named without torch, with a GPU's own tool where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.launch.project import host


def test_without_a_gpu_the_host_is_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """`host` and a processor's name; nothing is invented for the rest."""
    monkeypatch.setattr(host.shutil, "which", lambda _: None)
    monkeypatch.setattr(host, "_amd", lambda: None)
    found = host.host_environment()
    assert found.device.startswith("host ") and len(found.device) > 5
    assert (found.uuid, found.driver, found.clocks) == (None, None, {})


@pytest.mark.parametrize(
    ("script", "device"),
    [("echo 'NVIDIA T10, GPU-1, 560.1, 1000 MHz, 2000 MHz, 300.00 W, Enabled'", "NVIDIA T10"), ("exit 9", "host")],
)
def test_nvidia_smi_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, device: str) -> None:
    """Its first line; when it fails there is no GPU."""
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = host.host_environment()
    assert found.device.startswith(device)
    if device != "host":
        assert (found.uuid, found.driver) == ("GPU-1", "560.1") and found.clocks["clocks_sm"] == "1000 MHz"
