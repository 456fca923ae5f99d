"""GEAK's `peaks.md`: one fenced block a product, keyed by gfx target.

Read in AMD-AGI/GEAK, e2e_workflow/knowledge/analysis_skills/roofline: `roofline_tools.py` (`load_peaks`) takes the
first block with `gfx: <target>` whose `product:` is the one asked for; a block without `product:` answers for its
target. Comments after `#` are dropped there: each value carries its citation in one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from kopt_kb.wiki.collect import Absence, Collection, Peak, ProductPeaks, cited_key, plain_number
from kopt_kb.wiki.foreign_row import ForeignRow, foreign_row

__all__ = ["lacks", "read", "recognises", "render"]

_FLOPS: dict[str, tuple[tuple[str, str], ...]] = {
    "fp64": (("fp64", "matrix"), ("fp64", "vector")),
    "fp32": (("fp32", "matrix"), ("fp32", "vector")),
    "bf16": (("bf16", "matrix"),),
    "fp16": (("fp16", "matrix"),),
    "fp8": (("fp8", "matrix"),),
    "fp4": (("fp4", "matrix"), ("mxfp4", "matrix")),
    "int8": (("int8", "matrix"),),
}
"""Their key to our formats; the first that has a value is taken."""
_SCALARS = {
    "cu": ("sm_count", "count"),
    "hbm_bw_bytes_s": ("memory_bandwidth", "B/s"),
    "mall_bytes": ("llc_capacity", "B"),
}
_BY_PRODUCT = "gfx120"
"""Targets that GEAK looks up by product alone."""
_BLOCK = re.compile(r"```yaml[^\S\n]*\n(?P<body>.*?)```", re.DOTALL)
_LINE = re.compile(r"^(?P<indent>\s*)(?P<key>[A-Za-z0-9_]+):\s*(?P<value>[^#]*?)\s*(?:#(?P<comment>.*))?$")

_HEAD = """# Hardware peaks — roofline denominators

Written by `kb export peaks --for geak` from {data}. Dense rates only; memory bandwidth is the documented one. A value
that nobody documents is not here: its line says UNKNOWN. `l2_bytes` is left out: blocks use it for one die and for the
whole GPU.
"""


def _field(key: str, found: Peak | Absence, indent: str = "") -> str:
    if isinstance(found, Peak):
        return f"{indent}{key}: {plain_number(found.si)}  # {found.cite}"
    return f"{indent}# {key}: {found}"


def _flops(product: ProductPeaks, key: str) -> Peak | Absence:
    tried = [product.rate(dtype, engine) for dtype, engine in _FLOPS[key]]
    told = [one for one in tried if isinstance(one, Absence) and one.state != "no row"]
    return next((one for one in tried if isinstance(one, Peak)), told[0] if told else tried[0])


def _block(product: ProductPeaks, *, alone: bool) -> list[str]:
    one = product.identity
    lines = [f"## {one.target} — {one.sku} ({one.arch})", "```yaml", f"# platform: {one.platform}"]
    lines += [] if alone else [f"product: {one.platform.lower()}"]
    lines.append(f"gfx: {one.target}")
    lines += [_field(key, product.get(metric)) for key, (metric, _) in _SCALARS.items()]
    lines += ["flops:", *(_field(key, _flops(product, key), "  ") for key in _FLOPS), "```", ""]
    return lines


def lacks(product: ProductPeaks) -> str:
    """Return why this form can't hold a product, empty when it can: GEAK asks for gfx targets alone."""
    return "" if product.identity.target.startswith("gfx") else "GEAK knows gfx targets alone"


def render(found: Collection) -> dict[str, str]:
    """Return the page."""
    kept = [one for one in found.products if not lacks(one)]
    targets = Counter(one.identity.target for one in kept)
    lines = [_HEAD.format(data=found.data)]
    for one in kept:
        target = one.identity.target
        lines += _block(one, alone=targets[target] == 1 and not target.startswith(_BY_PRODUCT))
    return {"peaks.md": "\n".join(lines)} if kept else {}


def recognises(text: str) -> bool:
    """Whether a text is of this form."""
    return "hbm_bw_bytes_s:" in text and _BLOCK.search(text) is not None


def read(text: str, where: str) -> list[ForeignRow]:
    """Return the rows of a page, ours or GEAK's own.

    A block of ours names its product in a comment; another is known by `product:`, else by its gfx target, which
    `--as gfx950=MI355X` explains. Without a citation a rate is the dense one of the matrix units.
    """
    rows: list[ForeignRow] = []
    for block in _BLOCK.finditer(text):
        rows += _rows(block["body"], text.count("\n", 0, block.start("body")) + 1, where)
    return rows


def _rows(body: str, first: int, where: str) -> Iterator[ForeignRow]:
    named = re.search(r"^# platform: (\S+)$", body, re.MULTILINE)
    other = re.search(r"^product:\s*(\S+)", body, re.MULTILINE) or re.search(r"^gfx:\s*(\S+)", body, re.MULTILINE)
    platform = (named or other or [None, ""])[1] or ""
    for number, line in enumerate(body.split("\n"), first):
        match = _LINE.match(line)
        if match is None or not match["value"]:
            continue
        key, cited = match["key"], cited_key(match["comment"] or "")
        place = f"{where}:{number}"
        fields = {"platform": platform, "value": match["value"]}
        if key in _SCALARS and not match["indent"]:
            yield foreign_row({**fields, "metric": cited or _SCALARS[key][0], "unit": _SCALARS[key][1]}, place)
        elif key in _FLOPS and match["indent"]:
            dtype, engine = _FLOPS[key][0]
            metric = cited or f"peak_compute[dtype={dtype};engine={engine};sparsity=dense]"
            yield foreign_row({**fields, "metric": metric, "unit": "FLOP/s"}, place)
