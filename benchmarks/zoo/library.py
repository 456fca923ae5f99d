"""Kernels of libraries whose limiter is known: a large matrix product, element-wise and row-wise passes.

Run under ncu; it needs torch with CUDA. Set-up kernels precede, so ncu is told which kernels to record.
"""

import torch

torch.manual_seed(0)
torch.backends.cuda.matmul.allow_tf32 = False
left, right = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
small_left, small_right = (torch.randn(4096, 4096, device="cuda") for _ in range(2))
rows = torch.randn(16384, 4096, device="cuda")
for _ in range(2):
    left @ right
    small_left @ small_right
torch.cuda.synchronize()
torch.cuda.profiler.start()
left @ right
small_left @ small_right
torch.softmax(rows, dim=-1)
rows * 2
torch.cuda.synchronize()
torch.cuda.profiler.stop()
