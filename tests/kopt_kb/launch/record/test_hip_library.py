"""HIP's runtime through ctypes: what is missing is named, and every function has the types of its arguments."""

from __future__ import annotations

import ctypes
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.record.hip_library import library_of


def test_a_machine_without_rocm_says_so() -> None:
    """Exit 3 and not a traceback; so does a library that is another one."""
    with pytest.raises(MissingTool, match=r"no libof-no-machine\.so"):
        library_of(["libof-no-machine.so"])
    other = find_library("m")
    assert other is not None
    with pytest.raises(MissingTool, match="hipInit"):
        library_of([other])


def test_every_function_is_declared(hip_runtime: Path) -> None:
    """Pointers are 64 bits wide, which ctypes does not guess."""
    library: Any = library_of(["libof-no-machine.so", str(hip_runtime)])
    assert library.hipModuleLaunchKernel.argtypes[0] is ctypes.c_void_p
    assert len(library.hipModuleLaunchKernel.argtypes) == 11
    assert len(library.hipModuleLaunchCooperativeKernel.argtypes) == 10
    assert library.hipGetErrorName(801) == b"hipErrorNotSupported"
