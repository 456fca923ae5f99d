// Kernels built to be bound by one pipe of the multiprocessor, by issue slots, or by divergence; and balanced ones.
#include <mma.h>
#include "zoo.cuh"
using namespace nvcuda;

template <typename T, int CHAINS> __device__ T fma_chains(T seed, int rounds) {
  T v[CHAINS];
#pragma unroll
  for (int k = 0; k < CHAINS; ++k) v[k] = seed + T(k);
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < CHAINS; ++k) v[k] = v[k] * T(0.999) + T(0.001);
  T sum = 0;
#pragma unroll
  for (int k = 0; k < CHAINS; ++k) sum += v[k];
  return sum;
}
__global__ void fp32_fma(float* b, int rounds) { b[thread_index()] = fma_chains<float, 8>(threadIdx.x, rounds); }
__global__ void __launch_bounds__(512) fp32_persistent(float* b, int rounds) { b[thread_index()] = fma_chains<float, 16>(threadIdx.x, rounds); }
__global__ void fp32_polynomial(const float* a, float* b) {
  size_t i = thread_index();
  float x = a[i], y = x;
#pragma unroll
  for (int k = 0; k < 256; ++k) y = y * x + 0.5f;
  b[i] = y;
}
__global__ void fp64_fma(double* b, int rounds) { b[thread_index()] = fma_chains<double, 4>(threadIdx.x, rounds); }
__global__ void fp64_add(double* b, int rounds) {
  double u = threadIdx.x, v = 1.0, w = 2.0, x = 3.0;
  for (int r = 0; r < rounds; ++r) { u += 1.5; v += 2.5; w += u; x += v; }
  b[thread_index()] = u + v + w + x;
}
__global__ void sfu_sine(float* b, int rounds) {
  float u = threadIdx.x, v = u + 1.f, w = u + 2.f, x = u + 3.f;
  for (int r = 0; r < rounds; ++r) { u = __sinf(u); v = __sinf(v); w = __sinf(w); x = __sinf(x); }
  b[thread_index()] = u + v + w + x;
}
__global__ void sfu_rsqrt(float* b, int rounds) {
  float u = threadIdx.x + 1.f, v = u + 1.f, w = u + 2.f, x = u + 3.f;
  for (int r = 0; r < rounds; ++r) {
    asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(u)); asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v));
    asm volatile("rcp.approx.ftz.f32 %0, %0;" : "+f"(w)); asm volatile("lg2.approx.ftz.f32 %0, %0;" : "+f"(x));
  }
  b[thread_index()] = u + v + w + x;
}
__global__ void int_logic(uint32_t* b, int rounds) {
  uint32_t u = threadIdx.x, v = u + 1, w = u + 2, x = u + 3;
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      u = (u ^ (v << 3)) + w; v = (v & x) ^ (u >> 5); w = (w | u) ^ v; x = (x ^ w) + (v >> 1);
    }
  b[thread_index()] = u + v + w + x;
}
__global__ void int_multiply(uint32_t* b, int rounds) {
  uint32_t u = threadIdx.x, v = u + 1, w = u + 2, x = u + 3, m = threadIdx.x * 2 + 1664525u;
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < 4; ++k) { u = u * m + v; v = v * m + w; w = w * m + x; x = x * m + u; }
  b[thread_index()] = u + v + w + x;
}
__global__ void issue_mix(float* b, int rounds) {
  __shared__ float tile[512];
  tile[threadIdx.x] = threadIdx.x; tile[threadIdx.x + 256] = 1.f;
  __syncthreads();
  uint32_t base = uint32_t(__cvta_generic_to_shared(tile)) + threadIdx.x * 4;
  float v[10]; uint32_t n[5];
  for (int k = 0; k < 10; ++k) v[k] = threadIdx.x + k;
  for (int k = 0; k < 5; ++k) n[k] = threadIdx.x * 77 + k;
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 10; ++k) asm volatile("fma.rn.f32 %0, %0, 0f3F7FBE77, 0f3A83126F;" : "+f"(v[k]));
#pragma unroll
    for (int k = 0; k < 5; ++k) asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(n[k]) : "r"(n[(k + 1) % 5]), "r"(n[(k + 2) % 5]));
    v[0] += load_shared(base); v[1] += load_shared(base + 1024);
    asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v[9]));
  }
  float sum = n[0] + n[1] + n[2] + n[3] + n[4];
  for (int k = 0; k < 10; ++k) sum += v[k];
  b[thread_index()] = sum;
}

__global__ void tensor_fp16(const half* a, float* b, int rounds) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> z[4];
  wmma::load_matrix_sync(x, a, 16); wmma::load_matrix_sync(y, a + 256, 16);
  for (int k = 0; k < 4; ++k) wmma::fill_fragment(z[k], float(k));
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < 4; ++k) wmma::mma_sync(z[k], x, y, z[k]);
  for (int k = 1; k < 4; ++k) for (int e = 0; e < z[0].num_elements; ++e) z[0].x[e] += z[k].x[e];
  wmma::store_matrix_sync(b + (thread_index() / 32) * 256, z[0], 16, wmma::mem_row_major);
}
__global__ void tensor_int8(const int8_t* a, int* b, int rounds) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, int8_t, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, int8_t, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> z[4];
  wmma::load_matrix_sync(x, a, 16); wmma::load_matrix_sync(y, a + 256, 16);
  for (int k = 0; k < 4; ++k) wmma::fill_fragment(z[k], k);
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < 4; ++k) wmma::mma_sync(z[k], x, y, z[k]);
  for (int k = 1; k < 4; ++k) for (int e = 0; e < z[0].num_elements; ++e) z[0].x[e] += z[k].x[e];
  wmma::store_matrix_sync(b + (thread_index() / 32) * 256, z[0], 16, wmma::mem_row_major);
}
__global__ void tensor_fp64(const double* a, double* b, int rounds) {
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> z[4];
  wmma::load_matrix_sync(x, a, 4); wmma::load_matrix_sync(y, a + 64, 4);
  for (int k = 0; k < 4; ++k) wmma::fill_fragment(z[k], double(k));
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < 4; ++k) wmma::mma_sync(z[k], x, y, z[k]);
  for (int k = 1; k < 4; ++k) for (int e = 0; e < z[0].num_elements; ++e) z[0].x[e] += z[k].x[e];
  wmma::store_matrix_sync(b + (thread_index() / 32) * 64, z[0], 8, wmma::mem_row_major);
}

__global__ void divergence_half(float* b, int rounds) {
  float v = threadIdx.x, w = v + 1.f;
  if (threadIdx.x & 1)
    for (int r = 0; r < rounds; ++r) { v = v * 0.999f + 0.1f; w = w * 0.998f + 0.2f; }
  else
    for (int r = 0; r < rounds; ++r) { v = v * 0.997f + 0.3f; w = w * v + 0.4f; }
  b[thread_index()] = v + w;
}
__global__ void divergence_loop(float* b, int rounds) {
  float v = threadIdx.x, w = v + 1.f;
  int mine = rounds * (threadIdx.x % 32 == 0 ? 8 : 1);
  for (int r = 0; r < mine; ++r) { v = v * 0.999f + 0.1f; w = w * 0.998f + 0.2f; }
  b[thread_index()] = v + w;
}
__global__ void divergence_switch(float* b, int rounds) {
  float v = threadIdx.x;
  for (int r = 0; r < rounds; ++r)
    switch ((threadIdx.x + r) % 8) {
      case 0: for (int k = 0; k < 8; ++k) v = v * 0.9f + 0.1f; break;
      case 1: for (int k = 0; k < 9; ++k) v = v * 0.8f - 0.1f; break;
      case 2: for (int k = 0; k < 7; ++k) v = v * v + 0.2f; break;
      case 3: for (int k = 0; k < 8; ++k) v = v * 0.7f + v; break;
      case 4: for (int k = 0; k < 9; ++k) v = v * 0.6f - v; break;
      case 5: for (int k = 0; k < 7; ++k) v = v * 0.5f + 0.9f; break;
      case 6: for (int k = 0; k < 8; ++k) v = v * 0.4f - 0.8f; break;
      default: for (int k = 0; k < 9; ++k) v = v * 0.3f + 0.7f; break;
    }
  b[thread_index()] = v;
}

template <int OPS> __device__ void stream_and_compute(const float4* a, float4* b) {
  size_t i = thread_index();
  float4 v = a[i];
#pragma unroll
  for (int k = 0; k < OPS; ++k) {
    v.x = v.x * 0.99f + 0.1f; v.y = v.y * 0.98f + 0.2f; v.z = v.z * 0.97f + 0.3f; v.w = v.w * 0.96f + 0.4f;
  }
  b[i] = v;
}
__global__ void balanced_48(const float4* a, float4* b) { stream_and_compute<48>(a, b); }
__global__ void balanced_42(const float4* a, float4* b) { stream_and_compute<42>(a, b); }
__global__ void fp32_stream(const float4* a, float4* b) { stream_and_compute<64>(a, b); }

int main() {
  float *a = buffer<float>(size_t(1) << 26), *b = buffer<float>(size_t(1) << 26);
  half* h = buffer<half>(1 << 20);
  CHECK(cudaProfilerStart());
  RUN(fp32_fma, 132 * 16, 256, 0, b, 4000);
  RUN(fp32_persistent, 132, 512, 0, b, 4000);
  RUN(fp32_polynomial, (1 << 24) / 256, 256, 0, a, b);
  RUN(fp64_fma, 132 * 16, 256, 0, (double*)b, 2000);
  RUN(fp64_add, 132 * 16, 128, 0, (double*)b, 4000);
  RUN(sfu_sine, 132 * 16, 256, 0, b, 1000);
  RUN(sfu_rsqrt, 132 * 8, 256, 0, b, 1000);
  RUN(int_logic, 132 * 16, 256, 0, (uint32_t*)b, 500);
  RUN(int_multiply, 132 * 16, 256, 0, (uint32_t*)b, 500);
  RUN(issue_mix, 132 * 16, 256, 0, b, 1000);
  RUN(tensor_fp16, 132 * 8, 256, 0, h, b, 1000);
  RUN(tensor_int8, 132 * 8, 256, 0, (int8_t*)h, (int*)b, 1000);
  RUN(tensor_fp64, 132 * 8, 256, 0, (double*)a, (double*)b, 1000);
  RUN(divergence_half, 132 * 16, 256, 0, b, 2000);
  RUN(divergence_loop, 132 * 16, 256, 0, b, 500);
  RUN(divergence_switch, 132 * 16, 256, 0, b, 200);
  RUN(balanced_48, (1 << 24) / 256, 256, 0, (float4*)a, (float4*)b);
  RUN(balanced_42, (1 << 24) / 256, 256, 0, (float4*)a, (float4*)b);
  RUN(fp32_stream, (1 << 24) / 256, 256, 0, (float4*)a, (float4*)b);
  CHECK(cudaProfilerStop());
  return 0;
}
