"""Tile kernels that break rules, one a line; read by tests, never imported."""

import cuda.tile as ct

TUNING_SPACE = {"TILE": [48, 64], "occupancy": [1, 64], "num_warps": [4]}


def helper(x):
    return x


@ct.kernel(num_ctas=3, occupancy=40, num_stages=2)
def sub(a):
    pass


@ct.kernel(num_worker_warps=ct.ByTarget(sm_90=16, default=4), num_ctas=2)
def bad(x, y, unused, TILE: ct.Constant[int], MODE: ct.Constant[str]):
    i = ct.bid(0)
    t = ct.load(x, index=(i * TILE,), shape=(TILE,), latency=20, allow_tma=3)
    if i > 0:
        u = t
    z = ct.zeros((x.shape[0],), ct.float32)
    a = ct.mma(t, t)
    t = t.to(ct.float32)
    o = ct.arange(3, 4, dtype=ct.int32)
    p = ct.arange(4, start=1)
    sub(x)
    w = ct.add(ct.bid(0), 1)
    for k in range(3):
        break
    ct.store(y, index=(i,), tile=u)


def launch(x, y):
    ct.launch(None, lambda c: (1,), bad, (x, y, None, 64, "a"))
