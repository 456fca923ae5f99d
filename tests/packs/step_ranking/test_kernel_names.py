from __future__ import annotations

import pytest

from kopt_kb.packs.step_ranking.kernel_names import category_of, told_by_name


@pytest.mark.parametrize(
    ("kernel", "category", "told"),
    [
        (
            "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_kernel",
            "products",
            "cuBLAS, tile 128x128x64, bf16",
        ),
        (
            "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN",
            "products",
            "hipBLASLt or rocBLAS, tile 256x192x64, bf16",
        ),
        (
            "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>(Params)",
            "products",
            "CUTLASS, tile 64x64_16x6",
        ),
        ("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>>", "attention", "flash attention"),
        (
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            "communication",
            "NCCL or RCCL, bf16",
        ),
        ("triton_red_fused_native_layer_norm_0", "norms", "Inductor"),
        ("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>", "copies", "PyTorch"),
        ("_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu", "products", ""),
        ("whatever", "rest", ""),
    ],
    ids=["cublas", "hipblaslt", "cutlass", "flash", "nccl", "inductor", "cat", "experts", "unknown"],
)
def test_a_name_tells_category_library_tile_and_type(kernel, category, told) -> None:
    assert (category_of(kernel), told_by_name(kernel)) == (category, told)
