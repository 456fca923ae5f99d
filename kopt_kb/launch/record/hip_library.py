"""HIP's runtime through ctypes: the functions that a judge calls, with the types of their arguments.

As `include/hip/hip_runtime_api.h` of github.com/ROCm/HIP declares them (commit c5e11fc, HIP 6.2).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import suppress
from ctypes import POINTER, c_char_p, c_float, c_int, c_size_t, c_uint, c_ushort, c_void_p
from typing import Any

from kopt_kb.base.errors import MissingTool

__all__ = ["library_of"]

_LIBRARIES = ("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5")

_Grid = (c_uint,) * 7
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "hipInit": (c_uint,), "hipSetDevice": (c_int,), "hipGetDeviceCount": (POINTER(c_int),),
    "hipDeviceGetName": (c_char_p, c_int, c_int),
    "hipDeviceGetUuid": (c_char_p, c_int), "hipDeviceTotalMem": (POINTER(c_size_t), c_int),
    "hipDeviceGetAttribute": (POINTER(c_int), c_int, c_int), "hipDriverGetVersion": (POINTER(c_int),),
    "hipGetDevicePropertiesR0600": (c_char_p, c_int),
    "hipStreamCreateWithFlags": (POINTER(c_void_p), c_uint), "hipStreamSynchronize": (c_void_p,),
    "hipMalloc": (POINTER(c_void_p), c_size_t), "hipFree": (c_void_p,),
    "hipMemcpyHtoDAsync": (c_void_p, c_void_p, c_size_t, c_void_p),
    "hipMemcpyDtoHAsync": (c_void_p, c_void_p, c_size_t, c_void_p),
    "hipMemcpyDtoDAsync": (c_void_p, c_void_p, c_size_t, c_void_p),
    "hipMemsetD8Async": (c_void_p, ctypes.c_ubyte, c_size_t, c_void_p),
    "hipMemsetD16Async": (c_void_p, c_ushort, c_size_t, c_void_p),
    "hipMemsetD32Async": (c_void_p, c_int, c_size_t, c_void_p),
    "hipModuleLoadData": (POINTER(c_void_p), c_void_p), "hipModuleUnload": (c_void_p,),
    "hipModuleGetFunction": (POINTER(c_void_p), c_void_p, c_char_p),
    "hipModuleGetGlobal": (POINTER(c_void_p), POINTER(c_size_t), c_void_p, c_char_p),
    "hipModuleLaunchKernel": (c_void_p, *_Grid, c_void_p, POINTER(c_void_p), c_void_p),
    "hipModuleLaunchCooperativeKernel": (c_void_p, *_Grid, c_void_p, POINTER(c_void_p)),
    "hipEventCreate": (POINTER(c_void_p),), "hipEventRecord": (c_void_p, c_void_p),
    "hipEventElapsedTime": (POINTER(c_float), c_void_p, c_void_p),
    "hipStreamBeginCapture": (c_void_p, c_int), "hipStreamEndCapture": (c_void_p, POINTER(c_void_p)),
    "hipGraphInstantiate": (POINTER(c_void_p), c_void_p, POINTER(c_void_p), c_char_p, c_size_t),
    "hipGraphDestroy": (c_void_p,), "hipGraphLaunch": (c_void_p, c_void_p), "hipGraphExecDestroy": (c_void_p,),
    "hipIpcGetMemHandle": (c_char_p, c_void_p),
}  # fmt: skip
"""Functions of the runtime → types of their arguments; each returns a hipError_t, 0 where it succeeded."""


def library_of(names: Sequence[str] = _LIBRARIES) -> Any:
    """Return HIP's runtime with every function's types set.

    Raises:
        MissingTool: It is on none of these names, or lacks a function.
    """
    for name in names:
        with suppress(OSError):
            library = ctypes.CDLL(name)
            break
    else:
        fix = "run on a machine with an AMD GPU and ROCm"
        raise MissingTool(f"no {names[0]}", where="replay", fix=fix, code="KB122")
    try:
        for function, types in _SIGNATURES.items():
            getattr(library, function).argtypes, getattr(library, function).restype = types, c_int
        library.hipGetErrorName.argtypes, library.hipGetErrorName.restype = (c_int,), c_char_p
    except AttributeError as error:
        raise MissingTool(f"{name}: {error}", where="replay", fix="install ROCm 6 or newer", code="KB122") from error
    return library
