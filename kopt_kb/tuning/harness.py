"""The hash of the code that measures: records of different harnesses are not compared."""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["harness_hash"]


def harness_hash(*, of_project: bool = False) -> str:
    """Return the hash of the code that measures; of a project, of the code that runs and reads its benchmark."""
    import kopt_kb.kernels
    import kopt_kb.services

    kernels, services = Path(next(iter(kopt_kb.kernels.__path__))), Path(next(iter(kopt_kb.services.__path__)))
    files = (kernels / "timing.py", kernels / "verification.py", *sorted(services.glob("candidate*.py")))
    if of_project:
        files = (*sorted(services.glob("project*.py")), *sorted(Path(__file__).parent.glob("project*.py")))
    return hashlib.sha256(b"\0".join(one.read_bytes() for one in files)).hexdigest()
