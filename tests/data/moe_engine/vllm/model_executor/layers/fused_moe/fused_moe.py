"""A small fused-MoE kernel and a default, with the names that checks of tables look for."""

import somebody.platforms as current_platform
import triton
import triton.language as tl


@triton.jit
def fused_moe_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    a_scale_ptr,
    b_scale_ptr,
    topk_weights_ptr,
    sorted_token_ids_ptr,
    expert_ids_ptr,
    num_tokens_post_padded_ptr,
    N,
    K,
    EM,
    num_valid_tokens,
    stride_am,
    stride_be,
    stride_bn,
    stride_cm,
    stride_asm,
    stride_ask,
    stride_bse,
    stride_bsk,
    stride_bsn,
    group_n: tl.constexpr,
    group_k: tl.constexpr,
    naive_block_assignment: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
    SPLIT_K: tl.constexpr,
    MUL_ROUTED_WEIGHT: tl.constexpr,
    top_k: tl.constexpr,
    compute_type: tl.constexpr,
    use_fp8_w8a8: tl.constexpr,
    use_int8_w8a8: tl.constexpr,
    use_int8_w8a16: tl.constexpr,
    per_channel_quant: tl.constexpr,
):
    tile, column_tile = tl.program_id(0) // tl.cdiv(N, BLOCK_SIZE_N), tl.program_id(0) % tl.cdiv(N, BLOCK_SIZE_N)
    if tile * BLOCK_SIZE_M >= tl.load(num_tokens_post_padded_ptr):
        return
    place = tl.arange(0, BLOCK_SIZE_M)
    if naive_block_assignment:
        rows = tl.where(place == 0, tile, num_valid_tokens)
    else:
        rows = tl.load(sorted_token_ids_ptr + tile * BLOCK_SIZE_M + place)
    used = rows < num_valid_tokens
    expert = tl.load(expert_ids_ptr + tile).to(tl.int64)
    columns = (column_tile * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
    depth = tl.arange(0, BLOCK_SIZE_K)
    total = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for begin in range(0, K, BLOCK_SIZE_K):
        k = begin + depth
        a = tl.load(
            a_ptr + (rows // top_k)[:, None] * stride_am + k[None, :], mask=used[:, None] & (k < K)[None, :], other=0.0
        )
        b = tl.load(
            b_ptr + expert * stride_be + columns[None, :] * stride_bn + k[:, None], mask=(k < K)[:, None], other=0.0
        )
        part = tl.dot(a.to(compute_type), b.to(compute_type)).to(tl.float32)
        if group_k > 0 and (use_fp8_w8a8 or use_int8_w8a8):
            at = begin // group_k
            scale_a = tl.load(a_scale_ptr + (rows // top_k) * stride_asm + at * stride_ask, mask=used, other=0.0)
            scale_b = tl.load(b_scale_ptr + expert * stride_bse + (columns // group_n) * stride_bsn + at * stride_bsk)
            part = part * scale_a[:, None] * scale_b[None, :]
        total += part
    if use_int8_w8a16 or ((use_fp8_w8a8 or use_int8_w8a8) and group_k == 0):
        total = total * tl.load(b_scale_ptr + expert * stride_bse + columns * stride_bsn)[None, :]
    if (use_fp8_w8a8 or use_int8_w8a8) and group_k == 0:
        total = total * tl.load(a_scale_ptr + (rows // top_k) * stride_asm, mask=used, other=0.0)[:, None]
    if MUL_ROUTED_WEIGHT:
        total = total * tl.load(topk_weights_ptr + rows, mask=used, other=0.0)[:, None]
    where = c_ptr + rows[:, None] * stride_cm + (column_tile * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N))[None, :]
    inside = used[:, None] & (column_tile * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N) < N)[None, :]
    tl.store(where, total.to(compute_type), mask=inside)


def get_default_config(M, E, N, K, topk, dtype, block_shape=None):
    if dtype == "fp8_w8a8" and block_shape is not None:
        deep = block_shape[1]
    else:
        deep = 64 if E * topk >= M else 32
    stages = 2 if current_platform.is_rocm() else 3
    return {
        "BLOCK_SIZE_M": min(16, M * 16),
        "BLOCK_SIZE_N": 64,
        "BLOCK_SIZE_K": deep,
        "GROUP_SIZE_M": 1,
        "num_warps": 4,
        "num_stages": stages,
    }
