"""What a row of a fused-MoE table launches: the two products of a layer, with the arguments that the engines pass.

A table does not say the depth of the first product, the number of experts a token goes to, and the type of the
activations; `Assumed` does, and the page says what was assumed. Extents reach a kernel as what Triton specialises on
(one, divisible by 16), so that another depth gives the same code object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.request import Given, KernelCase
from kopt_kb.packs.tables.engine import TableEngine
from kopt_kb.problem.tuned_table import Setting, TunedRow, TunedTable

__all__ = ["ASSUMED", "Assumed", "MoeLayer", "check_layer", "launches_fused_moe", "unread_fused_moe"]

_FILES: Mapping[str, tuple[str, ...]] = {
    "vllm": ("vllm/model_executor/layers/fused_moe/fused_moe.py",),
    "sglang": (
        "sglang/kernels/ops/moe/fused_moe_triton_kernels.py",
        "sglang/srt/layers/moe/fused_moe_triton/fused_moe_triton_kernels.py",
        "sglang/srt/layers/moe/fused_moe_triton/fused_moe.py",
    ),
}
_TYPES: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    "vllm": ((("vllm/model_executor/layers/fused_moe/config.py",), "_get_config_dtype_str"),),
    "sglang": (
        (
            (
                "sglang/srt/layers/moe/moe_runner/triton_utils/fused_moe_triton_config.py",
                "sglang/srt/layers/moe/fused_moe_triton/fused_moe_triton_config.py",
            ),
            "get_config_dtype_str",
        ),
    ),
}
_KERNEL = "fused_moe_kernel"
_SHORT = {"bfloat16": "bf16", "float16": "fp16"}
_QUANTISED = {"fp8_w8a8": "float8_e4m3fn", "int8_w8a8": "int8"}
_FNUZ = ("gfx940", "gfx941", "gfx942")
_SWAPPED_TARGET = "sm_90"
_SWAPPED_BELOW_M, _SWAPPED_FROM_N = 64, 64
_EARLY_TOKENS = 512
_TMA_FROM = 9
_AXES = 2


@dataclass(frozen=True, slots=True)
class Assumed:
    """What no table says.

    Attributes:
        hidden: Depth of the first product and columns of the second.
        top_k: Experts that a token goes to.
        dtype: Type of the activations.
    """

    hidden: int = 4096
    top_k: int = 8
    dtype: str = "bfloat16"


ASSUMED = Assumed()


@dataclass(frozen=True, slots=True)
class MoeLayer:
    """A table's layer on a target."""

    table: TunedTable
    target: str
    assumed: Assumed = ASSUMED

    @property
    def element(self) -> str:
        """Type of a weight."""
        if self.table.dtype == "int8_w8a16":
            return "int8"
        named = _QUANTISED.get(self.table.dtype, self.assumed.dtype)
        return f"{named}uz" if named == "float8_e4m3fn" and self.target in _FNUZ else named

    @property
    def activation(self) -> str:
        """Type of an activation as the product reads it."""
        return self.element if self.table.dtype in _QUANTISED else self.assumed.dtype

    @property
    def is_per_channel(self) -> bool:
        """Whether weights have a scale a column, and activations one a token."""
        return not self.table.block_shape and (
            "per_channel_quant" in self.table.facts or self.table.dtype == "int8_w8a8"
        )


def launches_fused_moe(
    table: TunedTable, row: TunedRow, root: Path, target: str, assumed: Assumed = ASSUMED
) -> tuple[KernelCase, ...]:
    """Return the launches of a row for a target, the first product before the second.

    Raises:
        BadInput: The settings make the kernel wrong (KB081); or the name does not say enough for the engine's kernel,
            or the engine has none.
    """
    engine = TableEngine(table.engine, root)
    if table.kernel != "fused_moe":
        raise BadInput(f"rows are for {table.kernel}, no Triton kernel", where=table.file, code="KB116")
    check_layer(table)
    path = engine.file(_FILES.get(engine.name, ()))
    if path is None:
        raise BadInput(f"has no {_KERNEL}", where=str(engine.root), fix="name another folder of it", code="KB110")
    layer = MoeLayer(table, target, assumed)
    _check_scales(table, row)
    products = (1,) if table.product == "down" else (0, 1)
    return tuple(_launch(layer, row, engine.name, str(path), one) for one in products)


def check_layer(table: TunedTable) -> None:
    """Refuse a layer whose arguments the name of its table doesn't tell; raises `BadInput`."""
    if table.dtype == "int4_w4a16":
        what = "its name does not say how many weights share a scale, which the kernel is compiled for"
        raise BadInput(what, where=table.file, code="KB116")
    if table.dtype not in {"", "int8_w8a16", *_QUANTISED}:
        what = f"dtype={table.dtype} is no type whose arguments are known"
        raise BadInput(what, where=table.file, code="KB116")
    if table.block_shape and (len(table.block_shape) != _AXES or 0 in table.block_shape):
        what = f"block_shape={list(table.block_shape)} is no block of rows and columns"
        raise BadInput(what, where=table.file, code="KB116")


def unread_fused_moe(table: TunedTable, root: Path) -> str:
    """Return why an engine never asks for a table of this name, by the words that its own code returns for types."""
    engine = TableEngine(table.engine, root)
    if table.kernel != "fused_moe":
        return ""
    for places, function in _TYPES.get(engine.name, ()):
        words = engine.words(places, function)
        if words is not None and table.dtype not in words:
            known = ", ".join(sorted(words - {""}))
            return f"dtype={table.dtype} is no type that {function} of {engine.name} returns ({known})"
    spaced = f",block_shape=[{', '.join(map(str, table.block_shape))}]"
    written = spaced if engine.name == "sglang" else spaced.replace(" ", "")
    if table.block_shape and written not in table.file:
        return f"{engine.name} writes {written[1:]} into the name that it asks for"
    if table.product == "down" and engine.name == "vllm":
        return "vllm asks for no table of the second product alone"
    return ""


def _check_scales(table: TunedTable, row: TunedRow) -> None:
    """Refuse a tile that is deeper than a block which shares a scale: the kernel reads one scale a tile."""
    block_k = row.settings["BLOCK_SIZE_K"]
    if table.engine == "vllm" or not table.block_shape or not isinstance(block_k, int):
        return  # vLLM's launcher makes the tile no deeper than the block
    group_k = table.block_shape[1]
    if group_k % block_k:
        what = f"a tile {block_k} deep takes one scale, of which a block {group_k} deep has its own"
        raise BadInput(what, where=table.file, fix=f"a BLOCK_SIZE_K that divides {group_k}", code="KB081")


def _launch(layer: MoeLayer, row: TunedRow, engine: str, file: str, product: int) -> KernelCase:
    table, hidden = layer.table, layer.assumed.hidden
    width = table.shape["N"]
    columns, depth = (2 * width, hidden) if product == 0 else (hidden, width)
    settings = dict(row.settings)
    uses_tma = bool(settings.pop("USE_TMA", False)) and engine == "sglang" and _major(layer.target) >= _TMA_FROM
    constants = _constants(layer, settings, product, depth, engine)
    constants |= {name: value for name, value in settings.items() if name.isupper()}
    constants["c_sorted"] = uses_tma and table.product == "down"
    options = {name: value for name, value in settings.items() if not name.isupper()}
    if engine == "sglang" and _major(layer.target) >= _TMA_FROM:
        constants |= {"USE_GDC": True, "GDC_EARLY": row.sizes["tokens"] <= _EARLY_TOKENS}
        options["launch_pdl"] = True
    arguments = _arguments(layer, row, columns, depth)
    if uses_tma:
        arguments |= _descriptors(layer, settings, columns, depth, both=table.product == "down")
    return KernelCase(file, _KERNEL, arguments, constants, options)


def _major(target: str) -> int:
    """Return the generation of an NVIDIA target; 0 for any other."""
    return int(target[3:]) // 10 if target.startswith("sm_") else 0


def _constants(
    layer: MoeLayer, settings: dict[str, Setting], product: int, depth: int, engine: str
) -> dict[str, object]:
    table = layer.table
    group_n, group_k = table.block_shape or (0, 0)
    block_k = settings["BLOCK_SIZE_K"]
    assert isinstance(block_k, int)  # noqa: S101 - the form refuses any other
    if engine == "vllm":
        settings["SPLIT_K"] = 1
        if table.block_shape:
            settings["BLOCK_SIZE_K"] = min(block_k, *table.block_shape)
    is_fp8 = table.dtype == "fp8_w8a8"
    swapped = is_fp8 and layer.target == _SWAPPED_TARGET and _swaps(settings)
    return {
        "group_n": group_n, "group_k": group_k, "naive_block_assignment": False, "MUL_ROUTED_WEIGHT": product == 1,
        "top_k": layer.assumed.top_k if product == 0 else 1,
        "compute_type": {"triton.dtype": _SHORT[layer.assumed.dtype]},
        "use_fp8_w8a8": is_fp8, "use_int8_w8a8": table.dtype == "int8_w8a8",
        "use_int8_w8a16": table.dtype == "int8_w8a16", "per_channel_quant": layer.is_per_channel,
        "HAS_BIAS": False, "SWAP_AB": swapped, "swap_ab": swapped, "even_Ks": depth % block_k == 0,
        "FUSE_ADD_TO_OUTPUT": False, "MASK_OUTPUT": False, "FUSE_SUM_ALL_REDUCE": False, "ROUTER_TOPK": 1,
    }  # fmt: skip


def _swaps(settings: Mapping[str, Setting]) -> bool:
    """Return whether the engines compute the product transposed on Hopper: few tokens of a tile, many columns."""
    block_m, block_n = settings["BLOCK_SIZE_M"], settings["BLOCK_SIZE_N"]
    return (
        isinstance(block_m, int)
        and isinstance(block_n, int)
        and block_m < _SWAPPED_BELOW_M
        and block_n >= _SWAPPED_FROM_N
    )


def _arguments(layer: MoeLayer, row: TunedRow, columns: int, depth: int) -> dict[str, Given]:
    table, assumed = layer.table, layer.assumed
    tokens, experts = row.sizes["tokens"], table.shape["E"]
    has_scales = bool(table.dtype)
    reads_scaled = table.dtype in _QUANTISED
    if table.block_shape:
        blocks_n, blocks_k = -(-columns // table.block_shape[0]), -(-depth // table.block_shape[1])
        strides_a, strides_b = (blocks_k, 1), (blocks_n * blocks_k, 1, blocks_k)
    elif layer.is_per_channel:
        strides_a, strides_b = (1, 1), (columns, 0, 1)
    elif table.dtype == "int8_w8a16":
        strides_a, strides_b = (0, 0), (columns, 0, 1)
    else:
        strides_a, strides_b = (0, 0), (1 if has_scales else 0, 0, 0)
    routed = tokens * assumed.top_k
    return {
        "a_ptr": TensorSpec((tokens, depth), layer.activation), "a_desc": None, "b_desc": None,
        "b_ptr": TensorSpec((experts, columns, depth), layer.element),
        "c_ptr": TensorSpec((tokens, assumed.top_k, columns), assumed.dtype), "b_bias_ptr": None, "bias_ptr": None,
        "a_scale_ptr": TensorSpec((tokens,), "float32") if reads_scaled else None,
        "b_scale_ptr": TensorSpec((experts,), "float32") if has_scales else None,
        "topk_weights_ptr": TensorSpec((tokens, assumed.top_k), "float32"),
        "sorted_token_ids_ptr": TensorSpec((routed,), "int32"), "expert_ids_ptr": TensorSpec((routed,), "int32"),
        "num_tokens_post_padded_ptr": TensorSpec((1,), "int32"), "add_mask_ptr": None,
        "N": columns, "K": depth, "EM": 16 * routed, "num_valid_tokens": routed,
        "stride_am": depth, "stride_ak": 1, "stride_be": columns * depth, "stride_bk": 1, "stride_bn": depth,
        "stride_cm": columns, "stride_cn": 1, "stride_asm": strides_a[0], "stride_ask": strides_a[1],
        "stride_bse": strides_b[0], "stride_bsk": strides_b[1], "stride_bsn": strides_b[2],
        "stride_bbe": 0, "stride_bbn": 0, "stride_bias_e": 0, "stride_bias_n": 0,
    }  # fmt: skip


def _descriptors(
    layer: MoeLayer, settings: Mapping[str, Setting], columns: int, depth: int, *, both: bool
) -> dict[str, Given]:
    """Return the descriptors that SGLang passes where a row asks for tensor memory access."""
    block_m, block_n, block_k = (int(settings[f"BLOCK_SIZE_{one}"] or 0) for one in "MNK")
    rows = 1 << 14
    weights = TensorSpec((layer.table.shape["E"], columns, depth), layer.element, block_shape=(1, block_n, block_k))
    found: dict[str, Given] = {"b_desc": weights}
    if both:
        found["a_desc"] = TensorSpec((rows, depth), layer.activation, block_shape=(block_m, block_k))
    return found
