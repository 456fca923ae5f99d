"""CUDA's driver behind the interface, against a library that only remembers calls; a real round trip where a GPU is."""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.cuda import cubin
from kopt_kb.launch.cuda.nvrtc import compile_cuda
from kopt_kb.launch.record import cuda_driver, own_memory, trusted
from kopt_kb.launch.record.cuda_driver import CudaDriver
from kopt_kb.launch.record.driver import DriverError, scalar_type
from kopt_kb.launch.record.model import Launch, TensorMapArg, TensorView
from kopt_kb.launch.record.moves import Move
from kopt_kb.launch.record.own_memory import OwnPlace
from tests.kopt_kb.launch.record.remembered_library import Anything, CallFailure, RememberedLibrary

CONSTANTS = """
__constant__ float scale[4] = {1, 2, 3, 4};
static __constant__ int hidden[2] = {5, 6};
__constant__ float unset[8];
extern "C" __global__ void reads(float* out, int n) { out[threadIdx.x] = scale[n] + hidden[n & 1] + unset[n]; }
"""
LAUNCH = Launch("0" * 64, "k", (2, 3, 1), (64, 1, 1), (2, 1, 1), 100, (), True)


@pytest.mark.skipif(importlib.util.find_spec("cuda") is not None, reason="cuda-bindings are installed")
def test_missing_bindings_are_named() -> None:
    """With the extra that brings them."""
    with pytest.raises(MissingTool, match=r"kopt-kb\[gpu\]"):
        CudaDriver()


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[CudaDriver, RememberedLibrary]]:
    """Makes a driver on a library of its own; calls of its start are forgotten."""
    monkeypatch.setattr(cuda_driver, "own_places", lambda *_, **__: ())
    monkeypatch.setattr(cuda_driver, "exported", lambda code: code + b" exported")
    monkeypatch.setattr(cuda_driver, "Throttle", lambda _: Anything(reasons=lambda: ("power cap",)))

    def make(*parameters: int, refused: tuple[str, ...] = (), **answers: Any) -> tuple[CudaDriver, RememberedLibrary]:
        library, package = RememberedLibrary(*parameters), ModuleType("cuda.bindings")
        library.refused = set(refused)
        library.answers.update(answers)
        package.driver = library  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
        monkeypatch.setitem(sys.modules, "cuda.bindings", package)
        driver = CudaDriver()
        library.calls.clear()
        return driver, library

    return make


def test_what_the_device_offers(start: Any) -> None:
    """Name, identity, cache; probe, hold and IPC were tried at the start."""
    driver, _ = start()
    facts = driver.device()
    assert (facts.name, facts.uuid, facts.cache_bytes) == ("GPU", bytes(range(16)).hex(), 1 << 20)
    assert facts.probe and facts.hold and facts.ipc
    assert driver.throttle() == ("power cap",)
    assert driver.now_s() <= driver.now_s()


@pytest.mark.parametrize(
    ("refused", "missing"),
    [
        ("cuModuleLoadData", "probe"),
        ("cuStreamWaitValue32", "hold"),
        ("cuMemHostAlloc", "hold"),
        ("cuIpcGetMemHandle", "ipc"),
    ],
)
def test_what_it_does_not(start: Any, refused: str, missing: str) -> None:
    """Is false in the facts, and nothing of it is called."""
    driver, library = start(refused=(refused,))
    assert [name for name in ("probe", "hold", "ipc") if not getattr(driver.device(), name)] == [missing]
    driver.hold()
    driver.release()
    assert not (missing == "hold" and library.calls)
    assert (driver.export(4096) == "") is (missing == "ipc")
    if missing == "probe":
        with pytest.raises(DriverError, match="compiled no kopt_idle"):
            driver.idle()


def test_no_gpu_is_said(start: Any) -> None:
    """Whether the driver says so, or cuda-bindings find no driver at all."""
    with pytest.raises(MissingTool, match="NOT_SUPPORTED"):
        start(refused=("cuInit",))

    class _Gone(RememberedLibrary):
        def __getattr__(self, name: str) -> Any:
            if name == "cuInit":
                raise RuntimeError("libcuda.so.1 not found\nmore")
            return super().__getattr__(name)

    sys.modules["cuda.bindings"].driver = _Gone()  # type: ignore[attr-defined]
    with pytest.raises(MissingTool, match=r"no GPU: libcuda.so.1 not found"):
        CudaDriver()


def test_memory_is_written_and_read_in_order(start: Any) -> None:
    """On the one stream, and waited for; nothing is asked for no bytes."""
    driver, library = start()
    driver.write(100, b"abc")
    assert driver.read(100, 4) == bytes(range(4))
    driver.copy(200, 100, 3)
    names = [name for name, _ in library.calls]
    assert names == [
        "cuMemcpyHtoDAsync",
        "cuStreamSynchronize",
        "cuMemcpyDtoHAsync",
        "cuStreamSynchronize",
        "cuMemcpyDtoDAsync",
    ]
    library.calls.clear()
    driver.write(100, b"")
    driver.copy(200, 100, 0)
    driver.fill(100, b"\0", 0)
    assert driver.read(100, 0) == b"" and not library.calls
    assert driver.allocate(8) == 4096
    driver.free(4096)
    assert library.of("cuMemFree") == [(4096,)]


@pytest.mark.parametrize(
    ("pattern", "name", "value", "count"),
    [
        (b"\xff", "cuMemsetD8Async", 255, 5),
        (b"\1\2", "cuMemsetD16Async", 0x0201, 5),
        (b"\1\2\3\4", "cuMemsetD32Async", 0x04030201, 5),
        (b"\1\2\3\4" * 2, "cuMemsetD32Async", 0x04030201, 10),
    ],
)
def test_fills(start: Any, pattern: bytes, name: str, value: int, count: int) -> None:
    """By the memset of their width; eight bytes with equal halves as four."""
    driver, library = start()
    driver.fill(100, pattern, 5)
    assert library.calls == [(name, (100, value, count, "stream"))]


def test_a_wide_fill_holds_no_more_than_a_chunk(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """8-byte patterns with unlike halves are written from the host, in pieces of bounded size."""
    monkeypatch.setattr("kopt_kb.launch.record.driver._CHUNK_BYTES", 16)
    driver, library = start()
    driver.fill(100, b"12345678", 5)
    written = [(address, data) for address, data, *_ in library.of("cuMemcpyHtoDAsync")]
    assert written == [(100, b"12345678" * 2), (116, b"12345678" * 2), (132, b"12345678")]


def test_arguments_are_the_parameters_of_the_kernel(start: Any) -> None:
    """The driver reads what the kernel declares: fewer, more or narrower arguments would be read beyond their memory."""
    pointer, word = scalar_type("u64"), scalar_type("i32")
    driver, library = start(8, 4, 128)
    driver.launch("kernel", LAUNCH, [1, 2, "map"], [pointer, word, None])
    (config, kernel, arguments, _), *_ = library.of("cuLaunchKernelEx")
    assert (kernel, arguments) == ("kernel", ((1, 2, "map"), (pointer, word, None)))
    assert (config.gridDimX, config.gridDimY, config.blockDimX, config.sharedMemBytes) == (2, 3, 64, 100)
    assert config.hStream == "stream" and config.numAttrs == len(config.attrs) == 2
    for given in ([pointer], [pointer, pointer, None], [pointer, word, None, word]):
        with pytest.raises(DriverError, match="k takes parameters of"):
            driver.launch("kernel", LAUNCH, list(given), given)


def test_a_struct_is_held_against_its_parameter(start: Any) -> None:
    """cuda-bindings take a ctypes structure without a type for a parameter by value."""

    class Held(ctypes.Structure):
        _fields_ = (("held", ctypes.c_uint8 * 24),)

    given = Held()
    driver, library = start(24, 4)
    driver.launch("kernel", LAUNCH, [given, 2], [None, scalar_type("i32")])
    ((_, _, arguments, _),) = library.of("cuLaunchKernelEx")
    assert arguments[0][0] is given
    driver, _ = start(32, 4)
    with pytest.raises(DriverError, match=r"parameters of \[32, 4\] bytes, the record gives \[24, 4\]"):
        driver.launch("kernel", LAUNCH, [given, 2], [None, scalar_type("i32")])


def test_code_objects_are_loaded_once_and_unloaded(start: Any) -> None:
    """Much shared memory is allowed first."""
    driver, library = start()
    assert driver.load(b"code", "k", 1 << 10) == driver.load(b"code", "k", 100 << 10) == "kernel"
    assert len(library.of("cuModuleLoadData")) == len(library.of("cuFuncSetAttribute")) == 1
    driver.unload()
    driver.unload()
    assert library.of("cuModuleUnload") == [("module",)]


def test_own_memory_is_found_by_name_and_read_when_it_is_loaded(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once; what hides some is not loaded."""
    driver, library = start(cuModuleGetGlobal=(4096, 3))
    monkeypatch.setattr(cuda_driver, "own_places", lambda _, find, **__: (find("count"),))
    for _ in range(2):
        driver.load(b"code", "k", 0)
        assert driver.own_memory(b"code") == (OwnPlace(4096, bytes(range(3))),)
    assert library.of("cuModuleGetGlobal") == [("module", b"count")]


def test_a_variable_without_an_address_is_exported_or_refused(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One local to its file may need a name that others see; what has none then is not loaded."""
    driver, library = start(cuModuleGetGlobal=(4096, 3))
    monkeypatch.setattr(cuda_driver, "own_places", lambda _, find, **__: (find("count"),))
    library.refused.add("cuModuleGetGlobal")
    with pytest.raises(DriverError, match="cuModuleGetGlobal"):
        driver.load(b"more", "k", 0)
    assert library.of("cuModuleLoadData")[-2:] == [(b"more",), (b"more exported",)]
    assert library.of("cuModuleUnload") == [("module",), ("module",)]
    with pytest.raises(KeyError):
        driver.own_memory(b"more")


def test_constants_are_found_as_the_driver_names_them(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file that NVRTC compiled: first as it is, then with all names exported; what still has none is left alone."""
    places = {b"scale": (0, 4096, 16), b"unset": (0, 4120, 32)}
    driver, library = start()
    try:
        code = compile_cuda(CONSTANTS, "reads.cu", 90, entries=[]).cubin
    except MissingTool as missing:
        pytest.skip(missing.what)
    monkeypatch.setattr(cuda_driver, "own_places", own_memory.own_places)
    monkeypatch.setattr(cuda_driver, "exported", cubin.exported)
    library.cuModuleGetGlobal = lambda _, name: places.get(name, (CallFailure("CUDA_ERROR_NOT_FOUND", 500),))
    driver.load(code, "reads", 0)
    assert len(library.of("cuModuleLoadData")) == 2
    assert [(one.address, len(one.image)) for one in driver.own_memory(code)] == [(4096, 16), (4120, 32)]
    places[b"hidden"] = (0, 4112, 8)
    driver.unload()
    library.calls.clear()
    driver.load(code, "reads", 0)
    assert [(one.address, len(one.image)) for one in driver.own_memory(code)] == [(4096, 56)]
    assert len(library.of("cuModuleLoadData")) == 1


def test_a_move_is_launched_with_all_its_values(start: Any) -> None:
    """Seventeen wide ones, three narrow; nothing to move launches nothing."""
    driver, library = start()
    driver.move(4096, 8192, Move(600, (20, 30), (2, 40), (60, 2), 5, 6))
    ((_, blocks, *_, given, _),) = library.of("cuLaunchKernel")
    assert blocks == 3
    values, types = given
    assert values[:7] == (4096, 8192, 600, 20, 30, 1, 1)
    assert values[-3:] == (2, 5, 6)
    assert types == (ctypes.c_uint64,) * 17 + (ctypes.c_int32,) * 3
    library.calls.clear()
    driver.move(4096, 8192, Move(0, (0,), (2,), (2,), 0, 0))
    assert not library.of("cuLaunchKernel")


def test_a_tensor_map_is_encoded_innermost_first(start: Any) -> None:
    """Shape and box reversed, strides in bytes without the innermost."""
    driver, library = start()
    view = TensorView("x", 0, (6, 8), (8, 1), "bf16")
    driver.tensor_map(TensorMapArg(view, (2, 4), 9, 3, nan_fill=True), 512)
    (values,) = library.of("cuTensorMapEncodeTiled")
    assert values[1:6] == (2, 512, [8, 6], [16], [4, 2])


def test_a_tensor_map_of_rank_1_has_a_list_of_strides(start: Any) -> None:
    """It has none; a driver refuses an empty list as a missing one."""
    driver, library = start()
    driver.tensor_map(TensorMapArg(TensorView("x", 0, (64,), (1,), "bf16"), (64,), 9, 0), 512)
    (values,) = library.of("cuTensorMapEncodeTiled")
    assert values[1:6] == (1, 512, [64], [16], [64])


def test_lines_that_the_cache_was_asked_to_keep(start: Any) -> None:
    """Are ordinary again before each launch; where the device knows no such lines, nothing is asked."""
    for refused, count in (((), 1), (("cuCtxResetPersistingL2Cache",), 0)):
        driver, library = start(refused=refused)
        driver.unpin()
        assert len(library.of("cuCtxResetPersistingL2Cache")) == count


def test_events_graphs_and_waits(start: Any) -> None:
    """Milliseconds become seconds; a graph is uploaded before it is used; each wait has a number of its own."""
    driver, library = start()
    event = driver.event()
    driver.record(event)
    assert driver.elapsed_s(event, event) == 1.5e-3
    driver.capture()
    driver.enqueue(driver.captured())
    assert library.of("cuGraphUpload") == [("ready", "stream")]
    assert library.of("cuGraphLaunch") == [("ready", "stream")]
    for _ in range(2):
        driver.hold()
        driver.release()
    first, second = library.of("cuStreamWaitValue32")
    assert second[2] == first[2] + 1
    assert ctypes.c_uint32.from_buffer(library.pinned).value == second[2]


def test_the_judges_own_kernels(start: Any) -> None:
    """Their arguments are those that the PTX declares."""
    driver, library = start()
    driver.probe(64)
    driver.mask(100, 200, 19, (5, 6))
    driver.differs(100, 200, 19, (5, 6), 300)
    driver.idle()
    probe, mask, differs, idle = (values[-2] for values in library.of("cuLaunchKernel"))
    assert probe[0] == (64, trusted.PROBE_NS)
    assert mask[0] == (100, 200, 2, 3, 5, 6, 0)
    assert differs[0] == (100, 200, 2, 3, 5, 6, 300)
    assert [ctypes.sizeof(one) for one in mask[1]] == [8, 8, 8, 4, 8, 8, 8]
    assert idle == 0


def test_an_exported_handle_is_its_bytes(start: Any) -> None:
    """64 of them, whatever member a version of cuda-bindings gives them."""
    driver, library = start()
    library.pinned.raw = bytes(range(64)).ljust(4096, b"\0")
    assert bytes.fromhex(driver.export(4096)) == bytes(range(64))


@pytest.mark.gpu
def test_memory_on_a_gpu() -> None:
    """Written, filled and copied bytes are read back; the judge's own kernels do what their twins do."""
    pytest.importorskip("cuda.bindings", reason="needs cuda-bindings")
    try:
        driver = CudaDriver()
    except MissingTool as error:
        pytest.skip(str(error))
    first, second = driver.allocate(64), driver.allocate(64)
    driver.write(first, bytes(range(64)))
    driver.copy(second, first, 64)
    driver.fill(second, b"\xab\xcd", 4)
    assert driver.read(second, 64) == b"\xab\xcd" * 4 + bytes(range(8, 64))
    if driver.device().probe:
        driver.mask(second, first, 61, (1, 2))
        assert driver.read(second, 61) == trusted.masked(bytes(range(61)), (1, 2))
    driver.free(first)
    driver.free(second)
