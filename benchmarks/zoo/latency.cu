// Kernels in which no unit is busy: chains, barriers, atomics, too few warps, idle multiprocessors, tiny launches.
#include "zoo.cuh"

__device__ uint32_t chase(const uint32_t* next, uint32_t at, int steps) {
  for (int s = 0; s < steps; ++s) at = load_l2(next + at);
  return at;
}
__global__ void dependency_chase_dram(const uint32_t* next, uint32_t* b, uint32_t mask, int steps) {
  b[thread_index()] = chase(next, (uint32_t(thread_index() / 32) * 40503u) & mask, steps);
}
__global__ void dependency_chase_l2(const uint32_t* next, uint32_t* b, uint32_t mask, int steps) {
  b[thread_index()] = chase(next, (uint32_t(thread_index() / 32) * 40503u) & mask, steps);
}
__global__ void dependency_chase_persistent(const uint32_t* next, uint32_t* b, uint32_t mask, int steps) {
  b[thread_index()] = chase(next, (uint32_t(thread_index() / 32) * 40503u) & mask, steps);
}
__global__ void dependency_indirect(const uint32_t* i1, const uint32_t* i2, float* a, int columns) {
  size_t t = thread_index();
  float sum = 0.f;
  for (int c = 0; c < columns; ++c) {
    uint32_t p = load_l2(i1 + (t + size_t(sum)) / 32);   // each address needs the last value
    uint32_t q = load_l2(i2 + (p & 0xffff));
    sum += q & 1;
  }
  a[t] = sum;
}
__global__ void dependency_fma(float* b, int rounds) {
  float v = threadIdx.x;
  for (int r = 0; r < rounds; ++r) v = v * 0.999f + 0.001f;
  b[thread_index()] = v;
}
__global__ void dependency_shared(float* b, int rounds) {
  __shared__ uint32_t tile[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = (i * 5 + 1) % 1024;
  __syncthreads();
  uint32_t at = threadIdx.x / 32;
  for (int r = 0; r < rounds; ++r) at = tile[at];
  b[thread_index()] = at;
}

__global__ void barrier_often(float* b, int rounds) {
  __shared__ float tile[1024];
  float v = threadIdx.x;
  tile[threadIdx.x] = v;
  for (int r = 0; r < rounds; ++r) {
    __syncthreads();
    v = v * 0.5f + tile[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    tile[threadIdx.x] = v;
  }
  b[thread_index()] = v;
}
__global__ void barrier_skew(float* b, int rounds) {
  float v = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    if (threadIdx.x < 32) for (int k = 0; k < 100; ++k) v = v * 0.999f + 0.001f;
    __syncthreads();
  }
  b[thread_index()] = v;
}
__global__ void barrier_reduce(const float* a, float* b, int rounds) {
  __shared__ float tile[512];
  float total = 0.f;
  for (int r = 0; r < rounds; ++r) {
    tile[threadIdx.x] = a[(r * 512 + threadIdx.x) % 65536];
    __syncthreads();
    for (int s = 256; s; s /= 2) {
      if (threadIdx.x < s) tile[threadIdx.x] += tile[threadIdx.x + s];
      __syncthreads();
    }
    total += tile[0];
    __syncthreads();
  }
  b[thread_index()] = total;
}

__global__ void atomics_one_address(float* b, int rounds) { for (int r = 0; r < rounds; ++r) atomicAdd(b, float(threadIdx.x)); }
__global__ void atomics_histogram(const uint32_t* index, uint32_t* bins, size_t count) {
  for (size_t i = thread_index(); i < count; i += thread_total()) atomicAdd(bins + index[i] % 256, 1u);
}
__global__ void atomics_spread(const uint32_t* index, float* b) { size_t i = thread_index(); atomicAdd(b + (index[i] & 0xfffff), 1.f); }
__global__ void atomics_return(uint32_t* queue, uint32_t* b, int rounds) {
  uint32_t v = 0;
  for (int r = 0; r < rounds; ++r) v += atomicExch(queue + (threadIdx.x % 32) * 64, v);
  b[thread_index()] = v;
}
__global__ void atomics_shared(const uint32_t* index, uint32_t* b, int rounds) {
  __shared__ uint32_t bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  uint32_t x = index[thread_index()];
  for (int r = 0; r < rounds; ++r) { atomicAdd(bins + (x & 3), x); x = x * 1664525u + 1013904223u; }
  __syncthreads();
  b[thread_index()] = bins[threadIdx.x];
}
__global__ void atomics_lock(int* lock, float* b, int rounds) {
  if (threadIdx.x % 32) return;
  for (int r = 0; r < rounds; ++r) {
    while (atomicCAS(lock + blockIdx.x % 16, 0, 1) != 0) {}
    b[blockIdx.x % 16] += 1.f;
    __threadfence();
    atomicExch(lock + blockIdx.x % 16, 0);
  }
}

__device__ float stream(const float* a, size_t count) {
  float sum = 0.f;
#pragma unroll 1
  for (size_t i = thread_index(); i < count; i += thread_total()) sum += load_l2(a + i);
  return sum;
}
__global__ void __launch_bounds__(256, 1) occupancy_registers_stream(const float* a, float* b, size_t count) {
  float held[200];
#pragma unroll
  for (int k = 0; k < 200; ++k) held[k] = load_l2(a + k * 256 + threadIdx.x);
  float sum = stream(a, count);
#pragma unroll
  for (int k = 0; k < 200; ++k) sum = sum * 0.5f + held[k];
  b[thread_index()] = sum;
}
__global__ void __launch_bounds__(128, 3) occupancy_registers_chase(const uint32_t* next, uint32_t* b, uint32_t mask, int steps) {
  uint32_t held[120];
#pragma unroll
  for (int k = 0; k < 120; ++k) held[k] = load_l2(next + k * 256 + threadIdx.x);
  uint32_t at = chase(next, (uint32_t(thread_index() / 32) * 40503u) & mask, steps);
#pragma unroll
  for (int k = 0; k < 120; ++k) at = at * 5 + held[k];
  b[thread_index()] = at;
}
__global__ void occupancy_shared_stream(const float* a, float* b, size_t count) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  b[thread_index()] = stream(a, count) + tile[threadIdx.x ^ 1];
}
__global__ void occupancy_shared_chase(const uint32_t* next, uint32_t* b, uint32_t mask, int steps) {
  extern __shared__ uint32_t words[];
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  b[thread_index()] = chase(next, (uint32_t(thread_index() / 32) * 40503u) & mask, steps) + words[threadIdx.x ^ 1];
}
__global__ void occupancy_blocks_chase(const uint32_t* next, uint32_t* b, uint32_t mask, int steps) {
  b[thread_index()] = chase(next, (uint32_t(thread_index() / 32) * 40503u) & mask, steps);
}
__global__ void occupancy_blocks_half_warp(const float* a, float* b, int rounds) {
  float sum = 0.f;
  for (int r = 0; r < rounds; ++r) sum += load_l2(a + (uint32_t(thread_index()) + uint32_t(sum) + r * 4096u) % (1u << 22));
  b[thread_index()] = sum;
}

__device__ float busy(float v, int rounds) {
  float w = v + 1.f, x = v + 2.f, y = v + 3.f;
  for (int r = 0; r < rounds; ++r) { v = v * 0.99f + 0.1f; w = w * 0.98f + 0.2f; x = x * 0.97f + 0.3f; y = y * 0.96f + 0.4f; }
  return v + w + x + y;
}
__global__ void small_grid_fma(float* b, int rounds) { b[thread_index()] = busy(threadIdx.x, rounds); }
__global__ void small_grid_one_block(float* b, int rounds) { b[thread_index()] = busy(threadIdx.x, rounds); }
__global__ void small_grid_copy(const float4* a, float4* b, size_t count) {
  for (size_t i = thread_index(); i < count; i += thread_total()) b[i] = a[i];
}
__global__ void tail_one_block_more(float* b, int rounds) {
  extern __shared__ float room[];  // large enough that a multiprocessor holds one block
  room[threadIdx.x] = busy(threadIdx.x, rounds);
  b[thread_index()] = room[threadIdx.x];
}
__global__ void tail_eighth(const uint32_t* next, uint32_t* b, uint32_t mask, int steps) {
  b[thread_index()] = chase(next, (uint32_t(thread_index() / 32) * 40503u) & mask, steps);
}
__global__ void __launch_bounds__(1024, 1) tail_two_and_a_bit(float* b, int rounds) { b[thread_index()] = busy(threadIdx.x, rounds); }
__global__ void imbalance_one_block(float* b, int rounds) { b[thread_index()] = busy(threadIdx.x, blockIdx.x == 7 ? rounds * 40 : rounds); }
__global__ void imbalance_triangle(float* b, int rounds) { b[thread_index()] = busy(threadIdx.x, rounds * blockIdx.x / 16); }
__global__ void imbalance_warp(float* b, int rounds) {
  float v = threadIdx.x;
  int mine = threadIdx.x < 32 ? rounds * 32 : rounds;
  for (int r = 0; r < mine; ++r) v = v * 0.999f + 0.001f;
  b[thread_index()] = v;
}

__global__ void launch_empty() {}
__global__ void launch_add_one(float* b) { b[thread_index()] += 1.f; }
__global__ void launch_small_copy(const float* a, float* b) { b[thread_index()] = a[thread_index()]; }

int main() {
  const uint32_t far_mask = (1u << 26) - 1, near_mask = (1u << 21) - 1;
  uint32_t *far_next = buffer<uint32_t>(1u << 26, 1u << 26), *near_next = buffer<uint32_t>(1u << 21, 1u << 21);
  uint32_t* index = buffer<uint32_t>(1 << 24, 1u << 24);
  float *a = buffer<float>(size_t(1) << 26), *b = buffer<float>(size_t(1) << 26);
  uint32_t* u = reinterpret_cast<uint32_t*>(b);
  CHECK(cudaMemset(u, 0, 1 << 20));
  const int big_shared = 100 * 1024, all_shared = 200 * 1024;
  CHECK(cudaFuncSetAttribute(occupancy_shared_stream, cudaFuncAttributeMaxDynamicSharedMemorySize, big_shared));
  CHECK(cudaFuncSetAttribute(occupancy_shared_chase, cudaFuncAttributeMaxDynamicSharedMemorySize, all_shared));
  CHECK(cudaFuncSetAttribute(tail_one_block_more, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 * 1024));
  CHECK(cudaProfilerStart());
  RUN(dependency_chase_dram, 132 * 8, 256, 0, far_next, u, far_mask, 200);
  RUN(dependency_chase_l2, 132 * 8, 256, 0, near_next, u, near_mask, 400);
  RUN(dependency_chase_persistent, 132, 256, 0, near_next, u, near_mask, 400);
  RUN(dependency_indirect, 132 * 8, 256, 0, index, near_next, a, 100);
  RUN(dependency_fma, 132, 128, 0, b, 20000);
  RUN(dependency_shared, 132 * 2, 128, 0, b, 4000);
  RUN(barrier_often, 132 * 2, 1024, 0, b, 500);
  RUN(barrier_skew, 132 * 8, 256, 0, b, 100);
  RUN(barrier_reduce, 132 * 4, 512, 0, a, b, 50);
  RUN(atomics_one_address, 132 * 4, 256, 0, b, 10);
  RUN(atomics_histogram, 132 * 8, 256, 0, index, u, 1 << 22);
  RUN(atomics_spread, (1 << 24) / 256, 256, 0, index, b);
  RUN(atomics_return, 132, 256, 0, u, u + (1 << 20), 50);
  RUN(atomics_shared, 132 * 8, 256, 0, index, u, 500);
  CHECK(cudaMemset(u, 0, 1 << 20));
  RUN(atomics_lock, 132, 32, 0, (int*)u, b + (1 << 20), 5);
  RUN(occupancy_registers_stream, 132 * 2, 256, 0, a, b, 1 << 24);
  RUN(occupancy_registers_chase, 132 * 6, 128, 0, near_next, u, near_mask, 300);
  RUN(occupancy_shared_stream, 132 * 4, 128, big_shared, a, b, 1 << 24);
  RUN(occupancy_shared_chase, 132 * 3, 256, all_shared, near_next, u, near_mask, 300);
  RUN(occupancy_blocks_chase, 132 * 64, 32, 0, near_next, u, near_mask, 300);
  RUN(occupancy_blocks_half_warp, 132 * 96, 32, 0, a, b, 200);
  RUN(small_grid_fma, 8, 256, 0, b, 20000);
  RUN(small_grid_one_block, 1, 1024, 0, b, 10000);
  RUN(small_grid_copy, 16, 512, 0, (float4*)a, (float4*)b, 1 << 22);
  RUN(tail_one_block_more, 132 + 1, 1024, 120 * 1024, b, 4000);
  RUN(tail_eighth, 132 * 9, 256, 0, near_next, u, near_mask, 400);
  RUN(tail_two_and_a_bit, 132 * 2 + 13, 1024, 0, b, 4000);
  RUN(imbalance_one_block, 132 * 16, 256, 0, b, 1000);
  RUN(imbalance_triangle, 264, 1024, 0, b, 1000);
  RUN(imbalance_warp, 132 * 8, 512, 0, b, 1000);
  RUN(launch_empty, 1, 32, 0);
  RUN(launch_add_one, 1, 256, 0, b);
  RUN(launch_small_copy, 64, 256, 0, a, b);
  CHECK(cudaProfilerStop());
  return 0;
}
