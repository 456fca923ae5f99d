"""The code that measures, named by its hash: records of one environment come from one harness."""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["harness_hash"]


def harness_hash() -> str:
    """Return the hash of the code that measures."""
    import kopt_kb.kernels
    import kopt_kb.services

    kernels, services = Path(next(iter(kopt_kb.kernels.__path__))), Path(next(iter(kopt_kb.services.__path__)))
    files = (kernels / "timing.py", kernels / "verification.py", *sorted(services.glob("candidate*.py")))
    return hashlib.sha256(b"\0".join(one.read_bytes() for one in files)).hexdigest()
