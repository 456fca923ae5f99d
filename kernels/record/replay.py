"""Replay of a launch record: buffers in random order with guard zones, poison, the steps, and what they left behind.

It imports no candidate, no torch and no triton: a code object is loaded by the driver and launched with the record's
arguments. Inputs come as bytes; outputs are read as bytes by whoever compares them.
"""

from __future__ import annotations

import secrets
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kopt_kb.errors import BadInput
from kopt_kb.kernels.record.driver import Driver, scalar_type
from kopt_kb.kernels.record.model import (
    Buffer,
    Copy,
    Fill,
    Launch,
    LaunchRecord,
    NullArg,
    ScalarArg,
    TensorArg,
    TensorMapArg,
    View,
)

__all__ = ["GUARD_BYTES", "Left", "Replay"]

GUARD_BYTES = 64 << 10
"""Bytes before and behind each buffer that no kernel may touch."""

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
        self._given: dict[str, bytes] = {}
        self._kept: list[Any] = []
        self._kernels: dict[tuple[str, str, int], Any] = {}

    def __enter__(self) -> Replay:
        order = list(self._record.buffers)
        secrets.SystemRandom().shuffle(order)
        for one in order:
            self._base[one.name] = self._driver.allocate(one.size_bytes + 2 * GUARD_BYTES)
            self._guard[one.name] = secrets.token_bytes(GUARD_BYTES)
        return self

    def __exit__(self, *_: object) -> None:
        for address in self._base.values():
            self._driver.free(address)
        self._base.clear()

    def _address(self, view: View) -> int:
        return self._base[view.buffer] + GUARD_BYTES + view.offset * view.item_bytes

    def run(self, inputs: Mapping[str, bytes]) -> Left:
        """Poison everything, write the inputs, do the steps, and return what they left.

        Args:
            inputs: Name of an input buffer → its bytes, all of them.

        Raises:
            BadInput: An input is missing or has another size than the record's buffer.
            DriverError: A launch was refused, or failed.
        """
        for one in self._record.buffers:
            self._prepare(one, inputs)
        self._driver.synchronize()
        for step in self._record.steps:
            if isinstance(step, Fill):
                count = max(step.view.end_bytes // step.view.item_bytes - step.view.offset, 0)
                self._driver.fill(self._address(step.view), bytes.fromhex(step.pattern), count)
            elif isinstance(step, Copy):
                size = step.source.end_bytes - step.source.offset * step.source.item_bytes
                self._driver.copy(self._address(step.target), self._address(step.source), size)
            else:
                self._launch(step)
        self._driver.synchronize()
        named = {one.name: one for one in self._record.buffers}
        contents = {name: self._content(named[name]) for name in {view.buffer for view in self._record.outputs}}
        results = tuple(contents[view.buffer] for view in self._record.outputs)
        return Left(results, tuple(fault for one in self._record.buffers for fault in self._faults(one)))

    def _prepare(self, one: Buffer, inputs: Mapping[str, bytes]) -> None:
        base, driver = self._base[one.name], self._driver
        guard = self._guard[one.name]
        driver.write(base, guard)
        driver.write(base + GUARD_BYTES + one.size_bytes, guard)
        place = base + GUARD_BYTES
        if one.role == "input":
            content = inputs.get(one.name)
            if content is None or len(content) != one.size_bytes:
                size = "no bytes" if content is None else f"{len(content)} bytes"
                what = f"input {one.name} has {size}, the record {one.size_bytes}"
                fix = "record it again for these inputs"
                raise BadInput(what, where=self._record.label, fix=fix, code="KB454")
            self._given[one.name] = content
            driver.write(place, content)
        else:
            driver.fill(place, b"\0" if one.role == "zeroed" else _POISON, one.size_bytes)

    def _content(self, one: Buffer) -> bytes:
        return self._driver.read(self._base[one.name] + GUARD_BYTES, one.size_bytes)

    def _faults(self, one: Buffer) -> list[str]:
        base, guard, faults = self._base[one.name], self._guard[one.name], []
        if self._driver.read(base, GUARD_BYTES) != guard:
            faults.append(f"bytes before {one.name} were written")
        if self._driver.read(base + GUARD_BYTES + one.size_bytes, GUARD_BYTES) != guard:
            faults.append(f"bytes behind {one.name} were written")
        if one.role == "input" and not one.changed and self._content(one) != self._given[one.name]:
            faults.append(f"input {one.name} was changed")
        if one.role == "zeroed" and any(self._content(one)):
            faults.append(f"{one.name} is not zero after the launch, as its next launch needs")
        return faults

    def _launch(self, step: Launch) -> None:
        key = (step.code, step.entry, step.shared_bytes)
        if key not in self._kernels:
            self._kernels[key] = self._driver.load(self._code(step.code), step.entry, step.shared_bytes)
        values: list[Any] = []
        types: list[Any] = []
        for one in step.arguments:
            value, kind = self._argument(one)
            values.append(value)
            types.append(kind)
        self._driver.launch(self._kernels[key], step, values, types)

    def _argument(self, one: TensorArg | ScalarArg | TensorMapArg | NullArg) -> tuple[Any, Any]:
        pointer = scalar_type("u64")
        if isinstance(one, TensorArg):
            return self._address(one.view), pointer
        if isinstance(one, TensorMapArg):
            encoded = self._driver.tensor_map(one, self._address(one.view))
            self._kept.append(encoded)
            return encoded, None
        if isinstance(one, NullArg):
            return 0, pointer
        value = float(one.value) if isinstance(one.value, str) else one.value
        return _half(one.type, value), scalar_type(one.type)


def _half(kind: str, value: Any) -> Any:
    """Return a half-width float as its bits, anything else as it is."""
    if kind == "fp16":
        return int(struct.unpack("<H", struct.pack("<e", value))[0])
    if kind == "bf16":
        return int(struct.unpack("<I", struct.pack("<f", value))[0]) + 0x8000 >> 16
    return value
