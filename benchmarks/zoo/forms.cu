// The same limiters in other forms, recorded after the rules were written for the first set: what the rules did not see.
#include <mma.h>
#include "zoo.cuh"
using namespace nvcuda;

__global__ void dram_stencil(const float* a, float* b, int n) {
  int x = blockIdx.x * 64 + threadIdx.x + 1, y = blockIdx.y * 4 + threadIdx.y + 1;
  if (x < n - 1 && y < n - 1) {
    size_t i = size_t(y) * n + x;
    b[i] = 0.2f * (a[i] + a[i - 1] + a[i + 1] + a[i - n] + a[i + n]);
  }
}
__global__ void dram_rows(const float4* a, float* b) {
  __shared__ float part[8];
  float sum = 0.f;
  for (int i = threadIdx.x; i < 2048; i += 256) { float4 v = a[blockIdx.x * 2048 + i]; sum += v.x + v.y + v.z + v.w; }
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) b[blockIdx.x] = part[0] + part[1] + part[2] + part[3] + part[4] + part[5] + part[6] + part[7];
}
__global__ void dram_points(const float* a, float* b) {
  size_t i = thread_index();
  b[i] = a[3 * i] + a[3 * i + 1] + a[3 * i + 2];
}
__global__ void l2_reverse(const float4* a, float4* b, uint32_t mask, int rounds) {
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  for (int r = 0; r < rounds; ++r) {
    float4 v = load_l2(a + (mask - ((uint32_t(thread_index()) + r * 270336u) & mask)));
    float4 w = load_l2(a + ((uint32_t(thread_index()) * 1u + r * 135168u) & mask));
    sum.x += v.x + w.x; sum.y += v.y + w.y; sum.z += v.z + w.z; sum.w += v.w + w.w;
  }
  b[thread_index()] = sum;
}
__global__ void l1_broadcast(const float* a, int rounds, int zero, float* out) {
  float sum = 0.f;
  const float* p = a + blockIdx.x % 32;
  for (int r = 0; r < rounds; ++r, p += zero)
#pragma unroll
    for (int u = 0; u < 8; ++u) sum += load_l1(p + u * 32);
  if (sum == 1.f) *out = sum;
}
__global__ void shared_matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float x[32][32], y[32][32];
  int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0.f;
  for (int t = 0; t < n; t += 32) {
    x[threadIdx.y][threadIdx.x] = a[size_t(row) * n + t + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[size_t(t + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; ++k) sum += x[threadIdx.y][k] * y[k][threadIdx.x];
    __syncthreads();
  }
  c[size_t(row) * n + column] = sum;
}
__global__ void bank_conflict_store(float* b, int rounds) {
  __shared__ volatile float tile[8192];
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int u = 0; u < 4; ++u) tile[(threadIdx.x * 16 + u) % 8192] = r;
  __syncthreads();
  b[thread_index()] = tile[threadIdx.x];
}
__global__ void uncoalesced_random_l2(const float* a, const uint32_t* index, float* b, int rounds) {
  uint32_t at = index[thread_index()];
  float sum = 0.f;
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int u = 0; u < 8; ++u) { at = at * 1664525u + 1013904223u; sum += load_l2(a + (at >> 11)); }
  b[thread_index()] = sum;
}
__global__ void uncoalesced_column_matrix(const float* a, float* b, int n) {
  int row = thread_index();
  float sum = 0.f;
  for (int c = 0; c < 64; ++c) sum += load_l2(a + size_t(row) * n + c * 33);
  b[row] = sum;
}
__global__ void __launch_bounds__(512, 4) spill_doubles(const double* a, double* b, int rounds) {
  double v[40];
  size_t i = thread_index();
#pragma unroll
  for (int k = 0; k < 40; ++k) v[k] = a[(i + k * 512) % (1 << 20)];
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < 40; ++k) v[k] = v[k] * 0.5 + v[(k + 17) % 40];
  double sum = 0.0;
#pragma unroll
  for (int k = 0; k < 40; ++k) sum += v[k];
  b[i] = sum;
}
__global__ void tensor_bf16_few_warps(const __nv_bfloat16* a, float* b, int rounds) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> z[6];
  wmma::load_matrix_sync(x, a, 16); wmma::load_matrix_sync(y, a + 256, 16);
  for (int k = 0; k < 6; ++k) wmma::fill_fragment(z[k], float(k));
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < 6; ++k) wmma::mma_sync(z[k], x, y, z[k]);
  for (int k = 1; k < 6; ++k) for (int e = 0; e < z[0].num_elements; ++e) z[0].x[e] += z[k].x[e];
  wmma::store_matrix_sync(b + (thread_index() / 32) * 256, z[0], 16, wmma::mem_row_major);
}
__global__ void fp64_divide(double* b, int rounds) {
  double v = threadIdx.x + 1.0, w = v + 1.0;
  for (int r = 0; r < rounds; ++r) { v = 1.5 / v + 0.5; w = 2.5 / w + 0.25; }
  b[thread_index()] = v + w;
}
__global__ void int_hash(uint32_t* b, int rounds) {
  uint32_t v = threadIdx.x, w = v + 7;
  for (int r = 0; r < rounds; ++r) {
    v ^= v >> 16; v *= 0x7feb352du; v ^= v >> 15; v *= 0x846ca68bu;
    w ^= w >> 16; w *= 0x7feb352du; w ^= w >> 15; w *= 0x846ca68bu;
  }
  b[thread_index()] = v + w;
}
__global__ void sfu_tanh(const float* a, float* b, int rounds) {
  float v = a[thread_index()], w = v * 0.5f;
  for (int r = 0; r < rounds; ++r) {
    asm volatile("tanh.approx.f32 %0, %0;" : "+f"(v)); asm volatile("sin.approx.f32 %0, %0;" : "+f"(w));
  }
  b[thread_index()] = v + w;
}
__global__ void divergence_mandelbrot(float* b, int n, int limit) {
  uint32_t i = thread_index();
  uint32_t shuffled = (i * 2654435761u) >> 8;
  float cx = -2.f + 3.f * (shuffled % n) / n, cy = -1.5f + 3.f * ((shuffled / n) % n) / n, x = 0.f, y = 0.f;
  int k = 0;
  while (k < limit && x * x + y * y < 4.f) { float t = x * x - y * y + cx; y = 2.f * x * y + cy; x = t; ++k; }
  b[i] = k;
}
__global__ void dependency_fp64_chain(double* b, int rounds) {
  double v = threadIdx.x;
  for (int r = 0; r < rounds; ++r) v = v * 0.999 + 0.001;
  b[thread_index()] = v;
}
__global__ void dependency_list(const uint32_t* next, uint32_t* b, int steps) {
  uint32_t at = thread_index() / 32 * 977 % (1u << 24);
  for (int s = 0; s < steps; ++s) at = (load_l2(next + at) + s) & ((1u << 24) - 1);
  b[thread_index()] = at;
}
__global__ void barrier_only(float* b, int rounds) {
  float v = threadIdx.x;
  for (int r = 0; r < rounds; ++r) { v = v * 0.5f + 1.f; __syncthreads(); }
  b[thread_index()] = v;
}
__global__ void barrier_producer(const float* a, float* b, int rounds) {
  __shared__ float tile[32];
  float sum = 0.f;
  for (int r = 0; r < rounds; ++r) {
    if (threadIdx.x < 32) tile[threadIdx.x] = load_l2(a + (r * 4096 + blockIdx.x * 32 + threadIdx.x) % (1 << 22));
    __syncthreads();
    sum += tile[threadIdx.x % 32];
    __syncthreads();
  }
  b[thread_index()] = sum;
}
__global__ void atomics_max_return(int* b, int rounds) {
  int v = threadIdx.x;
  for (int r = 0; r < rounds; ++r) v = atomicMax(b + (v & 1), v + r) + 1;
  b[64 + thread_index()] = v;
}
__global__ void atomics_shared_float(float* b, int rounds) {
  __shared__ float bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0.f;
  __syncthreads();
  for (int r = 0; r < rounds; ++r) atomicAdd(bins + (threadIdx.x + r) % 8, 1.f);
  __syncthreads();
  b[thread_index()] = bins[threadIdx.x % 8];
}
__global__ void occupancy_shared_fma(float* b, int rounds) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  float v = tile[threadIdx.x ^ 1];
  for (int r = 0; r < rounds; ++r) v = v * 0.999f + 0.001f;
  b[thread_index()] = v;
}
__global__ void __launch_bounds__(64) occupancy_registers_gather(const float* a, float* b, int rounds) {
  float held[180];
#pragma unroll
  for (int k = 0; k < 180; ++k) held[k] = load_l2(a + k * 64 + threadIdx.x);
  float sum = 0.f;
  for (int r = 0; r < rounds; ++r) sum += load_l2(a + ((uint32_t(thread_index()) + uint32_t(sum) * 32 + r * 8192u) & 0x3ffffff));
#pragma unroll
  for (int k = 0; k < 180; ++k) sum = sum * 0.5f + held[k];
  b[thread_index()] = sum;
}
__global__ void small_grid_stream(const float4* a, float4* b, size_t count) {
  for (size_t i = thread_index(); i < count; i += thread_total()) { float4 v = a[i]; v.x += 1.f; b[i] = v; }
}
__global__ void tail_stream(const float4* a, float* b, int rounds) {
  extern __shared__ float room[];
  float sum = 0.f;
  for (int r = 0; r < rounds; ++r) {
    float4 v = load_l2(a + (blockIdx.x * 512 + threadIdx.x + r * 131072 + (uint32_t(sum) & 1)) % (1 << 22));
    sum += v.x + v.y;
  }
  room[threadIdx.x] = sum;
  b[thread_index()] = room[threadIdx.x];
}
__global__ void imbalance_rows(const float* a, float* b, int longest) {
  int count = blockIdx.x % 64 == 5 ? longest : longest / 64;
  float sum = 0.f;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += load_l2(a + (blockIdx.x * 4096 + i) % (1 << 24));
  b[thread_index()] = sum;
}
__global__ void launch_axpy(const float* a, float* b) { size_t i = thread_index(); b[i] += 2.f * a[i]; }
__global__ void launch_reduce_small(const float* a, float* b) {
  float v = a[threadIdx.x];
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  if (threadIdx.x == 0) *b = v;
}
__global__ void fp32_gemm_registers(const float* a, const float* b, float* c, int n) {
  __shared__ float x[8][128], y[8][128];
  float sum[8][8] = {};
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  for (int t = 0; t < n; t += 8) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      x[i / 128][i % 128] = a[size_t(t + i / 128) * n + blockIdx.y * 128 + i % 128];
      y[i / 128][i % 128] = b[size_t(t + i / 128) * n + blockIdx.x * 128 + i % 128];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      float u[8], v[8];
#pragma unroll
      for (int e = 0; e < 8; ++e) { u[e] = x[k][ty * 4 + (e / 4) * 64 + e % 4]; v[e] = y[k][tx * 4 + (e / 4) * 64 + e % 4]; }
#pragma unroll
      for (int p = 0; p < 8; ++p)
#pragma unroll
        for (int q = 0; q < 8; ++q) sum[p][q] += u[p] * v[q];
    }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < 8; ++p)
#pragma unroll
    for (int q = 0; q < 8; ++q)
      c[size_t(blockIdx.y * 128 + ty * 4 + (p / 4) * 64 + p % 4) * n + blockIdx.x * 128 + tx * 4 + (q / 4) * 64 + q % 4] = sum[p][q];
}

int main() {
  float *a = buffer<float>(size_t(1) << 27), *b = buffer<float>(size_t(1) << 27), *c = buffer<float>(size_t(1) << 26);
  uint32_t* next = buffer<uint32_t>(1u << 24, 1u << 24);
  uint32_t* index = buffer<uint32_t>(1u << 24, 1u << 31);
  CHECK(cudaFuncSetAttribute(occupancy_shared_fma, cudaFuncAttributeMaxDynamicSharedMemorySize, 110 * 1024));
  CHECK(cudaFuncSetAttribute(tail_stream, cudaFuncAttributeMaxDynamicSharedMemorySize, 110 * 1024));
  CHECK(cudaProfilerStart());
  RUN(dram_stencil, dim3(128, 2048), dim3(64, 4), 0, a, b, 8192);
  RUN(dram_rows, 16384, 256, 0, (float4*)a, b);
  RUN(dram_points, (1 << 25) / 256, 256, 0, a, b);
  RUN(l2_reverse, 132 * 8, 256, 0, (float4*)a, (float4*)b, (1 << 20) - 1, 200);
  RUN(l1_broadcast, 132 * 8, 256, 0, a, 400, 0, c);
  RUN(shared_matmul, dim3(64, 64), dim3(32, 32), 0, a, b, c, 2048);
  RUN(bank_conflict_store, 132 * 6, 256, 0, b, 300);
  RUN(uncoalesced_random_l2, 132 * 8, 256, 0, a, index, b, 20);
  RUN(uncoalesced_column_matrix, (1 << 15) / 256, 256, 0, a, b, 4096);
  RUN(spill_doubles, 132 * 4, 512, 0, (double*)a, (double*)b, 60);
  RUN(tensor_bf16_few_warps, 132, 128, 0, (__nv_bfloat16*)a, b, 3000);
  RUN(fp64_divide, 132 * 8, 256, 0, (double*)b, 300);
  RUN(int_hash, 132 * 8, 256, 0, (uint32_t*)b, 2000);
  RUN(sfu_tanh, 132 * 8, 256, 0, a, b, 1000);
  RUN(divergence_mandelbrot, (1 << 20) / 256, 256, 0, b, 2048, 500);
  RUN(dependency_fp64_chain, 132, 64, 0, (double*)b, 10000);
  RUN(dependency_list, 132 * 16, 128, 0, next, (uint32_t*)b, 200);
  RUN(barrier_only, 132 * 4, 1024, 0, b, 1000);
  RUN(barrier_producer, 132 * 4, 512, 0, a, b, 200);
  RUN(atomics_max_return, 132 * 2, 256, 0, (int*)b, 10);
  RUN(atomics_shared_float, 132 * 8, 256, 0, b, 300);
  RUN(occupancy_shared_fma, 132 * 4, 64, 110 * 1024, b, 20000);
  RUN(occupancy_registers_gather, 132 * 10, 64, 0, a, b, 300);
  RUN(small_grid_stream, 40, 1024, 0, (float4*)a, (float4*)b, 1 << 22);
  RUN(tail_stream, 132 * 2 + 6, 512, 110 * 1024, (float4*)a, b, 400);
  RUN(imbalance_rows, 132 * 8, 256, 0, a, b, 1 << 20);
  RUN(launch_axpy, 256, 256, 0, a, b);
  RUN(launch_reduce_small, 1, 32, 0, a, b);
  RUN(fp32_gemm_registers, dim3(24, 24), 256, 0, a, b, c, 3072);
  CHECK(cudaProfilerStop());
  return 0;
}
