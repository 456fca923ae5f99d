"""The judge's own kernels: the mask by its Python twin, and the PTX run line by line by an interpreter of its few words."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator

import pytest

from kopt_kb.launch.record.trusted import IDLE, MASK, PROBE, PTX, masked, stream_word

KEY = (0x0123456789ABCDEF, 0xFEDCBA9876543210)
_MASKS = {"u64": (1 << 64) - 1, "b64": (1 << 64) - 1, "u32": (1 << 32) - 1, "b32": (1 << 32) - 1, "u8": 255}
_SIZES = {"u64": 8, "u32": 4, "u8": 1}


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 24, 31])
def test_twice_is_nothing(size: int) -> None:
    """Masked contents look like others; another key is another stream; masked again they are back."""
    data = bytes(range(size))
    hidden = masked(data, KEY)
    assert masked(hidden, KEY) == data
    assert len(hidden) == size
    if size >= 7:
        assert hidden not in {data, masked(data, (KEY[0], KEY[1] + 1)), masked(data, (KEY[0] + 1, KEY[1]))}


def test_words_of_a_stream_differ() -> None:
    """No word comes twice in a thousand, and half of all bits are set."""
    words = [stream_word(KEY, index) for index in range(1000)]
    assert len(set(words)) == 1000
    assert 31000 < sum(one.bit_count() for one in words) < 33000


class _Machine:
    """Runs one thread of an entry of the PTX on a memory of bytes."""

    def __init__(self, entry: str, params: list[int], memory: bytearray, clock: Iterator[int]) -> None:
        head, body = re.search(rf"\.entry {entry}\((.*?)\)\s*\{{(.*?)\n\}}", PTX, re.DOTALL).groups()  # type: ignore[union-attr]
        self.params = dict(zip(re.findall(r"\.param \.\w+ (\w+)", head), params, strict=True))
        self.lines: list[str] = []
        self.labels: dict[str, int] = {}
        for line in (one.strip() for one in body.splitlines()):
            if line.endswith(":"):
                self.labels[line[:-1]] = len(self.lines)
            elif line and not line.startswith(".reg"):
                self.lines.append(line.rstrip(";"))
        self.memory, self.clock = memory, clock
        self.registers: dict[str, int] = {}
        self.special: dict[str, int] = {}

    def run(self, **special: int) -> None:
        self.special = {"%" + name.replace("_", "."): value for name, value in special.items()}
        at = 0
        while True:
            line = self.lines[at]
            at += 1
            guard = re.match(r"@(%p\d+) (.*)", line)
            if guard:
                if not self.registers[guard[1]]:
                    continue
                line = guard[2]
            name, _, rest = line.partition(" ")
            words = [one.strip() for one in rest.split(",")] if rest else []
            if name == "ret":
                return
            if name == "bra":
                at = self.labels[words[0]]
            else:
                self.step(name.split("."), words)

    def value(self, word: str) -> int:
        if word in {"%globaltimer", "%clock64"}:
            return next(self.clock)
        if word in self.special:
            return self.special[word]
        return self.registers[word] if word.startswith("%") else int(word, 0)

    def address(self, word: str) -> int:
        base, _, more = word.strip("[]").partition("+")
        return self.registers[base] + int(more or 0)

    def step(self, name: list[str], words: list[str]) -> None:
        kind = name[-1]
        if name[:2] == ["ld", "param"]:
            self.registers[words[0]] = self.params[words[1].strip("[]")]
        elif name[:2] == ["ld", "global"]:
            at = self.address(words[1])
            self.registers[words[0]] = int.from_bytes(self.memory[at : at + _SIZES[kind]], "little")
        elif name[:2] == ["st", "global"]:
            at, size = self.address(words[0]), _SIZES[kind]
            self.memory[at : at + size] = (self.value(words[1]) % (1 << 8 * size)).to_bytes(size, "little")
        elif name[0] == "setp":
            left, right = self.value(words[1]), self.value(words[2])
            found = {"eq": left == right, "ne": left != right, "lt": left < right, "ge": left >= right}[name[1]]
            if name[2] in {"and", "or"}:
                other = bool(self.value(words[3]))
                found = (found and other) if name[2] == "and" else (found or other)
            self.registers[words[0]] = int(found)
        else:
            values = [self.value(one) for one in words[1:]]
            self.registers[words[0]] = _ARITHMETIC[name[0]](values) & (
                _MASKS["u64"] if "wide" in name else _MASKS[name[1] if name[0] == "cvt" else kind]
            )


_ARITHMETIC: dict[str, Callable[[list[int]], int]] = {
    "mov": lambda v: v[0], "cvt": lambda v: v[0], "add": sum, "sub": lambda v: v[0] - v[1], "mul": lambda v: v[0] * v[1],
    "mad": lambda v: v[0] * v[1] + v[2], "xor": lambda v: v[0] ^ v[1], "and": lambda v: v[0] & v[1],
    "shl": lambda v: v[0] << v[1], "shr": lambda v: v[0] >> v[1],
}  # fmt: skip


def _mask(memory: bytearray, target: int, source: int, size: int, flag: int) -> None:
    for block in range(2):
        for thread in range(3):
            machine = _Machine(MASK, [target, source, size // 8, size % 8, *KEY, flag], memory, iter(()))
            machine.run(ctaid_x=block, ntid_x=3, tid_x=thread, nctaid_x=2)


@pytest.mark.parametrize("size", [0, 5, 8, 56, 61, 120])
def test_the_kernel_masks_as_its_twin_does(size: int) -> None:
    """Words by threads that stride, bytes behind them by the first; nothing beyond; compared, a changed byte is seen."""
    data = bytes((7 * one + 1) % 256 for one in range(size))
    memory = bytearray(data.ljust(128, b"\xee") + b"\xdd" * 128 + bytes(8))
    _mask(memory, 128, 0, size, 0)
    assert memory[:size] == data
    assert memory[128 : 128 + size] == masked(data, KEY)
    assert memory[128 + size : 256] == b"\xdd" * (128 - size)
    _mask(memory, 0, 128, size, 256)
    assert struct.unpack_from("<I", memory, 256) == (0,)
    if size:
        for place in {0, size - 1, size // 2}:
            changed = bytearray(memory)
            changed[place] ^= 16
            _mask(changed, 0, 128, size, 256)
            assert struct.unpack_from("<I", changed, 256) == (1,)


def test_the_kernel_masks_in_place() -> None:
    """Source and target may be one."""
    memory = bytearray(bytes(range(61)).ljust(128, b"\xee"))
    _mask(memory, 0, 0, 61, 0)
    assert memory == masked(bytes(range(61)), KEY).ljust(128, b"\xee")


def test_the_probe_counts_between_edges_of_the_timer() -> None:
    """Starts at a tick, ends at the first one after the time given."""

    def clocks() -> Iterator[int]:
        now = 1000
        while True:
            now += 10
            yield now // 64 * 64 if next_is_timer() else now

    order: list[str] = []

    class _Probe(_Machine):
        def value(self, word: str) -> int:
            order.append(word)
            return super().value(word)

    def next_is_timer() -> bool:
        return order[-1] == "%globaltimer"

    memory = bytearray(16)
    _Probe(PROBE, [0, 640], memory, clocks()).run()
    cycles, ns = struct.unpack("<QQ", memory)
    assert ns >= 640 and ns % 64 == 0
    assert cycles == pytest.approx(ns, abs=64)


def test_a_timer_that_stands_still_ends_the_probe() -> None:
    """After a bounded number of turns; there is no time then, and whoever reads it says so."""
    memory = bytearray(b"\xff" * 16)
    machine = _Machine(PROBE, [0, 640], memory, iter(lambda: 5, None))
    machine.lines = [line.replace("1000000", "50") for line in machine.lines]
    machine.run()
    assert struct.unpack("<QQ", memory) == (0, 0)


def test_nothing_is_an_entry() -> None:
    """It returns."""
    _Machine(IDLE, [], bytearray(), iter(())).run()
