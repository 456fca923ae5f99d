"""How inputs reach a judge child and outputs leave it: slots of contents that the reference process fills and reads.

The judge child offers slots, each with a window for every input and every output of the record. A window is memory of
the child that the reference opens through CUDA IPC, or, where that is not to be had, a file in a scratch folder. The
reference keeps what it wrote, so expected values, pools and seeds never enter a process that launches a candidate.

A conversation, one JSON line a message, everything asked by the session:

    Open     → Opened       the reference opens a child's offer under a key; one child, one problem, one key
    Fill     → Filled       it writes fresh contents into slots; filled again, they are other contents
    Compare  → Compared     it reads the outputs of slots and holds them against what it wrote there
    Close    → Opened       it lets go of the windows; the child frees its memory only after this

Slots are launched in order, and no content is used twice. In a window lie the bytes of the record's whole buffer: for
an input as the tensor lies in memory (strides included), for an output from the buffer's first byte.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kopt_kb.base.errors import BadInput, FindingError, MissingTool
from kopt_kb.base.wire import Wire
from kopt_kb.launch.record.model import TensorView

__all__ = [
    "Close", "CompareSlots", "Compared", "FillSlots", "Filled", "Open", "Opened", "Slot", "SlotResult", "Travel",
    "Window", "Windows",
]  # fmt: skip

Travel = Literal["ipc", "files"]
"""How contents travel between the reference and a judge child."""

_HANDLE_BYTES = 64
"""Bytes of a CUipcMemHandle."""


@dataclass(frozen=True, slots=True)
class Window(Wire):
    """The bytes of one buffer in one slot.

    Attributes:
        buffer: Name of the record's buffer.
        size_bytes: Its size.
        handle: CUipcMemHandle of the allocation in hex; empty: the bytes travel in a file.
        offset: Bytes from the start of the allocation to the window.
        path: The file; empty with a handle.
    """

    buffer: str
    size_bytes: int
    handle: str = ""
    offset: int = 0
    path: str = ""


@dataclass(frozen=True, slots=True)
class Slot(Wire):
    """Contents of one launch: windows in the record's order of inputs and of outputs."""

    inputs: tuple[Window, ...]
    outputs: tuple[Window, ...]


@dataclass(frozen=True, slots=True)
class Open(Wire):
    """Open a child's offer.

    Attributes:
        key: Name under which later messages mean it, such as `candidate 8192x4096`.
        file: Reference file.
        shape: Problem shape.
        dtype: Storage type.
        outputs: The record's results; a window of an output holds the view's whole buffer.
        slots: What the child offers.
        trials: Names of the trials that a check tries; empty: all that the operation declares.
        op: Operation; empty: the one that the file declares.
    """

    key: str
    file: str
    shape: tuple[int, ...]
    dtype: str
    outputs: tuple[TensorView, ...]
    slots: tuple[Slot, ...]
    trials: tuple[str, ...] = ()
    op: str = ""
    message: Literal["open"] = "open"


@dataclass(frozen=True, slots=True)
class Opened(Wire):
    """Whether that worked: empty, or why not."""

    error: str = ""


@dataclass(frozen=True, slots=True)
class FillSlots(Wire):
    """Write fresh contents into slots, by number, and wait until they are there.

    Attributes:
        key: Which offer.
        slots: Numbers of slots.
        like: Key of an offer of the same problem whose contents of these slots are to be used again, for two kernels
            that are compared on equal contents; empty: fresh ones.
        check: Whether adversarial contents may be among them; timed launches get plain ones.
        again: Whether contents of a few seeds that were used before will do: for times that confirm nothing.
    """

    key: str
    slots: tuple[int, ...]
    like: str = ""
    check: bool = False
    again: bool = False
    message: Literal["fill"] = "fill"


@dataclass(frozen=True, slots=True)
class Filled(Wire):
    """What was written: a seed and a kind a slot, or why nothing was."""

    seeds: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class CompareSlots(Wire):
    """Read the outputs of slots and compare them with the reference of what was filled there last."""

    key: str
    slots: tuple[int, ...]
    message: Literal["compare"] = "compare"


@dataclass(frozen=True, slots=True)
class SlotResult(Wire):
    """How far the outputs of a slot are from the reference.

    Attributes:
        rel_l2_err: ‖out − ref‖₂ / ‖ref‖₂; null without a comparable result.
        problem: Why they are wrong; empty when they are within the tolerance.
        block_err: The same of the worst part of a row, less what rounding of its terms explains.
        element_err: Largest error of an element as a share of the largest of its row, less likewise.
        relation_err: Distance of a trial's second run from what the first demands of it.
        skipped: Why the trial says nothing about this operation.
    """

    rel_l2_err: float | None
    problem: str
    block_err: float | None = None
    element_err: float | None = None
    relation_err: float | None = None
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Compared(Wire):
    """One result a slot, in the order asked for, or why there is none."""

    results: tuple[SlotResult, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Close(Wire):
    """Let go of an offer's windows."""

    key: str
    message: Literal["close"] = "close"


class Windows:
    """The reference's side of windows: tensors of bytes into them and out of them.

    One object serves a process; memory that an IPC handle names is opened once and closed with `close`. Tensors are
    torch's, one-dimensional, of type uint8; those of an IPC window lie on the GPU.
    """

    def __init__(self) -> None:
        self._opened: dict[str, tuple[int, int]] = {}

    def write(self, window: Window, data: Any) -> None:
        """Put bytes into a window and wait until they are there.

        Raises:
            BadInput: Another size than the window's.
            FindingError: The window can't be opened.
        """
        if data.numel() != window.size_bytes:
            what = f"{window.buffer} has {data.numel()} bytes, the record {window.size_bytes}"
            raise BadInput(what, where="reference", fix="record it again for these inputs", code="KB454")
        if not window.handle:
            Path(window.path).write_bytes(data.cpu().numpy().tobytes())
        elif window.size_bytes:
            import torch

            self._memory(window).copy_(data)
            torch.cuda.synchronize()

    def read(self, window: Window) -> Any:
        """Return the bytes of a window, a copy of its own.

        Raises:
            BadInput: A file of another size than the window.
            FindingError: The window can't be opened.
        """
        import torch

        if window.handle and window.size_bytes:
            return self._memory(window).clone()
        path = Path(window.path)
        size = path.stat().st_size if not window.handle and path.is_file() else 0
        if size != window.size_bytes:
            what = f"{window.buffer} has {size} bytes, the record {window.size_bytes}"
            raise BadInput(what, where="reference", fix="replay it again", code="KB454")
        if not size:
            return torch.empty(0, dtype=torch.uint8)
        return torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8)

    def close(self, slots: tuple[Slot, ...]) -> None:
        """Unmap what these slots' handles opened; a handle that other windows use is counted."""
        for slot in slots:
            for window in (*slot.inputs, *slot.outputs):
                address, users = self._opened.get(window.handle, (0, 0))
                if users > 1:
                    self._opened[window.handle] = (address, users - 1)
                elif users:
                    del self._opened[window.handle]
                    _called("cuIpcCloseMemHandle", address)

    def open(self, slots: tuple[Slot, ...]) -> None:
        """Map what these slots' handles name; raises `FindingError` when the driver refuses."""
        for slot in slots:
            for window in (*slot.inputs, *slot.outputs):
                if window.handle:
                    address, users = self._opened.get(window.handle, (0, 0))
                    self._opened[window.handle] = (address if users else _mapped(window.handle), users + 1)

    def _memory(self, window: Window) -> Any:
        import torch

        address, users = self._opened.get(window.handle, (0, 0))
        if not users:
            raise FindingError(f"{window.buffer} was not opened", where="reference", code="KB453")
        return torch.as_tensor(_Bytes(address + window.offset, window.size_bytes), device="cuda")


class _Bytes:
    """Memory at an address, as torch takes it."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3, "strides": None,
        }  # fmt: skip


def _mapped(handle: str) -> int:
    """Return the address at which another process's memory lies here."""
    import torch

    raw = bytes.fromhex(handle)
    if len(raw) != _HANDLE_BYTES:
        raise BadInput(f"an IPC handle of {len(raw)} bytes", where="reference", fix="offer it again", code="KB440")
    torch.zeros(1, device="cuda")  # makes torch's context the current one
    try:
        from cuda.bindings import driver
    except ImportError as error:
        fix = "install kopt-kb[gpu]"
        raise MissingTool("cuda-bindings is not installed", where="reference", fix=fix, code="KB120") from error
    named = driver.CUipcMemHandle()
    ctypes.memmove(named.getPtr(), raw, len(raw))  # its member `reserved` is not in every version of cuda-bindings
    flag = driver.CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
    return int(_called("cuIpcOpenMemHandle", named, int(flag)))


def _called(name: str, *args: Any) -> Any:
    from cuda.bindings import driver

    error, *values = getattr(driver, name)(*args)
    if int(error) != 0:
        raise FindingError(f"{name}: {error.name}", where="reference", code="KB449")
    return values[0] if values else None
