"""A fused-MoE layer as a problem: experts, tokens, experts of a token, widths, routing; its work in closed form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.moe_launch import Assumed, MoeLayer
from kopt_kb.packs.tables.routing import BALANCED, Routing
from kopt_kb.problem.counts import FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import format_of
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.tuned_table import TunedTable
from kopt_kb.problem.work import Work

__all__ = ["OP", "MoeProblem", "problem_of"]

OP = "fused_moe"
_DEFINITIONS = (
    ("operation", "y = sum over a token's experts of weight · w2 (silu(w1 x) up): w1 of 2N x K, w2 of K x N an expert"),
    ("flops", "both products, 6NK a row of an expert, on the matrix engine; gate, weights and sum, 5N + 2K, in fp32"),
    ("bytes", "rows, weights of the experts that have any, scales, experts and weights of tokens once read; y written"),
    ("special", "one exponential an element of the gate"),
)
_FP32, _INT32 = 4, 4


@dataclass(frozen=True, slots=True)
class MoeProblem:
    """One layer for a number of tokens.

    Attributes:
        layer: The table's layer: experts, width of a shard, types, scales; depth and experts of a token.
        tokens: Tokens.
        routing: How they fall on experts.
        naive: Whether the engine gives each row a tile of its own, as vLLM does with few tokens.
    """

    layer: MoeLayer
    tokens: int
    routing: Routing = BALANCED
    naive: bool = False

    @property
    def shape(self) -> Shape:
        """Tokens, experts, experts of a token, depth, width."""
        table, assumed = self.layer.table, self.layer.assumed
        return (self.tokens, table.shape["E"], assumed.top_k, assumed.hidden, table.shape["N"])

    @property
    def dtype(self) -> str:
        """Type of the result: bf16 or fp16."""
        known = format_of(self.layer.assumed.dtype)
        return known.dtype if known is not None else self.layer.assumed.dtype

    @property
    def scales(self) -> str:
        """What shares a scale: block, channel, tensor; empty without scales."""
        if self.layer.table.block_shape:
            return "block"
        if self.layer.is_per_channel or self.layer.table.dtype == "int8_w8a16":
            return "channel"
        return "tensor" if self.layer.table.dtype else ""

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows of each expert."""
        tokens, experts, top_k, *_ = self.shape
        return self.routing.rows(tokens, top_k, experts)

    def constants(self) -> Mapping[str, object]:
        """Return what the op file is told, as plain values."""
        return {
            "dtype": self.dtype, "element": self.layer.element, "activation": self.layer.activation,
            "scales": self.scales, "block": self.layer.table.block_shape or (0, 0), "counts": self.rows,
            "fixed": bool(self.routing.counted), "naive": self.naive,
        }  # fmt: skip

    def work(self) -> Work:
        """Return operations by product and compulsory bytes, exact for this routing."""
        tokens, _, top_k, hidden, width = self.shape
        routed, active = tokens * top_k, sum(1 for one in self.rows if one)
        element, activation = (format_of(one) for one in (self.layer.element, self.layer.activation))
        if element is None or activation is None:
            raise BadInput(f"{self.layer.element} is no type that is known", where=self.layer.table.file, code="KB061")
        weights = active * 3 * width * hidden * element.bits // 8
        read = tokens * hidden * activation.bits // 8 + weights + routed * (_FP32 + _INT32) + self._scale_bytes(active)
        return Work(
            op=OP,
            shape=self.shape,
            dtype=self.dtype,
            flops=(
                FlopCount(activation.dtype, "matrix", exact(6 * routed * width * hidden)),
                FlopCount("fp32", "vector", exact(routed * (5 * width + 2 * hidden))),
            ),
            bytes=dram(read, tokens * hidden * 2),
            special=(SpecialCount("exp", "fp32", exact(routed * width)),),
            definitions=_DEFINITIONS,
        )

    def _scale_bytes(self, active: int) -> int:
        tokens, _, _, hidden, width = self.shape
        reads_scaled = self.layer.activation == self.layer.element and bool(self.scales)
        if self.scales == "block":
            group_n, group_k = self.layer.table.block_shape
            deep, wide = -(-hidden // group_k), -(-width // group_k)
            weights = -(-2 * width // group_n) * deep + -(-hidden // group_n) * wide
            return _FP32 * (tokens * deep + active * weights)
        if self.scales == "channel":
            return _FP32 * ((tokens if reads_scaled else 0) + active * (2 * width + hidden))
        return _FP32 * (2 + 2 * active) if self.scales == "tensor" else 0


def problem_of(table: TunedTable, tokens: int, target: str, assumed: Assumed, routing: Routing) -> MoeProblem:
    """Return the problem of a table's layer.

    Raises:
        BadInput: The layer is none that is timed: of the second product alone, or of 4-bit weights.
    """
    if table.product == "down":
        what = "is of the second product alone, and a layer is timed whole"
        raise BadInput(what, where=table.file, fix="give the table of both products", code="KB116")
    if table.engine not in {"vllm", "sglang"}:
        what = "nothing says which engine reads it: no folder above it is called vllm or sglang"
        raise BadInput(what, where=table.file, fix="name it where the engine keeps it", code="KB116")
    layer = MoeLayer(table, target, assumed)
    few = tokens * assumed.top_k * 4 <= table.shape["E"]
    return MoeProblem(layer, tokens, routing, naive=table.engine == "vllm" and few)
