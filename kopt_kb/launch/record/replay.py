"""Replay of a launch record: buffers in random places with guard zones, poison, the steps, and what they left behind.

It imports no candidate, no torch and no triton: a code object is loaded by the driver and launched with the record's
arguments. Inputs come as bytes; outputs are read as bytes by whoever compares them.
"""

from __future__ import annotations

import ctypes
import secrets
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.record.driver import Driver, scalar_type
from kopt_kb.launch.record.model import (
    Argument,
    Buffer,
    Copy,
    Fill,
    Launch,
    LaunchRecord,
    NullArg,
    StructArg,
    TensorAddress,
    TensorMapArg,
    TensorView,
)
from kopt_kb.launch.record.moves import move_of
from kopt_kb.launch.record.own_memory import OwnPlace

__all__ = ["GUARD_BYTES", "Left", "Replay"]

GUARD_BYTES = 64 << 10
"""Bytes before and behind each buffer that no kernel may touch."""

_PATTERN_BYTES = 4096
"""Random bytes that a guard zone repeats."""

_STEP_BYTES = 4096
"""Buffers begin at multiples of this behind the first, or of what they are aligned to."""

_SPARE, _MOST_SPARE_BYTES = 8, 512 << 20
"""Memory beside the buffers that they are moved about in: so many times theirs, at most so many bytes."""

_POISON = b"\xff"
"""All bits set is NaN in every floating type and -1 in every integer."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a replay left behind.

    Attributes:
        outputs: Bytes of each output's buffer, in the record's order of outputs.
        touched: Faults: guard zones written, inputs changed that may not, zeroed scratch that is not zero.
    """

    outputs: tuple[bytes, ...]
    touched: tuple[str, ...]


class Replay:
    """Memory and kernels of one record on one device; a context manager that gives them back.

    Args:
        record: A record that `check_record` let pass.
        code: Returns a code object by sha256; its bytes are hashed by the caller.
        driver: The device.
    """

    def __init__(self, record: LaunchRecord, code: Callable[[str], bytes], driver: Driver) -> None:
        self._record, self._driver, self._code = record, driver, code
        self._base: dict[str, int] = {}
        self._guard: dict[str, bytes] = {}
        self._arena, self._all = 0, 0
        self._kernels: list[Any] = []
        self._own: list[tuple[OwnPlace, int]] = []
        self._launches: list[tuple[Launch, Any, list[Any], list[Any]]] = []

    def __enter__(self) -> Replay:
        used = sum(self._room(one) for one in self._record.buffers)
        self._spare = min(_SPARE * used, _MOST_SPARE_BYTES)
        self._all = used + self._spare
        self._arena = self._driver.allocate(self._all)
        try:
            self.move()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._arena:
            self._driver.free(self._arena)
            self._arena = 0
        while self._own:
            image = self._own.pop()[1]
            if image:
                self._driver.free(image)
        self._base.clear()
        self._launches.clear()

    @staticmethod
    def _room(buffer: Buffer) -> int:
        step = max(_STEP_BYTES, buffer.alignment)
        return -(-(buffer.size_bytes + 2 * GUARD_BYTES + step) // step) * step

    def move(self) -> None:
        """Put the buffers in other places, in another order, with new guard zones; what they hold is lost.

        Where a buffer lies moves the time of a kernel by up to a percent (which memory channels and slices of the cache
        its lines fall on), whoever is faster: over many places that is noise, in one it would be a bias. All memory
        between them is written too: neither answers of an earlier place or record nor what a kernel kept are left.
        """
        self._driver.fill(self._arena, _POISON, self._all)
        order = list(self._record.buffers)
        chance = secrets.SystemRandom()
        chance.shuffle(order)
        cuts = sorted(chance.randint(0, self._spare // _STEP_BYTES) * _STEP_BYTES for _ in order)
        at = self._arena
        for one, cut in zip(order, cuts, strict=True):
            step = max(_STEP_BYTES, one.alignment)
            self._base[one.name] = -(-(at + cut + GUARD_BYTES) // step) * step - GUARD_BYTES
            at += self._room(one)
        self._launches.clear()
        self._guarded()

    def _guarded(self) -> None:
        for buffer in self._record.buffers:
            base, guard = self._base[buffer.name], secrets.token_bytes(_PATTERN_BYTES) * (GUARD_BYTES // _PATTERN_BYTES)
            self._guard[buffer.name] = guard
            self._driver.write(base, guard)
            self._driver.write(base + GUARD_BYTES + buffer.size_bytes, guard)

    def load(self) -> None:
        """Load the code objects and encode the arguments."""
        self._prepared()

    def place(self, buffer: str) -> int:
        """Return the address of a buffer's first byte."""
        return self._base[buffer] + GUARD_BYTES

    def run(self, inputs: Mapping[str, bytes]) -> Left:
        """Poison everything, write the inputs, do the steps, and return what they left.

        Args:
            inputs: Name of an input buffer → its bytes, all of them.

        Raises:
            BadInput: An input is missing or has another size than the record's buffer.
            DriverError: A launch was refused, or failed.
        """
        self.load()
        self.poison()
        self.write(inputs)
        self.steps()
        named = {one.name: one for one in self._record.buffers}
        contents = {name: self.content(named[name]) for name in {view.buffer for view in self._record.outputs}}
        results = tuple(contents[view.buffer] for view in self._record.outputs)
        return Left(results, (*self.guard_faults(), *self.changed(inputs), *self.unclean()))

    def poison(self) -> None:
        """Enqueue what memory but inputs holds before a launch: poison, or zeros where the record needs them.

        A code object's own memory is as it was when it was loaded: no launch finds what another left there.
        """
        self._as_at_first()
        for one in self._record.buffers:
            if one.role != "input":
                self._driver.fill(self.place(one.name), b"\0" if one.role == "zeroed" else _POISON, one.size_bytes)

    def write(self, inputs: Mapping[str, bytes]) -> None:
        """Copy the inputs to the device; raises `BadInput` when one is missing or has another size."""
        for buffer in self._record.buffers:
            if buffer.role == "input":
                content = inputs.get(buffer.name)
                if content is None or len(content) != buffer.size_bytes:
                    size = "no bytes" if content is None else f"{len(content)} bytes"
                    what = f"input {buffer.name} has {size}, the record {buffer.size_bytes}"
                    fix = "record it again for these inputs"
                    raise BadInput(what, where=self._record.label, fix=fix, code="KB454")
                self._driver.write(self.place(buffer.name), content)

    def steps(self) -> None:
        """Enqueue the record's steps."""
        launches = iter(self._prepared())
        for step in self._record.steps:
            if isinstance(step, Fill):
                count = max(step.view.end_bytes // step.view.item_bytes - step.view.offset, 0)
                self._driver.fill(self._address(step.view), bytes.fromhex(step.pattern), count)
            elif isinstance(step, Copy) and not step.plain:
                move = move_of(step.source, step.target)
                if move is None:
                    raise BadInput("no such copy", where=self._record.label, fix="record it again", code="KB440")
                self._driver.move(self._address(step.target), self._address(step.source), move)
            elif isinstance(step, Copy):
                size = step.source.end_bytes - step.source.offset * step.source.item_bytes
                self._driver.copy(self._address(step.target), self._address(step.source), size)
            else:
                one, kernel, values, types = next(launches)
                self._driver.launch(kernel, one, values, types)

    def content(self, buffer: Buffer) -> bytes:
        """Return the bytes of a buffer."""
        return self._driver.read(self.place(buffer.name), buffer.size_bytes)

    def guard_faults(self) -> list[str]:
        """Return which guard zones, and copies of what code objects held, were written; write those anew."""
        faults = []
        for buffer in self._record.buffers:
            guard, behind = self._guard[buffer.name], self.place(buffer.name) + buffer.size_bytes
            for side, address in (("before", self._base[buffer.name]), ("behind", behind)):
                if self._driver.read(address, GUARD_BYTES) != guard:
                    faults.append(f"bytes {side} {buffer.name} were written")
                    self._driver.write(address, guard)
        for own, image in self._own:
            if image and self._driver.read(image, len(own.image)) != own.image:
                faults.append("the judge's copy of a code object's own memory was written")
                self._driver.write(image, own.image)
        return faults

    def changed(self, inputs: Mapping[str, bytes]) -> list[str]:
        """Return which inputs differ from what was written, though they may not."""
        fixed = [one for one in self._record.buffers if one.role == "input" and not one.changed]
        return [f"input {one.name} was changed" for one in fixed if self.content(one) != inputs[one.name]]

    def unclean(self) -> list[str]:
        """Return which zeroed scratch is not zero, as the next launch needs it."""
        zeroed = [one for one in self._record.buffers if one.role == "zeroed"]
        words = "is not zero after the launch, as its next launch needs"
        return [f"{one.name} {words}" for one in zeroed if any(self.content(one))]

    def _address(self, view: TensorView) -> int:
        return self.place(view.buffer) + view.offset * view.item_bytes

    def _prepared(self) -> list[tuple[Launch, Any, list[Any], list[Any]]]:
        """Return each launch with its kernel, loaded once, and its arguments, encoded once a place."""
        launches = self._record.launches
        if not self._kernels:
            codes = {one.code: self._code(one.code) for one in launches}
            self._kernels = [self._driver.load(codes[one.code], one.entry, one.shared_bytes) for one in launches]
            self._keep_images([place for code in codes.values() for place in self._driver.own_memory(code)])
        if not self._launches:
            for step, kernel in zip(launches, self._kernels, strict=True):
                pairs = [self._argument(one) for one in step.arguments]
                self._launches.append((step, kernel, [one for one, _ in pairs], [kind for _, kind in pairs]))
        return self._launches

    def _keep_images(self, places: Sequence[OwnPlace]) -> None:
        """Put what code objects' own memory held at first where it can be copied from behind a hold."""
        for place in places:
            image = 0
            if any(place.image):
                image = self._driver.allocate(len(place.image))
                self._driver.write(image, place.image)
            self._own.append((place, image))

    def _as_at_first(self) -> None:
        """Enqueue putting code objects' own memory back."""
        for one, image in self._own:
            if image:
                self._driver.copy(one.address, image, len(one.image))
            else:
                self._driver.fill(one.address, b"\0", len(one.image))

    def _argument(self, argument: Argument) -> tuple[Any, Any]:
        pointer = scalar_type("u64")
        if isinstance(argument, StructArg):
            return self._structure(argument), None
        if isinstance(argument, TensorAddress):
            return self._address(argument.view), pointer
        if isinstance(argument, TensorMapArg):
            return self._driver.tensor_map(argument, self._address(argument.view)), None
        if isinstance(argument, NullArg):
            return 0, pointer
        value = float(argument.value) if isinstance(argument.value, str) else argument.value
        return _half(argument.type, value), scalar_type(argument.type)

    def _structure(self, arg: StructArg) -> ctypes.Structure:
        """Return the bytes of a structure with addresses in their places, as drivers take them by value."""
        held = bytearray(arg.size_bytes)
        for member in arg.members:
            value, kind = self._argument(member.value)
            held[member.offset : member.offset + member.size_bytes] = bytes(kind(value))

        class Structure(ctypes.Structure):
            _fields_ = (("held", ctypes.c_uint8 * len(held)),)

        return Structure.from_buffer_copy(held)


def _half(kind: str, value: Any) -> Any:
    """Return a half-width float as its bits, anything else as it is."""
    if kind == "fp16":
        return int(struct.unpack("<H", struct.pack("<e", value))[0])
    if kind == "bf16":
        return int(struct.unpack("<I", struct.pack("<f", value))[0]) + 0x8000 >> 16
    return value
