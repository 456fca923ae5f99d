"""What libraries do instead of a packaged kernel: eager, compiled, Liger, attentions, cuBLASLt's heuristics."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own name for it


def eager() -> dict[str, Callable[..., Any]]:
    return {
        "rms_norm": lambda x, w: F.rms_norm(x, (x.shape[1],), w, 1e-6),
        "layer_norm": lambda x, w, b: F.layer_norm(x, (x.shape[1],), w, b, 1e-5),
        "softmax": lambda x: torch.softmax(x, dim=-1),
        "swiglu": lambda a, b: F.silu(a) * b,
        "cross_entropy": lambda x, t: F.cross_entropy(x, t, reduction="none"),
        "matmul": torch.mm,
    }


def compiled(name: str) -> Callable[..., Any]:
    return torch.compile(eager()[name], mode="max-autotune-no-cudagraphs", dynamic=False)


def liger(name: str) -> Callable[..., Any]:
    """Return Liger's function; raises ImportError where it has none or is not installed."""
    if name in {"rms_norm", "softmax", "swiglu"}:
        from liger_kernel import ops

        function = {"rms_norm": "LigerRMSNormFunction", "softmax": "LigerSoftmaxFunction"}.get(name)
        apply = getattr(ops, function or "LigerSiLUMulFunction").apply
        return (lambda x, w: apply(x, w, 1e-6)) if name == "rms_norm" else apply
    if name == "layer_norm":
        from liger_kernel.ops import LigerLayerNormFunction

        return lambda x, w, b: LigerLayerNormFunction.apply(x, w, b, 1e-5)
    raise ImportError(f"Liger has no {name} of rows without a gradient")


def sdpa(backend: str) -> Callable[..., Any]:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def attend(q: Any, k: Any, v: Any) -> Any:
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    return attend


class CublasLt:
    """Matrix products by the algorithms that cuBLASLt's heuristics return."""

    def __init__(self) -> None:
        self.lib = ctypes.CDLL(f"libcublasLt.so.{(torch.version.cuda or '12').split('.')[0]}")
        self.handle, self.one, self.zero = ctypes.c_void_p(), ctypes.c_float(1), ctypes.c_float(0)
        self.call("Create", ctypes.byref(self.handle))
        self.space = torch.empty(64 << 20, dtype=torch.int8, device="cuda")

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.lib, f"cublasLt{name}")(*arguments)
        if status:
            raise RuntimeError(f"cublasLt{name} answers {status}")

    def made(self, name: str, *arguments: Any) -> ctypes.c_void_p:
        found = ctypes.c_void_p()
        self.call(name, ctypes.byref(found), *arguments)
        return found

    def algorithms(self, rows: int, cols: int, depth: int, most: int = 32) -> dict[str, Callable[..., Any]]:
        """Return name → function of (inputs, out) for row-major products: the transposed ones, column-major."""
        wide = ctypes.c_int64
        description = self.made("MatmulDescCreate", 68, 0)  # CUBLAS_COMPUTE_32F, CUDA_R_32F
        b, a, c = (
            self.made("MatrixLayoutCreate", 14, wide(m), wide(n), wide(m))  # CUDA_R_16BF
            for m, n in ((cols, depth), (depth, rows), (cols, rows))
        )
        preference, limit = self.made("MatmulPreferenceCreate"), ctypes.c_uint64(self.space.numel())
        self.call("MatmulPreferenceSetAttribute", preference, 1, ctypes.byref(limit), ctypes.c_size_t(8))
        results, count = (ctypes.c_uint64 * (12 * most))(), ctypes.c_int()
        self.call(
            "MatmulAlgoGetHeuristic", self.handle, description, b, a, c, c, preference, most, results,
            ctypes.byref(count),
        )  # fmt: skip

        def function(place: int) -> Callable[..., Any]:
            algorithm = ctypes.c_void_p(ctypes.addressof(results) + 96 * place)

            def run(inputs: Any, out: Any) -> Any:
                keep = results  # the algorithm lies in them
                left, right, result = (ctypes.c_void_p(one.data_ptr()) for one in (*inputs, out))
                stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
                self.call(
                    "Matmul", self.handle, description, ctypes.byref(self.one), right, b, left, a,
                    ctypes.byref(self.zero), result, c, result, c, algorithm,
                    ctypes.c_void_p(self.space.data_ptr()), ctypes.c_size_t(self.space.numel()), stream,
                )  # fmt: skip
                return out if keep is results else None

            return run

        return {f"cublaslt_{place}": function(place) for place in range(count.value)}
