"""What a machine has of cuTile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kopt_kb.launch.machine.health import HealthFinding, Host
from kopt_kb.launch.machine.package_health import language_line

__all__ = ["lines"]

_DOES = "checked by kb cutile and compiled for every target of tileiras"


def lines(host: Host) -> Iterator[HealthFinding]:
    """Yield the line of `kb doctor`."""
    line = language_line(host, "cuTile", "cuda-tile", "cutile", _DOES)
    if line.state != "ok" or host.package("nvidia-cuda-tileiras") or host.which("tileiras"):
        yield line
        return
    told = f"cuda-tile {host.package('cuda-tile')} without tileiras: files are checked, nothing is compiled"
    yield replace(line, state="note", found=told, fix="install kopt-kb[cutile], or put tileiras on PATH")
