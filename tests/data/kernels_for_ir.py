# ruff: noqa: N803, PIE808, SIM108
"""Small Triton kernels whose work can be counted by hand; the counter's tests compile them to IR text."""

import triton
import triton.language as tl


@triton.jit
def vadd(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)


@triton.jit
def softmax(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * cols + offs, (e / tl.sum(e, 0)).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def rmsnorm(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, 0) / cols + eps)
    tl.store(out_ptr + row * cols + offs, (x * scale * w).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def gemm(
    a_ptr, b_ptr, c_ptr, m, n, k, stride_am, stride_bk, stride_cm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(n, BN)
    rm = (pid // tiles_n) * BM + tl.arange(0, BM)
    rn = (pid % tiles_n) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        ks = start + rk
        a = tl.load(
            a_ptr + rm[:, None] * stride_am + ks[None, :],
            mask=(rm[:, None] < m) & (ks[None, :] < k), other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + ks[:, None] * stride_bk + rn[None, :],
            mask=(ks[:, None] < k) & (rn[None, :] < n), other=0.0,
        )  # fmt: skip
        acc = tl.dot(a, b, acc)
    tl.store(
        c_ptr + rm[:, None] * stride_cm + rn[None, :],
        acc.to(c_ptr.dtype.element_ty),
        mask=(rm[:, None] < m) & (rn[None, :] < n),
    )


@triton.jit
def gemm_wrapped(a_ptr, b_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(n, BN)
    rm = (pid // tiles_n) * BM + tl.arange(0, BM)
    rn = (pid % tiles_n) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_tile = a_ptr + (rm % m)[:, None] * k + rk[None, :]
    b_tile = b_ptr + rk[:, None] * n + (rn % n)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        a = tl.load(a_tile, mask=rk[None, :] < k - start, other=0.0)
        b = tl.load(b_tile, mask=rk[:, None] < k - start, other=0.0)
        acc = tl.dot(a, b, acc)
        a_tile += BK
        b_tile += BK * n
    tl.store(
        c_ptr + rm[:, None] * n + rn[None, :],
        acc.to(c_ptr.dtype.element_ty),
        mask=(rm[:, None] < m) & (rn[None, :] < n),
    )


@triton.jit
def gemm_moving_pointers(
    a_ptr, b_ptr, c_ptr, m, n, k, stride_am, stride_bk, stride_cm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(n, BN)
    rm = (pid // tiles_n) * BM + tl.arange(0, BM)
    rn = (pid % tiles_n) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_tile = a_ptr + rm[:, None] * stride_am + rk[None, :]
    b_tile = b_ptr + rk[:, None] * stride_bk + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BK)):
        left = k - step * BK
        a = tl.load(a_tile, mask=(rm[:, None] < m) & (rk[None, :] < left), other=0.0)
        b = tl.load(b_tile, mask=(rk[:, None] < left) & (rn[None, :] < n), other=0.0)
        acc = tl.dot(a, b, acc)
        a_tile += BK
        b_tile += BK * stride_bk
    tl.store(
        c_ptr + rm[:, None] * stride_cm + rn[None, :],
        acc.to(c_ptr.dtype.element_ty),
        mask=(rm[:, None] < m) & (rn[None, :] < n),
    )


@triton.jit
def gemm_desc(a_ptr, b_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [BK, BN])
    c_desc = tl.make_tensor_descriptor(c_ptr, [m, n], [n, 1], [BM, BN])
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(n, BN)
    om = (pid // tiles_n) * BM
    on = (pid % tiles_n) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        acc = tl.dot(a_desc.load([om, start]), b_desc.load([start, on]), acc)
    c_desc.store([om, on], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def gemm_host_desc(a_desc, b_desc, c_desc, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(n, BN)
    om = (pid // tiles_n) * BM
    on = (pid % tiles_n) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        acc = tl.dot(a_desc.load([om, start]), b_desc.load([start, on]), acc)
    c_desc.store([om, on], acc.to(tl.float16))


@triton.jit
def gemm_block_pointers(a_ptr, b_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(n, BN)
    om = (pid // tiles_n) * BM
    on = (pid % tiles_n) * BN
    a_blk = tl.make_block_ptr(a_ptr, (m, k), (k, 1), (om, 0), (BM, BK), (1, 0))
    b_blk = tl.make_block_ptr(b_ptr, (k, n), (n, 1), (0, on), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, k, BK):
        a = tl.load(a_blk, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_blk, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(a, b, acc)
        a_blk = tl.advance(a_blk, (0, BK))
        b_blk = tl.advance(b_blk, (BK, 0))
    c_blk = tl.make_block_ptr(c_ptr, (m, n), (n, 1), (om, on), (BM, BN), (1, 0))
    tl.store(c_blk, acc.to(c_ptr.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def gemm_persistent(
    a_ptr, b_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tiles_n = tl.cdiv(n, BN)
    tiles = tl.cdiv(m, BM) * tiles_n
    rk = tl.arange(0, BK)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        rm = (tile // tiles_n) * BM + tl.arange(0, BM)
        rn = (tile % tiles_n) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for start in range(0, k, BK):
            ks = start + rk
            a = tl.load(
                a_ptr + rm[:, None] * k + ks[None, :],
                mask=(rm[:, None] < m) & (ks[None, :] < k), other=0.0,
            )  # fmt: skip
            b = tl.load(
                b_ptr + ks[:, None] * n + rn[None, :],
                mask=(ks[:, None] < k) & (rn[None, :] < n), other=0.0,
            )  # fmt: skip
            acc = tl.dot(a, b, acc)
        tl.store(
            c_ptr + rm[:, None] * n + rn[None, :],
            acc.to(c_ptr.dtype.element_ty),
            mask=(rm[:, None] < m) & (rn[None, :] < n),
        )


@triton.jit
def flash(q_ptr, k_ptr, v_ptr, out_ptr, seq, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1) * seq * D
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    q = tl.load(q_ptr + head + rm[:, None] * D + rd[None, :], mask=rm[:, None] < seq, other=0.0)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    last = tl.minimum((tl.program_id(0) + 1) * BM, seq)
    for start in range(0, last, BN):
        rn = start + tl.arange(0, BN)
        k = tl.load(k_ptr + head + rn[:, None] * D + rd[None, :], mask=rn[:, None] < seq, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        s = tl.where((rm[:, None] >= rn[None, :]) & (rn[None, :] < seq), s, -float("inf"))
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        total = total * shrink + tl.sum(p, 1)
        v = tl.load(v_ptr + head + rn[:, None] * D + rd[None, :], mask=rn[:, None] < seq, other=0.0)
        acc = acc * shrink[:, None] + tl.dot(p.to(v.dtype), v)
        top = new_top
    tl.store(
        out_ptr + head + rm[:, None] * D + rd[None, :],
        (acc / total[:, None]).to(out_ptr.dtype.element_ty),
        mask=rm[:, None] < seq,
    )


@triton.jit
def early_return(x_ptr, out_ptr, n, limit, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= limit:
        return
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, x * 2.0, mask=offs < n)


@triton.jit
def early_return_data(x_ptr, flag_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if tl.load(flag_ptr + pid) == 0:
        return
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, x * 2.0, mask=offs < n)


@triton.jit
def while_countable(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    while start < n:
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        tl.store(out_ptr + offs, x + 1.0, mask=offs < n)
        start += tl.num_programs(0) * BLOCK


@triton.jit
def while_data(x_ptr, next_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    node = tl.program_id(0)
    acc = tl.zeros((BLOCK,), tl.float32)
    while node >= 0:
        acc += tl.load(x_ptr + node * BLOCK + offs)
        node = tl.load(next_ptr + node)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + offs, acc)


@triton.jit
def gather_rows(table_ptr, index_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    source = tl.load(index_ptr + row)
    x = tl.load(table_ptr + source * cols + offs, mask=mask, other=0.0)
    tl.store(out_ptr + row * cols + offs, x, mask=mask)


@triton.jit
def masked_by_data(x_ptr, label_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    label = tl.load(label_ptr + offs, mask=offs < n, other=-1)
    x = tl.load(x_ptr + offs, mask=(offs < n) & (label >= 0), other=0.0)
    tl.store(out_ptr + offs, x, mask=offs < n)


@triton.jit
def select_pointer(x_ptr, y_ptr, out_ptr, n, split, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid < split:
        base = x_ptr
    else:
        base = y_ptr
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(base + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, x, mask=offs < n)


@triton.jit
def where_pointer(x_ptr, y_ptr, out_ptr, n, split, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    source = tl.where(offs < split, x_ptr + offs, y_ptr + offs)
    x = tl.load(source, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, x, mask=offs < n)


@triton.jit(noinline=True)
def _weight_of_block(w_ptr, scale):
    weight = tl.load(w_ptr + tl.program_id(0))
    return weight * weight * scale


@triton.jit
def calls_function(x_ptr, w_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, x * _weight_of_block(w_ptr, scale), mask=offs < n)


@triton.jit
def _add(a, b):
    return a + b


@triton.jit
def scan_and_argmax(x_ptr, sum_ptr, arg_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=-float("inf"))
    running = tl.associative_scan(x, 0, _add)
    tl.store(sum_ptr + row * cols + offs, running, mask=offs < cols)
    tl.store(arg_ptr + row, tl.argmax(x, 0))


@triton.jit
def histogram_atomic(x_ptr, bins_ptr, count_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    counts = tl.histogram(x, BINS, mask=offs < n)
    tl.atomic_add(bins_ptr + tl.arange(0, BINS), counts)
    tl.atomic_add(count_ptr, 1.0)
    tl.atomic_cas(bins_ptr, 0, 1)


@triton.jit
def activations(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.assume(n > 0)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    y = tl.sigmoid(x) * x + tl.math.erf(x) + tl.fma(x, x, x)
    z = tl.where(y > 0, y, tl.sqrt(tl.abs(x)))
    tl.device_assert(offs >= 0)
    tl.device_print("n", n)
    tl.store(out_ptr + offs, z, mask=offs < n)


@triton.jit
def gather_lanes(x_ptr, i_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    i = tl.load(i_ptr + offs)
    tl.store(out_ptr + offs, tl.gather(x, i, 0))


@triton.jit
def dot_scaled(a_ptr, sa_ptr, b_ptr, sb_ptr, c_ptr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    rs = tl.arange(0, BK // 32)
    rh = tl.arange(0, BK // 2)
    a = tl.load(a_ptr + rm[:, None] * BK + rk[None, :])
    sa = tl.load(sa_ptr + rm[:, None] * (BK // 32) + rs[None, :])
    b = tl.load(b_ptr + rh[:, None] * BN + rn[None, :])
    sb = tl.load(sb_ptr + rn[:, None] * (BK // 32) + rs[None, :])
    c = tl.dot_scaled(a, sa, "e4m3", b, sb, "e2m1")
    tl.store(c_ptr + rm[:, None] * BN + rn[None, :], c)


@triton.jit
def nested_if(x_ptr, out_ptr, n, mode, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    if mode == 0:
        y = x + 1.0
    elif mode == 1:
        y = x * x + 1.0
    else:
        y = x
    if tl.program_id(0) % 2 == 0:
        y = y * 3.0
    tl.store(out_ptr + offs, y, mask=offs < n)


@triton.jit
def shuffles(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    pair = tl.join(x, x + 1.0)
    left, right = tl.split(tl.reshape(pair, (BLOCK, 2)))
    both = tl.cat(left, right, can_reorder=True)
    flipped = tl.flip(left, 0)
    tl.store(out_ptr + tl.arange(0, 2 * BLOCK), both)
    tl.store(out_ptr + 2 * BLOCK + offs, flipped)


@triton.jit
def column_sums(x_ptr, out_ptr, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BN,), tl.float32)
    for start in tl.range(0, rows, BM):
        rm = start + tl.arange(0, BM)
        mask = (rm[:, None] < rows) & (rn[None, :] < cols)
        acc += tl.sum(tl.load(x_ptr + rm[:, None] * cols + rn[None, :], mask=mask, other=0.0), 0)
    tl.store(out_ptr + rn, acc, mask=rn < cols)


@triton.jit
def grouped_gemm_tiles(sizes_ptr, x_ptr, out_ptr, groups, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    for g in range(0, groups):
        size = tl.load(sizes_ptr + g)
        for start in range(0, size, BLOCK):
            x = tl.load(x_ptr + start + offs, mask=start + offs < size, other=0.0)
            tl.store(out_ptr + start + offs, x * 2.0, mask=start + offs < size)


@triton.jit
def desc_gather(table_ptr, index_ptr, out_ptr, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    desc = tl.make_tensor_descriptor(table_ptr, [rows, cols], [cols, 1], [1, BN])
    index = tl.load(index_ptr + tl.arange(0, BM))
    x = desc.gather(index, 0)
    tl.store(out_ptr + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], x)


@triton.jit
def random_bits(out_ptr, n, seed, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.rand(seed, offs), mask=offs < n)
