"""CUDA's driver library as far as the driver goes: it remembers calls, and gives the answers that it is told to."""

from __future__ import annotations

import ctypes
from types import ModuleType, SimpleNamespace
from typing import Any


class CallFailure:
    """A result of the driver."""

    def __init__(self, name: str, number: int) -> None:
        self.name, self._number = name, number

    def __int__(self) -> int:
        return self._number


class Anything(SimpleNamespace):
    """Whatever has members: an enumeration, a structure."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = 1 if name.isupper() or name.startswith("CU_") else Anything()
        setattr(self, name, found)
        return found

    def __call__(self, *values: Any) -> Any:
        return values[0] if values else Anything()


class RememberedLibrary(ModuleType):
    """cuda.bindings.driver as far as this program goes; `refused` calls fail, `answers` give values."""

    CU_MEMHOSTALLOC_DEVICEMAP = 2

    def __init__(self, *parameters: int) -> None:
        super().__init__("driver")
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.refused: set[str] = set()
        self.parameters = parameters
        self.pinned = ctypes.create_string_buffer(4096)
        self.answers: dict[str, Any] = {
            "cuDeviceGetUuid": Anything(bytes=bytes(range(16))), "cuDeviceGetName": b"GPU\0\0", "cuMemAlloc": 4096,
            "cuDeviceGetAttribute": 1 << 20, "cuDeviceTotalMem": 1 << 30, "cuDriverGetVersion": 13000,
            "cuMemHostAlloc": ctypes.addressof(self.pinned), "cuMemHostGetDevicePointer": 77, "cuDeviceGet": 0,
            "cuEventElapsedTime": 1.5, "cuModuleLoadData": "module", "cuModuleGetFunction": "kernel",
            "cuStreamCreate": "stream", "cuIpcGetMemHandle": Anything(getPtr=lambda: ctypes.addressof(self.pinned)),
            "cuStreamEndCapture": "graph", "cuGraphInstantiate": "ready", "cuEventCreate": "event",
        }  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu") or name.startswith("cuuint"):
            return Anything()
        if name == "cuFuncGetParamInfo":
            return self._parameter

        def call(*values: Any) -> tuple[Any, ...]:
            self.calls.append((name, values))
            if name in self.refused:
                return (CallFailure("CUDA_ERROR_NOT_SUPPORTED", 801),)
            if name == "cuMemcpyDtoHAsync":
                ctypes.memmove(values[0], bytes(range(values[2])), values[2])
            return (0, self.answers[name]) if name in self.answers else (0, 0)

        return call

    def _parameter(self, _: object, number: int) -> tuple[Any, ...]:
        return (0, 0, self.parameters[number]) if number < len(self.parameters) else (1, 0, 0)

    def of(self, name: str) -> list[tuple[Any, ...]]:
        """Return the arguments of the calls of a name."""
        return [values for called, values in self.calls if called == name]
