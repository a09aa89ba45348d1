"""Which kernels use tensor cores, by their names."""

from __future__ import annotations

import pytest

from nbprof.analysis.tensor_cores import uses_tensor_cores

USED = [
    "volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn",
    "volta_h884cudnn_256x64_ldg8_relu_exp_small_nhwc_tn_v1",
    "turing_fp16_s1688gemm_fp16_256x64_sliced1x2_ldg8_relu_f2f_tn",
    "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn",
    "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(...)",
    "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_g1_tensor16x8x8_execute_kernel",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
    "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTT",
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128>>(...)",
    "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<...>::Params)",
    "Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN_1LDSB0_APM1",
    "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt64x128x32_wt32x32x8",
    "_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightINS_47GridwiseGemm",
]
NOT_USED = [
    "",
    "volta_sgemm_128x64_nn",
    "ampere_sgemm_32x32_sliced1x4_tn",
    "void cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(...)",
    "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
    "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_execute_kernel__5x_cublas",
    "fmha_cutlassF_f32_aligned_64x64_rf_sm50(PyTorchMemEffAttention::AttentionKernel<...>::Params)",
    "Cijk_Alik_Bljk_SB_MT64x16x32_SN_1LDSB0",
    "SubTensorOpWithCastTensor1d",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(...)",
]


@pytest.mark.parametrize("name", USED)
def test_kernels_that_use_them(name: str) -> None:
    assert uses_tensor_cores([name]) == [True]


@pytest.mark.parametrize("name", NOT_USED)
def test_kernels_that_do_not(name: str) -> None:
    assert uses_tensor_cores([name]) == [False]
