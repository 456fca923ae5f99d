"""TileOPs' GPU profiles: one YAML a product, `theoretical` rates and, where somebody measured, `calibration`.

Read in tile-ai/TileOPs, src/tileops/perf/profile.py and profiles/h200.yaml: a profile is found by the name that CUDA
reports (`gpu:`), `effective = theoretical * calibration`, and a section without `calibration` is left as it is.
"""

from __future__ import annotations

import re
from fractions import Fraction

from kopt_kb.wiki.collect import Absence, Collection, Peak, ProductPeaks, cited_key, plain_number
from kopt_kb.wiki.foreign_row import ForeignRow, foreign_row

__all__ = ["lacks", "read", "recognises", "render"]

_TENSOR = ("fp64", "tf32", "fp16", "bf16", "fp8", "int8", "mxfp4", "nvfp4")
_VECTOR = ("fp64", "fp32", "fp16")
_LINE = re.compile(r"^(?P<indent> *)(?P<key>[A-Za-z0-9_]+):\s*(?P<value>[^#]*?)\s*(?:#(?P<comment>.*))?$")


def _section(found: Peak | Absence, best: Peak | None, indent: str) -> list[str]:
    """Return the lines of one rate: what is documented, and the best measurement as a share of it."""
    if isinstance(found, Absence):
        return []
    lines = [f"{indent}theoretical: {plain_number(found.si)}  # {found.cite}"]
    if best is not None:
        lines.append(f"{indent}calibration: {plain_number(Fraction(best.si, found.si))[:8]}  # {best.cite}")
    return lines


def _unit(product: ProductPeaks, title: str, engine: str, dtypes: tuple[str, ...]) -> list[str]:
    lines = []
    for dtype in dtypes:
        best = product.measured("measured_compute", dtype=dtype, engine=engine)
        section = _section(product.rate(dtype, engine), best, "    ")
        lines += [f"  {dtype}:", *section] if section else []
    return [f"{title}:", *lines] if lines else []


def _driver_name(product: ProductPeaks) -> str:
    one = product.identity
    names = [name for name in one.aliases if name.startswith(one.vendor)]
    return names[0] if names else one.sku


def _body(product: ProductPeaks) -> list[str]:
    best = product.measured("measured_bandwidth", level="dram")
    hbm = _section(product.get("memory_bandwidth"), best, "  ")
    body = [*(["hbm:", *hbm] if hbm else []), *_unit(product, "cuda_core", "vector", _VECTOR)]
    return body + _unit(product, "tensor_core", "matrix", _TENSOR)


def lacks(product: ProductPeaks) -> str:
    """Return why this form can't hold a product, empty when it can."""
    return "" if _body(product) else "neither bandwidth nor a rate is documented"


def _file(product: ProductPeaks, data: object) -> str:
    one, body = product.identity, _body(product)
    lines = [f"# GPU Profile: {one.sku}, written by `kb export peaks --for tileops` from {data}."]
    lines += ["# Dense rates. `calibration` stands where the wiki has a measurement: the highest of them."]
    lines += [f"# platform: {one.platform}", f"gpu: {_driver_name(product)}"]
    if one.target.startswith("sm_"):
        lines.append(f"compute_capability: {one.target[3:-1]}.{one.target[-1]}")
    return "\n".join([*lines, "", *body, ""])


def render(found: Collection) -> dict[str, str]:
    """Return a file a product."""
    return {f"{one.identity.platform.lower()}.yaml": _file(one, found.data) for one in found.products if not lacks(one)}


def recognises(text: str) -> bool:
    """Whether a text is of this form."""
    return re.search(r"^gpu:", text, re.MULTILINE) is not None and "theoretical:" in text


_UNITS = {"hbm": "", "cuda_core": "vector", "tensor_core": "matrix"}


def read(text: str, where: str) -> list[ForeignRow]:
    """Return the documented rates of a profile, ours or TileOPs' own; calibrations are shares and no values."""
    named = re.search(r"^# platform: (\S+)$", text, re.MULTILINE) or re.search(r"^gpu:\s*(.+?)\s*$", text, re.MULTILINE)
    platform = named[1] if named else ""
    unit = dtype = ""
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line)
        if match is None:
            continue
        key, depth = match["key"], len(match["indent"])
        if depth == 0:
            unit, dtype = (key if key in _UNITS else ""), ""
        elif not match["value"]:
            dtype = key
        elif key == "theoretical" and unit:
            metric = cited_key(match["comment"] or "") or _metric(unit, dtype)
            symbol = "FLOP/s" if _UNITS[unit] else "B/s"
            fields = {"platform": platform, "metric": metric, "value": match["value"], "unit": symbol}
            rows.append(foreign_row(fields, f"{where}:{number}"))
    return rows


def _metric(unit: str, dtype: str) -> str:
    engine = _UNITS[unit]
    return f"peak_compute[dtype={dtype};engine={engine};sparsity=dense]" if engine else "memory_bandwidth"
