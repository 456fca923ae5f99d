"""Measured ceilings of the GPU in this machine: streams over footprints, matrix products over types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

from kopt_kb.base.errors import FindingError, MissingTool
from kopt_kb.base.wire import Text, Wire
from kopt_kb.launch.kernel.idle import CacheRecord, IdleRecord, cache_records, launch_records
from kopt_kb.launch.kernel.timing import measure, summarise
from kopt_kb.problem.dtypes import format_of
from kopt_kb.sandbox.process import ChildLimits, run
from kopt_kb.sandbox.process import environment as child_environment

__all__ = [
    "FOOTPRINTS",
    "GEMM_SHAPES",
    "AnyRecord",
    "CeilingEnvironment",
    "CeilingsRun",
    "ProductRecord",
    "StreamRecord",
    "bandwidth_records",
    "compute_records",
    "environment",
    "require_gpu",
    "run_records",
]  # fmt: skip

FOOTPRINTS = tuple(1 << power for power in (23, 24, 25, 26, 27, 28, 29, 30, 32, 33))
"""Bytes moved: 8 MiB to 8 GiB. The caches are flushed before each run, so that small footprints come from memory too;
their rates are those of one launch, its start included."""

GEMM_SHAPES = ((4096, 4096, 4096), (8192, 8192, 8192), (16384, 8192, 8192))

GEMM_TYPES = {
    "bf16": ("matrix", "fp32"),
    "fp16": ("matrix", "fp32"),
    "tf32": ("matrix", "fp32"),
    "fp8": ("matrix", "fp32"),
    "int8": ("matrix", "int32"),
    "fp32": ("vector", "fp32"),
    "fp64": ("matrix", "fp64"),
}
"""dtype → engine and accumulator of the library's product."""

_SLOW = {"fp32", "fp64"}
_SLOW_FLOPS = 2 * 8192**3
"""Types far from their matrix rate are only measured up to this many operations a product."""

CeilingEnvironment = Mapping[str, str | int | None]
"""Device, driver, clocks and versions as found, by name."""


@dataclass(frozen=True, slots=True)
class StreamRecord(Wire):
    """A stream's fastest configuration at one footprint.

    Attributes:
        pattern: `copy`, `read`, `write` or `triad`.
        bytes: Bytes read plus bytes written.
        config: Launch configuration, or `torch` for the library's own.
        spread_pct: As `Samples.spread_pct`.
        rate_per_s: Bytes over the median.
    """

    pattern: Text
    bytes: int
    config: Mapping[str, int] | str
    median_s: float
    spread_pct: float
    count: int
    rate_per_s: float

    @property
    def label(self) -> str:
        """Pattern and footprint in a few words."""
        return f"{self.pattern} {self.bytes} B"


@dataclass(frozen=True, slots=True)
class ProductRecord(Wire):
    """The vendor library's matrix product of one type and shape.

    Attributes:
        acc: Type of the accumulator.
        data: What the operands hold.
        rate_per_s: Operations over the median.
    """

    dtype: Text
    engine: Text
    acc: Text
    shape: Text
    data: Text
    median_s: float
    spread_pct: float
    count: int
    rate_per_s: float

    @property
    def label(self) -> str:
        """Type, engine and shape in a few words."""
        return f"{self.dtype} {self.engine} {self.shape}"


AnyRecord: TypeAlias = StreamRecord | ProductRecord | CacheRecord | IdleRecord


@dataclass(frozen=True, slots=True)
class CeilingsRun(Wire):
    """A run of `kb bench bandwidth` or `kb bench ceilings`, with the environment before and after.

    Attributes:
        environment_after: Empty while the run goes on.
        cached: None when not measured, as `launches`.
    """

    WIRE: ClassVar = (
        "command", "environment", "bandwidth", "compute", "environment_after", "cached?", "launches?",
    )  # fmt: skip
    command: Text
    environment: CeilingEnvironment
    bandwidth: tuple[StreamRecord, ...]
    compute: tuple[ProductRecord, ...]
    environment_after: CeilingEnvironment
    cached: tuple[CacheRecord, ...] | None = None
    launches: tuple[IdleRecord, ...] | None = None

    def plus(self, record: AnyRecord) -> CeilingsRun:
        """Return this run with one more record."""
        match record:
            case StreamRecord():
                return replace(self, bandwidth=(*self.bandwidth, record))
            case ProductRecord():
                return replace(self, compute=(*self.compute, record))
            case CacheRecord():
                return replace(self, cached=(*(self.cached or ()), record))
            case IdleRecord():
                return replace(self, launches=(*(self.launches or ()), record))


def require_gpu() -> str:
    """Return the name of the GPU that kernels can run on here.

    Raises:
        MissingTool: No torch, triton or GPU.
    """
    try:
        import torch
        import triton  # noqa: F401 - kernels need it
    except ImportError as error:
        raise MissingTool(f"{error.name} is not installed", fix="install kopt-kb[gpu]", code="KB120") from error
    if not torch.cuda.is_available():
        raise MissingTool("no GPU is visible to torch", fix="run on a machine with a GPU", code="KB122")
    return str(torch.cuda.get_device_name(0))


def environment() -> CeilingEnvironment:
    """Return device, driver, clocks and versions as found; nothing is changed.

    Raises:
        MissingTool: No torch, triton or GPU.
    """
    require_gpu()
    import torch
    import triton

    properties = torch.cuda.get_device_properties(0)
    return {
        "device": properties.name,
        "total_memory_bytes": properties.total_memory,
        "sm_count": properties.multi_processor_count,
        "l2_bytes": properties.L2_cache_size,
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": torch.version.cuda or torch.version.hip,
        **_smi(),
    }


def _smi() -> dict[str, str]:
    """Return driver, clocks, power limit and bus fields of nvidia-smi; empty where it is absent."""
    names = (
        "driver_version,clocks.max.sm,clocks.max.mem,clocks.sm,clocks.mem,power.limit,persistence_mode,ecc.mode.current"
    )
    command = ["nvidia-smi", f"--query-gpu={names}", "--format=csv,noheader", "--id=0"]
    try:
        done = run(command, env=child_environment(), limits=ChildLimits(30.0))
    except OSError:
        return {}
    cells = done.stdout.decode(errors="replace").strip().split(",")
    return {} if done.code else dict(zip(names.split(","), (cell.strip() for cell in cells), strict=False))


def bandwidth_records(
    patterns: Iterable[str], footprints: Iterable[int] = FOOTPRINTS, *, rounds: int = 50
) -> Iterator[StreamRecord]:
    """Yield the fastest configuration of each pattern and footprint, its result checked, the L2 flushed each run."""
    from kopt_kb.kernels import streams

    environment()
    sizes = tuple(footprints)
    for pattern in patterns:
        for footprint in sizes:
            best: StreamRecord | None = None
            for config in (*streams.CONFIGS, *([None] if pattern in streams.LIBRARY else [])):
                run, moved, is_right = streams.stream(pattern, footprint, config)  # type: ignore[no-untyped-call]
                (times,) = measure([run], rounds=rounds)
                if not is_right():
                    raise FindingError(
                        f"{pattern} of {moved} bytes gave a wrong result", fix="nothing was recorded", code="KB089"
                    )
                timed = summarise(times)
                record = StreamRecord(
                    pattern, moved, config or "torch", timed.median_s, timed.spread_pct, timed.count,
                    moved / timed.median_s,
                )  # fmt: skip
                best = record if best is None or record.rate_per_s > best.rate_per_s else best
            if best is not None:
                yield best


def _gemm(dtype: str, shape: tuple[int, int, int]) -> Callable[[], object]:
    """Return one product of the vendor's library on random data; [M, K] x [K, N]."""
    import torch

    m, n, k = shape
    generator = torch.Generator(device="cuda").manual_seed(0)

    def draw(rows: int, columns: int, kind: torch.dtype) -> torch.Tensor:
        if kind == torch.int8:
            return torch.randint(-128, 128, (rows, columns), generator=generator, device="cuda", dtype=torch.int8)
        return torch.randn(rows, columns, generator=generator, device="cuda").to(kind)

    if dtype == "fp8":
        a, b = draw(m, k, torch.float8_e4m3fn), draw(n, k, torch.float8_e4m3fn).t()
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    if dtype == "int8":
        left, right = draw(m, k, torch.int8), draw(n, k, torch.int8).t()
        return lambda: torch._int_mm(left, right)
    storage = format_of(dtype)
    kind = torch.float32 if storage is None else getattr(torch, storage.torch)
    x, y = draw(m, k, kind), draw(k, n, kind)
    return lambda: torch.mm(x, y)


def compute_records(dtypes: Iterable[str] = tuple(GEMM_TYPES), *, rounds: int = 30) -> Iterator[ProductRecord]:
    """Yield the rate of the vendor library's matrix product of each type and shape, on random data."""
    import torch

    environment()
    for dtype in dtypes:
        engine, accumulator = GEMM_TYPES[dtype]
        for shape in GEMM_SHAPES:
            flops = 2 * shape[0] * shape[1] * shape[2]
            if dtype in _SLOW and flops > _SLOW_FLOPS:
                continue
            torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
            (times,) = measure([_gemm(dtype, shape)], rounds=rounds, warmup=5)
            text = "x".join(str(one) for one in shape)
            timed = summarise(times)
            yield ProductRecord(
                dtype, engine, accumulator, text, "random", timed.median_s, timed.spread_pct, timed.count,
                flops / timed.median_s,
            )  # fmt: skip
            torch.cuda.empty_cache()


def run_records(action: str, *, rounds: int = 50) -> Iterator[AnyRecord]:
    """Yield the records of `kb bench bandwidth` or `kb bench ceilings`, what is quick first."""
    environment()
    if action == "ceilings":
        yield from launch_records()
        yield from cache_records()
        yield from compute_records()
    yield from bandwidth_records(("copy", "read", "write", "triad"), rounds=rounds)
