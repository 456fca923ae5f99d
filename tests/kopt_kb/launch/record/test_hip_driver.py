"""HIP behind the driver's interface, against a runtime of its C interface that a test compiles; no AMD GPU was there."""

from __future__ import annotations

import array
import ctypes
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.record import hip_driver
from kopt_kb.launch.record.bounds import check_code, check_record
from kopt_kb.launch.record.clock import DeviceBench
from kopt_kb.launch.record.code_object import CodeObject, read_code_object
from kopt_kb.launch.record.driver import Driver, DriverError, scalar_type
from kopt_kb.launch.record.hip_driver import HipDriver
from kopt_kb.launch.record.hip_library import library_of
from kopt_kb.launch.record.model import (
    Buffer,
    Fill,
    Input,
    Launch,
    LaunchRecord,
    NullArg,
    ScalarArg,
    TensorAddress,
    TensorView,
)
from kopt_kb.launch.record.moves import Move
from kopt_kb.launch.record.own_memory import OwnPlace
from kopt_kb.launch.record.replay import Replay

CODE = (Path(__file__).parents[3] / "data" / "code_objects" / "axpy.gfx942.hsaco").read_bytes()
DIGEST = hashlib.sha256(CODE).hexdigest()
POINTERS, WIDE = [scalar_type("i64")] * 3, [scalar_type("i64")] * 2
TYPES = [*POINTERS, scalar_type("fp32"), scalar_type("i32"), *WIDE]
STEP = Launch(DIGEST, "axpy", (2, 1, 1), (256, 1, 1), (1, 1, 1), 0, ())


class Runtime:
    """The library of the test, with what it was told."""

    def __init__(self, file: Path) -> None:
        self.library: Any = library_of([str(file)])
        self.library.hip_test_log.restype = ctypes.c_char_p
        self.of("gfx942:sramecc+:xnack-")
        self.refuse("")

    def of(self, name: str, count: int = 1) -> None:
        """Be another device."""
        self.library.hip_test_device(name.encode(), count)

    def refuse(self, name: str) -> None:
        """Let one function fail."""
        self.library.hip_test_refuse(name.encode())

    def calls(self) -> list[str]:
        """Return what was called since the last time."""
        said = self.library.hip_test_log().decode().splitlines()
        self.library.hip_test_forget()
        return [one for one in said if not one.startswith("hipStreamSynchronize")]


@pytest.fixture
def runtime(hip_runtime: Path) -> Runtime:
    """One that refuses nothing."""
    return Runtime(hip_runtime)


@pytest.fixture
def driver(runtime: Runtime, tmp_path: Path) -> HipDriver:
    """A driver on it, calls of its start forgotten."""
    made = HipDriver(runtime.library, tmp_path)
    runtime.calls()
    return made


def test_it_has_every_call_of_the_interface() -> None:
    """A judge asks nothing else."""
    assert {name for name in vars(Driver) if not name.startswith("_")} <= set(dir(HipDriver))


def test_the_device(runtime: Runtime, tmp_path: Path) -> None:
    """Facts come from the runtime, the last cache from the kernel's driver where that is larger than L2."""
    node = tmp_path / "1"
    (node / "caches" / "7").mkdir(parents=True)
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "properties").write_text("simd_count 0\ncpu_cores_count 64\n")
    facts = HipDriver(runtime.library, tmp_path).device()
    assert (facts.name, facts.cache_bytes, facts.memory_bytes) == ("AMD Instinct of a test", 4 << 20, 5 << 32)
    assert (facts.uuid, facts.driver) == (b"0123456789abcdef".hex(), 60240092)
    assert (facts.probe, facts.hold, facts.ipc) == (False, False, True)
    (node / "properties").write_text("simd_count 1216\nname x y z\n")
    (node / "caches" / "7" / "properties").write_text("level 3\nsize 8192\n")
    assert HipDriver(runtime.library, tmp_path).device().cache_bytes == 8 << 20
    assert "hipStreamCreateWithFlags 1" in runtime.calls()


def test_no_device_and_no_ipc(runtime: Runtime, tmp_path: Path) -> None:
    """The first is missing, the second is said."""
    runtime.refuse("hipIpcGetMemHandle")
    made = HipDriver(runtime.library, tmp_path)
    assert made.device().ipc is False
    assert made.export(made.allocate(64)) == ""
    runtime.of("gfx942", 0)
    with pytest.raises(MissingTool, match="no GPU: hipSetDevice: hipErrorNoDevice"):
        HipDriver(runtime.library, tmp_path)


def test_memory(driver: HipDriver, runtime: Runtime) -> None:
    """Bytes come back as they went; fills are of 1, 2, 4 and 8 bytes."""
    place, other = driver.allocate(64), driver.allocate(64)
    driver.write(place, bytes(range(64)))
    driver.copy(other, place, 64)
    assert driver.read(other, 64) == bytes(range(64))
    assert driver.read(other, 0) == b""
    for pattern in (b"\xff", b"\1\2", b"\1\2\3\xf4", b"\5\6\7\x88" * 2, bytes(range(8))):
        driver.fill(place, pattern, 64 // len(pattern))
        assert driver.read(place, 64) == pattern * (64 // len(pattern))
    handle = bytes.fromhex(driver.export(place))
    assert (len(handle), int.from_bytes(handle[:8], "little")) == (64, place)
    driver.free(place)
    assert "hipFree" in runtime.calls()


def test_a_launch(driver: HipDriver, runtime: Runtime) -> None:
    """Each argument lies where its pointer says, at the width of the kernel's parameter."""
    x, y, out = (driver.allocate(4 * 300) for _ in range(3))
    driver.write(x, array.array("f", range(300)).tobytes())
    driver.write(y, array.array("f", [0.5] * 300).tobytes())
    kernel = driver.load(CODE, "axpy", 0)
    assert driver.own_memory(CODE) == ()
    assert [one.split()[0] for one in runtime.calls()][-2:] == ["hipModuleLoadData", "hipModuleGetFunction"]
    driver.launch(kernel, STEP, [x, y, out, 2.0, 300, 0, 0], TYPES)
    driver.synchronize()
    assert list(array.array("f", driver.read(out, 1200))) == [2.0 * at + 0.5 for at in range(300)]
    said = [one for one in runtime.calls() if "Launch" in one]
    assert said == ["hipModuleLaunchKernel axpy 2 1 1 256 1 1 0 0x5757 0"]
    one = Launch(DIGEST, "axpy", (1, 1, 1), (64, 1, 1), (1, 1, 1), 0, (), True)
    driver.launch(kernel, one, [x, y, out, 0.0, 1, 0, 0], TYPES)
    assert runtime.calls()[-1].startswith("hipModuleLaunchCooperativeKernel axpy 1 1 1 64")
    driver.unload()
    assert runtime.calls() == ["hipModuleUnload 0x30d"]


def test_what_a_launch_refuses(driver: HipDriver, runtime: Runtime) -> None:
    """What would be read beyond an argument, more work-items than compiled for, clusters, and a kernel that faults."""
    kernel = driver.load(CODE, "axpy", 0)
    with pytest.raises(DriverError, match=r"parameters of \[8, 8, 8, 4, 4, 8, 8\] bytes, the record gives \[8, 8, 8\]"):
        driver.launch(kernel, STEP, [0, 0, 0], POINTERS)
    for block, cluster, why in (((512, 1, 1), (1, 1, 1), "256 work-items"), ((256, 1, 1), (2, 1, 1), "cluster")):
        with pytest.raises(DriverError, match=why):
            driver.launch(kernel, Launch(DIGEST, "axpy", (1, 1, 1), block, cluster, 0, ()), [0] * 7, TYPES)
    with pytest.raises(DriverError, match="no kernel other"):
        driver.load(CODE, "other", 0)
    with pytest.raises(DriverError, match="hipModuleLaunchKernel: hipErrorLaunchFailure"):
        driver.launch(kernel, STEP, [0, 0, 0, 1.0, 0, 1, 0], TYPES)
    runtime.of("gfx950:sramecc+")
    with pytest.raises(DriverError, match="for gfx942, the device is a gfx950"):
        HipDriver(runtime.library, Path("/nowhere")).load(CODE, "axpy", 0)


def test_a_struct_by_value(driver: HipDriver, runtime: Runtime) -> None:
    """Its address is passed, its size held against the code object's."""

    class Held(ctypes.Structure):
        _fields_ = (("address", ctypes.c_uint64),)

    function, said = driver.load(CODE, "axpy", 0)
    driver.launch((function, said), STEP, [Held(0), 0, 0, 1.0, 0, 0, 0], [None, *TYPES[1:]])
    assert runtime.calls()[-1].startswith("hipModuleLaunchKernel axpy")
    with pytest.raises(DriverError, match=r"the record gives \[8, 8, 8, 4, 4, 8\]"):
        driver.launch((function, said), STEP, [Held(0), 0, 0, 1.0, 0, 0], [None, *TYPES[1:-1]])


def test_own_memory_is_read_once_and_put_back_by_the_judge(
    driver: HipDriver, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address is the runtime's; a module whose memory no name leads to is unloaded again."""
    monkeypatch.setattr(hip_driver, "own_places", lambda _, find: (find("table"),))
    driver.load(CODE, "axpy", 0)
    (place,) = driver.own_memory(CODE)
    assert isinstance(place, OwnPlace)
    assert list(array.array("f", place.image)) == [1, 2, 3, 4]
    driver.unload()
    monkeypatch.setattr(hip_driver, "own_places", lambda _, find: (find("hidden"),))
    runtime.calls()
    with pytest.raises(DriverError, match="hipModuleGetGlobal: hipErrorNotFound"):
        driver.load(CODE, "axpy", 0)
    assert runtime.calls()[-1] == "hipModuleUnload 0x30d"


def test_time_and_graphs(driver: HipDriver, runtime: Runtime) -> None:
    """Milliseconds become seconds; a graph is instantiated, its template given back."""
    first, second = driver.event(), driver.event()
    driver.record(first)
    assert driver.elapsed_s(first, second) == pytest.approx(1.5e-3)
    runtime.calls()
    driver.capture()
    graph = driver.captured()
    driver.enqueue(graph)
    driver.discard(graph)
    assert runtime.calls() == [
        "hipStreamBeginCapture 0x5757 2", "hipStreamEndCapture 0x5757", "hipGraphInstantiate 0x96 0 0 0",
        "hipGraphDestroy 0x96", "hipGraphLaunch 0x97 0x5757", "hipGraphExecDestroy 0x97",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "ask",
    [
        lambda one: one.probe(0),
        lambda one: one.mask(0, 0, 8, (1, 2)),
        lambda one: one.differs(0, 0, 8, (1, 2), 0),
        lambda one: one.idle(),
        lambda one: one.move(0, 0, Move(4, (2, 2), (2, 4), (4, 2), 4, 5)),
        lambda one: one.tensor_map(None, 0),
    ],
)
def test_what_the_judge_has_not_for_amd_is_said(driver: HipDriver, ask: Callable[[HipDriver], None]) -> None:
    """Never taken for done."""
    with pytest.raises(DriverError, match="the judge has not for AMD GPUs"):
        ask(driver)
    driver.unpin()
    driver.hold()
    driver.release()
    assert driver.throttle() == ()


def test_a_record_is_replayed(driver: HipDriver) -> None:
    """Buffers, guard zones, poison and launch, from a record for gfx942: the judge's work on the other vendor's driver."""
    names = ("x", "y", "out")
    views = {name: TensorView(name, 0, (300,), (1,), "fp32") for name in names}
    arguments = (
        *(TensorAddress(views[name], name) for name in names),
        ScalarArg("fp32", 2.0, "a"),
        ScalarArg("i32", 300, "n"),
    )
    step = Launch(
        DIGEST, "axpy", (2, 1, 1), (256, 1, 1), (1, 1, 1), 0, (*arguments, NullArg("scratch"), NullArg("profile"))
    )
    record = LaunchRecord(
        v=1, label="axpy", op="elementwise", shape=(300,), dtype="fp32", target="gfx942",
        buffers=tuple(Buffer(name, "output" if name == "out" else "input", 1200, 256, name == "out") for name in names),
        inputs=tuple(Input(name, views[name]) for name in names[:2]), outputs=(views["out"],),
        steps=(Fill(views["out"], "00000000"), step), codes={DIGEST: len(CODE)},
    )  # fmt: skip
    check_record(record, "record")
    check_code(CODE, "gfx942", "code")
    x, y = array.array("f", range(300)), array.array("f", [1.0] * 300)
    with Replay(record, lambda _: CODE, driver) as replay:
        left = replay.run({"x": x.tobytes(), "y": y.tobytes()})
    assert left.touched == ()
    assert list(array.array("f", left.outputs[0])) == [2.0 * at + 1.0 for at in range(300)]


def test_the_clock_without_probe_and_hold(driver: HipDriver) -> None:
    """Flushes are timed by events; no clock is counted."""
    turn = DeviceBench(driver).known(3)
    assert turn.times_s == pytest.approx((1.5e-3,) * 3)
    assert turn.clocks_hz == (0.0,) * 3


def test_the_code_object_says_what_the_launch_holds_it_to() -> None:
    """The file that these tests load."""
    said = read_code_object(CODE)
    assert isinstance(said, CodeObject)
    assert said.entries["axpy"].parameters == (8, 8, 8, 4, 4, 8, 8)
