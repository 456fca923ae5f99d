"""Bounds of 20 KernelBench problems by hand, beside what `kb suite --bounds` says of them on an H100_SXM.

python benchmarks/problem_bounds.py TABLE.json

The problems were drawn before the rule was written (random.Random(20261123).sample of the 250 sorted paths, 40; these
are 20 of them, chosen by hand), and not looked at until it was. Each line is worked out from the problem's file alone:
elements that must be read and written, and operations of a product. TABLE.json is what the command wrote.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

BANDWIDTH, CACHE = 3352e9, 60 * 2**20  # hardware/nvidia/h100_sxm.md; the L2 of the whole chip, which no part exceeds
WHOLE, INSIDE = 989.4e12 * 1980 / 1830, 1978.9e12 * 1980 / 1830
"""Fastest route of an fp32 product, and of a product of fp8, at 1980 MHz in place of 1830."""
STRASSEN = 49 / 64

LINE = 1024 * 8192
BIG = 2 * 1024 * 8192 * 8192
BY_HAND: dict[str, tuple[int, int, float, float]] = {
    "level1/16_Matmul_with_transposed_A": (8192 * 2048 + 8192 * 4096, 2048 * 4096, 2 * 2048 * 4096 * 8192, WHOLE),
    "level1/20_LeakyReLU": (4096 * 393216, 4096 * 393216, 0, WHOLE),
    "level1/23_Softmax": (4096 * 393216, 4096 * 393216, 0, WHOLE),
    "level1/35_GroupNorm_": (112 * 64 * 512 * 512, 112 * 64 * 512 * 512, 0, WHOLE),
    "level1/46_Average_Pooling_3D": (16 * 32 * 128 * 128 * 256, 16 * 32 * 64 * 64 * 128, 0, WHOLE),
    "level1/4_Matrix_vector_multiplication_": (2048 * 2**20 + 2**20, 2048, 2 * 2048 * 2**20, WHOLE),
    "level1/52_Argmin_over_a_dimension": (128 * 4096 * 4095, 2 * 128 * 4095, 0, WHOLE),  # indices of 8 bytes
    "level1/72_conv_transposed_3D_asymmetric_input_asymmetric_kernel___strided_padded_grouped_": (
        8 * 32 * 12 * 24 * 48, 8 * 32 * 24 * 48 * 96, 0, WHOLE),
    # rows 2 i - 1 + 2 k are odd: 128 of 257 rows are reached, the others are zeros that may stand there before
    "level1/75_conv_transposed_2D_asymmetric_input_asymmetric_kernel_strided__grouped____padded____dilated__": (
        16 * 32 * 128 * 256, 16 * 64 * 128 * 766, 0, WHOLE),
    "level1/85_conv_depthwise_2D_asymmetric_input_asymmetric_kernel": (32 * 128 * 128 * 256, 32 * 128 * 126 * 250, 0,
                                                                       WHOLE),
    "level1/97_ScaledDotProductAttention": (3 * 32 * 32 * 512 * 1024, 32 * 32 * 512 * 1024, 0, WHOLE),
    "level1/9_Tall_skinny_matrix_multiplication_": (2 * 32768 * 32, 32768**2, 2 * 32768**2 * 32, WHOLE),
    "level2/17_Conv2d_InstanceNorm_Divide": (128 * 64 * 128 * 128, 128 * 128 * 126 * 126, 0, WHOLE),
    "level2/28_BMM_InstanceNorm_Sum_ResidualAdd_Multiply": (2 * LINE, LINE, BIG, INSIDE),
    "level2/33_Gemm_Scale_BatchNorm": (LINE, LINE, BIG, INSIDE),
    "level2/44_ConvTranspose2d_Multiply_GlobalAvgPool_GlobalAvgPool_Mean": (16 * 64 * 128 * 128, 16 * 128, 0, WHOLE),
    # pools leave rows 60 to 62 of 63 out; the statistics of the batch do not
    "level2/72_ConvTranspose3d_BatchNorm_AvgPool_AvgPool": (64 * 3 * 32**3, 64 * 16 * 15**3, 0, WHOLE),
    "level2/75_Gemm_GroupNorm_Min_BiasAdd": (LINE, LINE, BIG, INSIDE),  # a minimum a row plus a bias a column
    "level2/8_Conv3d_Divide_Max_GlobalAvgPool_BiasAdd_Sum": (128 * 8 * 16 * 64 * 64, 128, 0, WHOLE),
    "level2/94_Gemm_BiasAdd_Hardtanh_Mish_GroupNorm": (LINE, LINE, BIG, INSIDE),
}  # fmt: skip
"""Problem → elements of 4 bytes read and written, operations of a product that counts, operations a second."""


def main() -> int:
    """Print both numbers of each; exit 1 where a bound is above the one by hand, and so not true."""
    rows = {one["problem"]: one for one in json.loads(Path(sys.argv[1]).read_text())["rows"]}
    above = 0
    print("problem\tread by hand\tread\twritten by hand\twritten\tus by hand\tus\tverdict")
    for name, (read, written, operations, rate) in BY_HAND.items():
        moved = 4 * read + max(4 * written - CACHE, 0)
        least = max(moved / BANDWIDTH, operations * STRASSEN / rate)
        row = rows[name]
        ratio = row["floor_s"] / least
        verdict = "equal" if abs(ratio - 1) < 1e-6 else "true, lower" if ratio < 1 else "ABOVE"
        above += verdict == "ABOVE"
        print(f"{name}\t{4 * read}\t{row['read_bytes']}\t{4 * written}\t{row['written_bytes']}\t{least * 1e6:.4g}\t"
              f"{row['floor_s'] * 1e6:.4g}\t{verdict}")  # fmt: skip
    print(f"{len(BY_HAND)} problems, {above} above")
    return int(bool(above))


if __name__ == "__main__":
    sys.exit(main())
