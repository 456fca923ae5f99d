"""What words around a number say: number format, engine, sparsity, which metric, and whether it is a measurement."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = [
    "Meaning",
    "is_measured",
    "is_of_results",
    "is_of_system",
    "is_specified",
    "meanings",
    "said_sparsity",
    "spaced",
]

_DTYPES: dict[str, re.Pattern[str]] = {
    name: re.compile(rf"(?<![a-z0-9])(?:{words})(?![0-9a-z])")
    for name, words in {
        "fp64": "fp64|float64|f64|double|dp",
        "tf32": "tf32|xf32",
        "fp32": "fp32|float32|f32|single|sp",
        "bf16": "bf16|bfloat16|bfloat",
        "fp16": "fp16|float16|f16|half|fp ?16",
        "fp8": "fp8|float8|f8|e4m3\\w*|e5m2\\w*|bf8",
        "fp6": "fp6|mxfp6",
        "fp4": "fp4|mxfp4|nvfp4|f4",
        "int8": "int8|i8",
        "int4": "int4|i4",
    }.items()
}
_SAME = {"fp4": ("fp4", "mxfp4", "nvfp4"), "fp6": ("fp6", "mxfp6"), "fp8": ("fp8", "mxfp8")}
_MATRIX = re.compile(r"tensor|matrix|mfma|wmma|mma|xmx|\btc\b")
_VECTOR = re.compile(r"vector|non-?matrix|non-?tensor|cuda core|shader|valu|\bsm\b")
_SPARSE = re.compile(r"spars|2:4|structured")
_DENSE = re.compile(r"\bdense\b|no sparsity|without sparsity|non-?sparse|w/o sparsity")
_MEASURED = re.compile(
    r"achiev|attain|measur|observ|reach(?:es|ed|ing)?\b|sustain|effective|real[- ]world|empirical|realistic|practic|"
    r"utili[sz]|throughput of|speed-?up|faster|slower|improve|baseline|bench|microbench|profil(?:e|ed|ing)\b|\bgot\b|"
    r"\bgets?\b|\bhit(?:s|ting)?\b|\bruns? at\b|mamf|maf\b|mfu|hfu|efficien|actual|current(?:ly)?|result|our\b|ours\b|"
    r"target|goal|expect|project|kernels?\b|gemm|attention|cublas|hipblas|rocblas|cutlass|triton|"
    r"reference[ _](?:bandwidth|time|reach|tflops|impl)|nccl|rccl|all-?reduce|allgather|copy\b|stream\b|babelstream|"
    r"triad|memcpy|\bvs\.? peak|of peak|% of|percent|latency|budget|workload|requires?\b|needs?\b|consum|used\b|usage|"
    r"peak mem(?:ory)?\b(?! ?b)|max(?:imum)? mem(?:ory)?\b(?! ?b)|footprint|occup(?:y|ies)|fits?\b|threshold"
)
"""Words of what somebody measured, wants or needs."""
_RESULTS = re.compile(r"achiev|measur|empirical|bench|result|mamf|profiling|case stud|projection")
_SPECIFIED = re.compile(
    r"peak|theoretical|\bspec(?:s|ification|sheet)?\b|data-?sheet|dense|spars|\bmax(?:imum)?\b|ceiling|\broofs?\b|nominal|"
    r"rated|advertis|tensor core|matrix core|compute units|capabilit|hardware|tflops \(|hbm\d?e?|vram|gddr"
)
_SYSTEM = re.compile(
    r"\bnodes?\b|\bdgx\b|\bhgx\b|\bpods?\b|\bracks?\b|nvl72|cluster|\bsystem\b|\btotal\b|aggregate|\b[248] ?[x×]|"
    r"[x×] ?[248]\b|platform|\b8[- ]gpus?\b|\bgpus\b.{0,20}\btotal|per server|superchip|combined|together|"
    r"\badds\b|sum of|\bexaflops?\b"
)
_EACH = re.compile(r"per gpu|/ ?gpu\b|each gpu")
_PART = re.compile(
    r"per (?:cu|sm|xcd|gcd|die|core|block|wave|warp|thread|link|lane|pin|stack|clock|cycle|wgp|simd|se)\b|"
    r"/(?:cu|sm|xcd|clk)\b"
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a number can be: a metric and the conditions that the text states."""

    metric: str
    axes: tuple[tuple[str, str], ...] = ()


def spaced(text: str) -> str:
    """Return a text in small letters with identifiers taken apart: `peakTflops_bf16` is `peak tflops bf16`."""
    return re.sub(r"_+", " ", re.sub(r"([a-z])([A-Z])", r"\1 \2", text)).casefold()


def is_measured(words: str) -> bool:
    """Whether a text speaks of what somebody got, wants or needs, and not of what a part has."""
    return _MEASURED.search(words) is not None


def is_of_results(title: str) -> bool:
    """Whether a title is above what somebody measured."""
    return _RESULTS.search(title) is not None


def is_specified(words: str) -> bool:
    """Whether a text speaks of what a part is specified for."""
    return _SPECIFIED.search(words) is not None


def is_of_system(words: str) -> bool:
    """Whether a text speaks of several GPUs together."""
    return _SYSTEM.search(words) is not None and _EACH.search(words) is None


def said_sparsity(words: str) -> str:
    """Return `dense`, `2:4`, or nothing where a text says neither or both."""
    dense, sparse = _DENSE.search(words) is not None, _SPARSE.search(_DENSE.sub("", words)) is not None
    return "" if dense == sparse else "dense" if dense else "2:4"


def _rates(words: str) -> list[Meaning]:
    dtypes = [name for name, pattern in _DTYPES.items() if pattern.search(words)]
    matrix, vector = _MATRIX.search(words) is not None, _VECTOR.search(words) is not None
    engine = "matrix" if matrix and not vector else "vector" if vector and not matrix else ""
    found = []
    for dtype in (one for name in dtypes for one in _SAME.get(name, (name,))):
        axes = [("dtype", dtype)]
        if engine or dtype not in {"fp64", "fp32"}:
            axes.append(("engine", engine or "matrix"))
        found.append(Meaning("peak_compute", tuple(axes)))
    return found


_PLACES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    # dimension, words, metrics; the first whose words stand there is meant
    ("B/s", r"hbm\d?e?\b|gddr\d?|vram|\bdram\b", ("memory_bandwidth",)),
    ("B/s", r"c2c", ("host_bandwidth:nvlink_c2c",)),
    ("B/s", r"nvlink|nv-link", ("link_bandwidth:nvlink",)),
    ("B/s", r"xgmi|infinity fabric|\bif link", ("link_bandwidth:infinity",)),
    (
        "B/s",
        r"pci-?e(?!'?s? (?:sku|part|card|variant|version|board|model|edition|form))",
        ("host_bandwidth:pcie", "link_bandwidth:pcie"),
    ),
    ("B/s", r"host", ("host_bandwidth",)),
    ("B/s", r"\bl2\b", ("l2_bandwidth",)),
    ("B/s", r"infinity cache|\bllc\b|\bmall\b|\bl3\b", ("llc_bandwidth",)),
    (
        "B/s",
        r"\bl1\b|lds|smem|shared|register|tmem|network|nic\b|ethernet|infiniband|\bib\b|rdma|roce|ssd|disk|nvme|cpu|ddr[45]|link|p2p",
        (),
    ),
    ("B/s", r"hbm|memory|\bmem\b|dram|vram|gddr", ("memory_bandwidth",)),
    ("B/s", r"bandwidth|\bbw\b", ("memory_bandwidth",)),
    ("B", r"infinity cache|\bllc\b|\bmall\b|\bl3\b", ("llc_capacity",)),
    ("B", r"\bl2\b", ("l2_capacity",)),
    ("B", r"tmem|tensor memory", ("tensor_memory_per_sm",)),
    (
        "B",
        r"\blds\b|\bsmem\b|shared mem|shared memory",
        ("shared_memory_per_sm", "shared_memory_per_block", "l1_shared_pool"),
    ),
    (
        "B",
        r"register|vgpr|sgpr|\brf\b|cache|\bl[01]\b|instruction|constant|scratch|page|(?<!v)ram\b|system|host|cpu|ddr[45]|ssd",
        (),
    ),
    ("B", r"hbm|vram|gddr|memory|capacity", ("memory_capacity",)),
    ("Hz", r"mem(?:ory)?|mclk|hbm|gddr|fabric|cpu", ()),
    ("Hz", r"boost|(?:max|maximum|peak) (?:engine )?(?:clock|freq)", ("sm_clock:boost", "sm_clock:max")),
    ("Hz", r"base (?:clock|freq)", ("sm_clock:base",)),
    ("W", r"\btdp\b|\btbp\b|\btgp\b|power|watt", ("board_power",)),
    ("bit", r"bus|interface|memory", ("memory_bus_width",)),
    ("count", "", ("sm_count",)),
)  # fmt: skip
_PATTERNS = tuple((dimension, re.compile(words), metrics) for dimension, words, metrics in _PLACES)


def _metric(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return metric and axes of `metric` or `metric:word`: a clock's class, or how the name of a link begins."""
    metric, _, word = text.partition(":")
    axis = "class" if metric == "sm_clock" else "link"
    return metric, (((axis, word),) if word else ())


def meanings(dimension: str, words: str) -> list[Meaning]:
    """Return what a number of this dimension can be under these words, in small letters; empty when they don't say."""
    if dimension == "op/s":
        return [] if _PART.search(words) else _rates(words)
    if _PART.search(words) and dimension in {"B/s", "count"}:
        return []
    for one, pattern, metrics in _PATTERNS:
        if one == dimension and pattern.search(words):
            return [Meaning(*_metric(one)) for one in metrics]
    return []
