"""KernelBench's `gpu_specs.py`: texts that its prompt shows a model, one dictionary a product.

Read in ScalingIntelligence/KernelBench, src/kernelbench/prompts: `_gpu_context_from_gpu_specs` runs the file, wants
GPU_SPEC_INFO, GPU_DEFINITIONS and GPU_BEST_PRACTICES, and prints `We have {value} of {key}`. Here dense and sparse
rates are keys of their own; the original writes both into one text. The original and its copies are read as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kopt_kb.base.errors import BadInput
from kopt_kb.wiki.collect import Collection, Peak, ProductPeaks, cited_key
from kopt_kb.wiki.foreign_row import ForeignRow, foreign_row

__all__ = ["read", "recognises", "render"]

_SPARSE = " with 2:4 sparsity"
_NAMES = {"bf16": "BFLOAT16", "fp64": "FP64", "fp32": "FP32"}
_DTYPES = ("fp64", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4", "mxfp8", "mxfp6", "mxfp4", "nvfp4", "int8", "int4")
_VECTOR = ("fp64", "fp32", "fp16")
_LIMITS: tuple[tuple[str, str, dict[str, str], str], ...] = (
    ("GPU Memory", "memory_capacity", {}, "{value} {unit}"),
    ("Memory Bandwidth", "memory_bandwidth", {}, "{value} {unit}"),
    ("Number of {sm}", "sm_count", {}, "{value}"),
    ("L2 cache", "l2_capacity", {}, "{value} {unit}"),
    ("Register File Size", "registers_per_sm", {"file": "gpr"}, "{value} 32-bit registers per SM"),
    ("Maximum number of registers per thread", "registers_per_thread", {"file": "gpr"}, "{value}"),
    ("Maximum number of registers per thread", "registers_per_thread", {"file": "vgpr"}, "{value}"),
    ("Maximum number of thread blocks per SM", "blocks_per_sm", {}, "{value}"),
    ("Shared memory capacity per {sm}", "shared_memory_per_sm", {}, "{value} {unit}"),
    ("Maximum shared memory per thread block", "shared_memory_per_block", {"mode": "optin"}, "{value} {unit}"),
    ("SIMDs per {sm}", "simds_per_sm", {}, "{value}"),
    ("Wavefront Size", "warp_size", {}, "{value}"),
    ("Workgroup Max Size", "threads_per_block", {}, "{value}"),
    ("Max Waves Per {sm}", "warps_per_sm", {}, "{value}"),
    ("Max Threads per {sm}", "threads_per_sm", {}, "{value}"),
)
"""Their key, our metric and conditions, and how the text reads."""

_TAIL = """
GPU_DEFINITIONS = {
    "Thread": "The unit that runs one stream of instructions.",
    "Warp": "Threads that issue together; a wavefront on AMD.",
    "Thread Block": "Threads on one SM or CU that share memory and can wait for each other.",
    "Shared Memory": "Memory of one SM or CU that the threads of a block share; LDS on AMD.",
    "Register": "The fastest storage, private to a thread.",
    "Memory Bandwidth": "Bytes a second between device memory and the GPU.",
}

GPU_BEST_PRACTICES = []
"""
_HEAD = '''"""GPU specs for KernelBench's prompts.

Written by `kb export peaks --for kernelbench` from {data}. Each value carries its citation; what nobody documents is
not here. Rates are dense unless the key says sparsity.
"""

GPU_SPEC_INFO = {{'''


def _rates(product: ProductPeaks) -> Iterator[tuple[str, Peak]]:
    core = "Tensor Core" if product.identity.vendor == "NVIDIA" else "Matrix Core"
    for dtype in _VECTOR:
        found = product.rate(dtype, "vector")
        if isinstance(found, Peak):
            yield f"{dtype.upper()} TFLOPS", found
    for dtype in ("fp64", "fp32", *_DTYPES[1:]):
        for sparsity, suffix in (("dense", ""), ("2:4", _SPARSE)):
            found = product.rate(dtype, "matrix", sparsity)
            if isinstance(found, Peak):
                unit = "TOPS" if dtype.startswith("int") else "TFLOPS"
                yield f"{_NAMES.get(dtype, dtype.upper())} {core} {unit}{suffix}", found


def _entry(product: ProductPeaks) -> Iterator[str]:
    one = product.identity
    amd = one.vendor != "NVIDIA"
    yield f'    "{one.platform}": {{'
    yield f'        "GPU Architecture": "{one.target if amd else one.arch}",'
    fields: dict[str, tuple[str, Peak]] = {}
    for title, metric, axes, words in _LIMITS:
        found = product.get(metric, **axes)
        if isinstance(found, Peak):
            text = words.format(value=found.row.value, unit=found.row.unit)
            fields.setdefault(title.format(sm="CU" if amd else "SM"), (text, found))
    for title, found in _rates(product):
        tera = found.si / 10**12
        fields[title] = (f"{float(tera):.12g}", found)
    for title, (text, found) in fields.items():
        yield f'        "{title}": "{text}",  # {found.cite}'
    yield "    },"


def render(found: Collection) -> dict[str, str]:
    """Return the file."""
    lines = [_HEAD.format(data=found.data)]
    for one in found.products:
        lines += _entry(one)
    return {"gpu_specs.py": "\n".join([*lines, "}", _TAIL])} if found.products else {}


def recognises(text: str) -> bool:
    """Whether a text is of this form."""
    return re.search(r"^GPU_SPEC_INFO\b", text, re.MULTILINE) is not None


_RATE = re.compile(
    r"^(?:peak )?(?P<dtype>fp64|fp32|tf32|bfloat16|bf16|fp16|fp8|fp6|fp4|mxfp\d|nvfp4|int8|int4|single-precision)\s*"
    r"(?P<core>tensore? core|tensor|matrix core)?\s*(?:tflops|tops)(?P<sparse> with 2:4 sparsity)?$",
    re.IGNORECASE,
)
_VALUE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z/]+)?")
_BOTH = re.compile(
    r"^(?P<first>\d+(?:\.\d+)?)(?P<alone> with sparsity)?(?: \((?P<second>\d+(?:\.\d+)?) with sparsity\))?$"
)


def _table(text: str, where: str) -> ast.Dict:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise BadInput(
            f"not Python: {error}", where=where, fix="give KernelBench's gpu_specs.py", code="KB057"
        ) from None
    for node in tree.body:
        named = isinstance(node, ast.Assign) and any(getattr(one, "id", "") == "GPU_SPEC_INFO" for one in node.targets)
        if named and isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            return node.value
    raise BadInput("no GPU_SPEC_INFO = {…}", where=where, fix="give KernelBench's gpu_specs.py", code="KB057")


def read(text: str, where: str) -> list[ForeignRow]:
    """Return the rows of a file, ours or KernelBench's own; it is parsed, never run.

    Keys that are not known are passed over: the form has no closed list of them.
    """
    lines = text.splitlines()
    rows: list[ForeignRow] = []
    products = _table(text, where)
    for name, entry in zip(products.keys, products.values, strict=True):
        if not isinstance(name, ast.Constant) or not isinstance(entry, ast.Dict):
            continue
        for key, value in zip(entry.keys, entry.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                comment = lines[value.lineno - 1].rpartition("#")[2]
                place = f"{where}:{value.lineno}"
                found = _fields(str(key.value), str(value.value), cited_key(comment))
                rows += [foreign_row({"platform": str(name.value), **one}, place) for one in found]
    return rows


def _fields(key: str, value: str, cited: str | None) -> Iterator[dict[str, str]]:
    rate = _RATE.match(key)
    if rate is not None:
        yield from _rate_fields(rate, value, cited)
        return
    for title, metric, axes, _ in _LIMITS:
        if key in {title.format(sm="SM"), title.format(sm="CU")}:
            match = _VALUE.search(value)
            unit = (match["unit"] or "count") if match else ""
            if (match and metric in {"memory_capacity", "memory_bandwidth", "l2_capacity"}) or "shared" in metric:
                unit = {"KB": "kB"}.get(unit, unit)
            else:
                unit = "count"
            own = f"{metric}[{';'.join(f'{axis}={word}' for axis, word in axes.items())}]" if axes else metric
            if match and not (cited and cited.partition("[")[2] != own.partition("[")[2]):
                yield {"metric": cited or own, "value": match["number"], "unit": unit}
                return


def _rate_fields(rate: re.Match[str], value: str, cited: str | None) -> Iterator[dict[str, str]]:
    """Yield the dense and the sparse rate that a text states; the original prints `989 with sparsity` for one."""
    dtype = rate["dtype"].lower().replace("bfloat16", "bf16").replace("single-precision", "fp32")
    engine = "matrix" if rate["core"] or dtype not in _VECTOR else "vector"
    unit = "TOPS" if dtype.startswith("int") else "TFLOPS"
    match = _BOTH.match(value)
    if match is None:
        return
    sparse = bool(match["alone"] or rate["sparse"])
    pairs = [(match["first"], "2:4" if sparse else "dense"), (match["second"], "2:4")]
    for number, sparsity in pairs:
        if number:
            metric = cited or f"peak_compute[dtype={dtype};engine={engine};sparsity={sparsity}]"
            yield {"metric": metric, "value": number, "unit": unit}
