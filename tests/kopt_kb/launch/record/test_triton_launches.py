"""Who tunes."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.triton]
pytest.importorskip("torch")
pytest.importorskip("triton")

from triton.runtime.autotuner import Autotuner  # noqa: E402

from kopt_kb.launch.record.triton_launches import _tuners  # noqa: E402


def test_tuners_of_other_libraries() -> None:
    """A class below Triton's with a `run` of its own is found; one without inherits."""

    class Plain(Autotuner):
        pass

    class Own(Plain):
        def run(self) -> None:
            """Tune in a way of its own."""

    found = _tuners(Autotuner)
    assert Own in found
    assert Plain not in found
