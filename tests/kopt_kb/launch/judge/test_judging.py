"""Claims about what the loop needs of a judge: the one that tests use answers it too."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from kopt_kb.launch.judge.judging import Judging

pytestmark = pytest.mark.core


@pytest.mark.parametrize("name", ["machine", "check", "time", "contest", "close"])
def test_the_judge_in_memory_takes_the_same_arguments(invented: Any, name: str) -> None:
    """Names, order and annotations."""
    wanted, given = inspect.signature(getattr(Judging, name)), inspect.signature(getattr(invented, name))
    assert given == wanted
