"""Quotes of printed cells, converted to values: what a vendor prints against what the row says."""

from __future__ import annotations

import re
from fractions import Fraction

from kopt_kb.quantity.units import UNITS, Unit
from kopt_kb.wiki.vocabulary import Metric

__all__ = ["quote_supports", "twice_printed", "unit_words"]

_NUMBER = re.compile(r"(?<![A-Za-z0-9.,])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)")
_UNIT = re.compile(r"[\s\-]*([A-Za-zµμ%]+(?:/[A-Za-z]+)?)")

# Spellings found in print, folded to lower case, mapped to the wiki's units. KB, MB and GB are read as decimal
# here; `_candidates` adds the binary reading for the metrics whose printed sizes are binary.
_PRINTED: dict[str, str] = {
    "tflops": "TFLOPS", "tflop/s": "TFLOPS", "teraflops": "TFLOPS", "tf": "TFLOPS", "tflop": "TFLOPS",
    "pflops": "PFLOPS", "petaflops": "PFLOPS", "pflop/s": "PFLOPS", "pf": "PFLOPS", "pflop": "PFLOPS",
    "gflops": "GFLOPS", "gflop/s": "GFLOPS",
    "tops": "TOPS", "teraops": "TOPS", "pops": "POPS", "petaops": "POPS", "gops": "GOPS",
    "tb/s": "TB/s", "tb/sec": "TB/s", "tbps": "TB/s", "gb/s": "GB/s", "gb/sec": "GB/s", "mb/s": "MB/s",
    "tb": "TB", "gb": "GB", "mb": "MB", "kb": "kB", "b": "B", "byte": "B", "bytes": "B",
    "tib": "TiB", "gib": "GiB", "mib": "MiB", "kib": "KiB",
    "ghz": "GHz", "mhz": "MHz", "khz": "kHz", "hz": "Hz",
    "w": "W", "watt": "W", "watts": "W", "bit": "bit", "bits": "bit",
    "ns": "ns", "us": "us", "µs": "us", "μs": "us", "s": "s",
    "gbps": "Gbit/s", "gbit/s": "Gbit/s", "gt/s": "Gbit/s", "gb/s/pin": "Gbit/s",
}  # fmt: skip

_BINARY = {"kB": "KiB", "MB": "MiB", "GB": "GiB", "TB": "TiB"}
_KILO = 1024  # "64K 32-bit registers": counts of storage cells are binary in print

_COUNT_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
]

_TOKEN_WORDS: dict[str, tuple[str, ...]] = {
    "yes": ("yes", "ecc", "supports", "supported", "support", "enabled"),
    "no": ("no", "n/a", "not"),
    "optional": ("optional",),
    "none": ("no", "none", "n/a"),
    "ocp": ("ocp", "e4m3", "e4m3fn"),
    "fnuz": ("fnuz",),
}


def unit_words() -> frozenset[str]:
    """Return the words of printed units, in lower case: what stands beside a number and labels nothing."""
    spelled = (part for unit in (*_PRINTED, *(symbol.casefold() for symbol in UNITS)) for part in unit.split("/"))
    return frozenset(spelled)


def _printed_unit(tail: str) -> tuple[str, str | None]:
    match = _UNIT.match(tail)
    if match is None:
        return "", None
    word = match[1]
    return word, _PRINTED.get(word.lower())


def _candidates(number: Fraction, tail: str, metric: Metric, row_unit: Unit) -> list[Fraction]:
    """Return the base-unit values that a printed number with what follows it can mean."""
    word, symbol = _printed_unit(tail)
    bare = number * row_unit.factor
    if metric.dimension == "count":
        return [number, number * _KILO] if word in {"K", "k"} else [number]
    if symbol is None:
        return [bare]
    printed = UNITS[symbol]
    if metric.dimension == "bit/s" and symbol == "GB/s":
        return [bare]
    if printed.dimension != metric.dimension:
        # A link's "900 Gbps" or a rate "FLOPS/clk": the word is not this metric's unit, the column says it.
        return [bare] if printed.dimension not in {"B", "B/s"} or metric.dimension not in {"B", "B/s"} else []
    values = [number * printed.factor]
    if metric.binary and symbol in _BINARY:
        values = [number * UNITS[_BINARY[symbol]].factor]
    return values


def _device_ids(value: str) -> tuple[str, ...]:
    """Return how tables print the device part of `vendor:device`: in hexadecimal, or as AMD's tools, in decimal."""
    device = value.rpartition(":")[2].casefold()
    try:
        return (device, f"0x{device}", str(int(device, 16)))
    except ValueError:
        return (device,)


def quote_supports(quote: str, value: str, symbol: str, metric: Metric) -> bool:
    """Return whether the quote prints the value.

    A number in the quote with a unit of the metric's dimension must convert exactly; without one it must equal
    the value as typed (the table's header printed the unit, and the locator names it). Small counts may be spelled
    out. Tokens must appear as words. KB and MB of on-chip sizes are binary, as CUDA's and ROCm's tables mean them.
    """
    if metric.dimension == "token":
        words = _device_ids(value) if metric.id == "pci_id" else _TOKEN_WORDS.get(value, (value.casefold(),))
        any_word = "|".join(re.escape(word) for word in words)
        return re.search(rf"(?<![a-z0-9])(?:{any_word})(?![a-z0-9])", quote.casefold()) is not None
    if metric.dimension == "count" and value.isdigit() and int(value) < len(_COUNT_WORDS):
        word = _COUNT_WORDS[int(value)]
        if re.search(rf"(?<![a-z]){word}(?![a-z])", quote.casefold()):
            return True
    row_unit = UNITS[symbol]
    wanted = Fraction(value) * row_unit.factor
    for found in _NUMBER.finditer(quote):
        number = Fraction(found[1].replace(",", ""))
        if wanted in _candidates(number, quote[found.end() :], metric, row_unit):
            return True
    return False


_HEXADECIMAL = re.compile(r"(?<![\d.,])(\d[\d,]*)\s*\(0x([0-9a-fA-F]+)\)")
_IN_BYTES = re.compile(r"(?<![\d.,])(\d[\d,]*)\s*(?:bytes|B)\s*\(~?(\d+(?:\.\d+)?)\s*([kKMGT])i?B(?:ytes)?\)")
_PREFIX = "kmgt"


def twice_printed(quote: str) -> str:
    """Return what a quote prints twice and not alike: decimal beside hexadecimal, bytes beside MB; else nothing."""
    for decimal, hexadecimal in _HEXADECIMAL.findall(quote):
        if int(decimal.replace(",", "")) != int(hexadecimal, 16):
            return f"{decimal} is not 0x{hexadecimal}"
    for whole, rounded, prefix in _IN_BYTES.findall(quote):
        power, unit = _PREFIX.index(prefix.casefold()) + 1, Fraction(1, 10 ** len(rounded.partition(".")[2]))
        readings = (Fraction(rounded) * base**power for base in (1000, 1024))
        far = [abs(int(whole.replace(",", "")) - each) > unit * 1024**power for each in readings]
        if all(far):
            return f"{whole} bytes are not {rounded} {prefix}B"
    return ""
