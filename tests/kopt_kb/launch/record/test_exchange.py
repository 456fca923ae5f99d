"""Windows of slots: files on any machine; the driver's part against a library that counts maps and unmaps."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput, FindingError
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.record.exchange import (
    Close,
    Compared,
    CompareSlots,
    Filled,
    FillSlots,
    Open,
    Opened,
    Slot,
    SlotResult,
    Window,
    Windows,
)
from kopt_kb.launch.record.model import TensorView

HANDLE = "ab" * 64


@pytest.mark.parametrize(
    "message",
    [
        Open("k", "f.py", (2, 3), "bf16", (TensorView("out", 0, (4,), (1,), "u8"),), (Slot((Window("x", 4, HANDLE, 8),), ()),)),
        Opened("no"), FillSlots("k", (0, 1), "other", True), Filled((1, 2), ("plain", "rows")), CompareSlots("k", (1,)),
        Compared((SlotResult(0.1, ""), SlotResult(None, "differs"))), Close("k"),
    ],
)  # fmt: skip
def test_messages_survive_a_line(message: Any) -> None:
    """Written and read again they are equal."""
    assert read(type(message), parse(canonical(message.to_json()))) == message


def test_bytes_through_a_file(tmp_path: Path) -> None:
    """Written by one side, read by the other; another size is refused on both."""
    torch = pytest.importorskip("torch")
    window = Window("x", 4, path=str(tmp_path / "0.x"))
    windows = Windows()
    windows.write(window, torch.tensor([1, 2, 3, 4], dtype=torch.uint8))
    assert windows.read(window).tolist() == [1, 2, 3, 4]
    with pytest.raises(BadInput, match="x has 3 bytes, the record 4"):
        windows.write(window, torch.zeros(3, dtype=torch.uint8))
    for size in (3, 5):
        (tmp_path / "0.x").write_bytes(bytes(size))
        with pytest.raises(BadInput, match=f"x has {size} bytes, the record 4"):
            windows.read(window)


def test_an_absent_file_and_an_empty_window(tmp_path: Path) -> None:
    """The first is refused, the second is no bytes."""
    torch = pytest.importorskip("torch")
    with pytest.raises(BadInput, match="0 bytes"):
        Windows().read(Window("x", 4, path=str(tmp_path / "none")))
    empty = Window("x", 0, path=str(tmp_path / "empty"))
    Windows().write(empty, torch.zeros(0, dtype=torch.uint8))
    assert Windows().read(empty).numel() == 0


class _Library(ModuleType):
    """The driver's IPC calls."""

    class CUipcMem_flags:  # noqa: N801 - the driver's name
        CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1

    class CUipcMemHandle:
        def __init__(self) -> None:
            self.held = ctypes.create_string_buffer(64)

        def getPtr(self) -> int:  # noqa: N802
            return ctypes.addressof(self.held)

    def __init__(self) -> None:
        super().__init__("driver")
        self.mapped: list[bytes] = []
        self.unmapped: list[int] = []
        self.refuses = False

    def cuIpcOpenMemHandle(self, handle: Any, _: int) -> Any:  # noqa: N802
        if self.refuses:
            return (_Refused(),)
        self.mapped.append(handle.held.raw)
        return 0, 1000 * len(self.mapped)

    def cuIpcCloseMemHandle(self, address: int) -> tuple[int]:  # noqa: N802
        self.unmapped.append(address)
        return (0,)


class _Refused:
    name = "CUDA_ERROR_MAP_FAILED"

    def __int__(self) -> int:
        return 205


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> _Library:
    """In place of cuda-bindings; torch makes no tensor on a GPU."""
    torch = pytest.importorskip("torch")
    made, package = _Library(), ModuleType("cuda.bindings")
    package.driver = made  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", package)
    monkeypatch.setattr(torch, "zeros", lambda *_, **__: None)
    return made


def test_a_handle_is_mapped_once_and_unmapped_with_its_last_window(library: _Library) -> None:
    """Two slots in one allocation are two windows of one handle."""
    first, second = (Slot((Window("x", 4, HANDLE, at),), ()) for at in (0, 512))
    windows = Windows()
    windows.open((first, second))
    assert library.mapped == [bytes.fromhex(HANDLE)]
    windows.close((first,))
    assert not library.unmapped
    windows.close((second,))
    assert library.unmapped == [1000]
    with pytest.raises(FindingError, match="was not opened"):
        windows.read(first.inputs[0])


def test_what_the_driver_refuses(library: _Library) -> None:
    """Its word is in the error; a handle of another length never reaches it."""
    library.refuses = True
    with pytest.raises(FindingError, match="CUDA_ERROR_MAP_FAILED"):
        Windows().open((Slot((Window("x", 4, HANDLE),), ()),))
    with pytest.raises(BadInput, match="3 bytes"):
        Windows().open((Slot((Window("x", 4, "abcdef"),), ()),))


def test_a_window_is_memory_of_the_gpu_as_torch_takes_it(library: _Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Address of the mapping plus the offset, as many bytes as the window has."""
    import torch

    seen: list[Any] = []
    monkeypatch.setattr(torch, "as_tensor", lambda memory, **_: seen.append(memory) or torch.ones(4))
    slot = Slot((Window("x", 4, HANDLE, 64),), ())
    windows = Windows()
    windows.open((slot,))
    windows.read(slot.inputs[0])
    assert seen[0].__cuda_array_interface__["data"] == (1064, False)
    assert seen[0].__cuda_array_interface__["shape"] == (4,)
