"""SOLAR's architecture files: one YAML a product, rates in multiply-adds and bytes a cycle.

Read in NVlabs/SOLAR, configs/arch/*.yaml and solar/perf/perf_model.py: time is cycles over `freq_GHz`, a multiply-add
is two operations, a missing precision falls back to another without a word. Products without a documented clock,
bandwidth or matrix rate are left out: there 1 would be taken for it.
"""

from __future__ import annotations

import re
from fractions import Fraction

from kopt_kb.base.errors import BadInput
from kopt_kb.wiki.collect import Absence, Collection, Peak, ProductPeaks, cited_key, plain_number
from kopt_kb.wiki.foreign_row import ForeignRow, foreign_row

__all__ = ["lacks", "read", "recognises", "render"]

_MACS: dict[str, tuple[str, str]] = {
    "MAC_per_cycle_fp32_sm": ("fp32", "vector"),
    **{
        f"MAC_per_cycle_{name}_tc": (name, "matrix")
        for name in ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "int4", "nvfp4", "mxfp4")
    },
}
_BYTES = {"DRAM_byte_per_cycle": "memory_bandwidth", "SRAM_byte_per_cycle": "l2_bandwidth"}
_SIZES = {"DRAM_capacity": "memory_capacity", "SRAM_capacity": "l2_capacity"}
_LINE = re.compile(r"^(?P<key>[A-Za-z0-9_]+):\s*(?P<value>[^#]*?)\s*(?:#(?P<comment>.*))?$")
_GIGA = 10**9


def _field(key: str, found: Peak | Absence, factor: Fraction = Fraction(1)) -> str:
    if isinstance(found, Peak):
        return f"{key}: {plain_number(found.si * factor)}  # {found.cite}"
    return f"# {key}: {found}"


def _rates(product: ProductPeaks) -> dict[str, Peak | Absence]:
    return {key: product.rate(dtype, engine) for key, (dtype, engine) in _MACS.items()}


def lacks(product: ProductPeaks) -> str:
    """Return why this form can't hold a product, empty when it can: a missing field would be read as 1."""
    needed = {"sm_clock": product.clock(), "memory_bandwidth": product.get("memory_bandwidth")}
    absent = [f"{name} is {found.state}" for name, found in needed.items() if isinstance(found, Absence)]
    fast = any(isinstance(found, Peak) for key, found in _rates(product).items() if key.endswith("_tc"))
    return ", ".join([*absent, *([] if fast else ["no rate of the matrix units"])])


def _file(product: ProductPeaks, data: object) -> str | None:
    clock, memory, rates = product.clock(), product.get("memory_bandwidth"), _rates(product)
    if lacks(product) or not isinstance(clock, Peak):
        return None
    cycle = 1 / clock.si
    lines = [
        f"# Written by `kb export peaks --for solar` from {data}.",
        "# Dense rates; a rate a cycle is the documented rate over freq_GHz, two operations a MAC.",
        f"# platform: {product.identity.platform}",
        f'name: "{product.identity.platform}"',
        _field("freq_GHz", clock, Fraction(1, _GIGA)),
        *(_field(key, product.get(metric)) for key, metric in _SIZES.items()),
        _field("DRAM_byte_per_cycle", memory, cycle),
        _field("SRAM_byte_per_cycle", product.get("l2_bandwidth", direction="read"), cycle),
        *(_field(key, found, cycle / 2) for key, found in rates.items()),
    ]
    return "\n".join([*lines, ""])


def render(found: Collection) -> dict[str, str]:
    """Return a file a product."""
    files = {one.identity.platform: _file(one, found.data) for one in found.products}
    return {f"{name}.yaml": text for name, text in files.items() if text is not None}


def recognises(text: str) -> bool:
    """Whether a text is of this form."""
    return re.search(r"^DRAM_byte_per_cycle:", text, re.MULTILINE) is not None


def _fields(text: str, where: str) -> dict[str, tuple[int, str, str]]:
    """Return key → (line, value, comment)."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line)
        if match and match["value"]:
            found[match["key"]] = (number, match["value"].strip("\"'"), match["comment"] or "")
    if "name" not in found or "freq_GHz" not in found:
        raise BadInput("no `name` or no `freq_GHz`", where=where, fix="give a SOLAR architecture file", code="KB057")
    return found


def read(text: str, where: str) -> list[ForeignRow]:
    """Return the rows of an architecture file, ours or SOLAR's own; rates are multiplied back by its clock."""
    fields = _fields(text, where)
    named = re.search(r"^# platform: (\S+)$", text, re.MULTILINE)
    platform = named[1] if named else fields["name"][1]
    hertz = _number(fields["freq_GHz"][1], where) * _GIGA
    rows = []
    for key, (line, value, comment) in fields.items():
        metric, factor, symbol = _meaning(key, hertz)
        if metric:
            si = _number(value, f"{where}:{line}") * factor
            row = {
                "platform": platform,
                "metric": cited_key(comment) or metric,
                "value": plain_number(si),
                "unit": symbol,
            }
            rows.append(foreign_row(row, f"{where}:{line}"))
    return rows


def _meaning(key: str, hertz: Fraction) -> tuple[str, Fraction, str]:
    """Return our key of a field, what its number is multiplied with, and the unit then."""
    if key in _MACS:
        dtype, engine = _MACS[key]
        return f"peak_compute[dtype={dtype};engine={engine};sparsity=dense]", 2 * hertz, "FLOP/s"
    if key in _BYTES:
        metric = "l2_bandwidth[direction=read]" if key.startswith("SRAM") else _BYTES[key]
        return metric, hertz, "B/s"
    if key in _SIZES:
        return _SIZES[key], Fraction(1), "B"
    return "", Fraction(1), ""


def _number(text: str, where: str) -> Fraction:
    try:
        return Fraction(float(text))
    except (ValueError, OverflowError):
        raise BadInput(f"{text[:40]!r} is not a number", where=where, code="KB012") from None
