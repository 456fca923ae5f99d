// What every microkernel file shares: checked calls, buffers filled with data, opaque loads, a launch that must succeed.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                                      \
  do {                                                                                   \
    cudaError_t status = (call);                                                         \
    if (status != cudaSuccess) {                                                         \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      std::exit(1);                                                                      \
    }                                                                                    \
  } while (0)

#define RUN(kernel, grid, block, shared, ...)              \
  do {                                                     \
    kernel<<<grid, block, shared>>>(__VA_ARGS__);          \
    CHECK(cudaGetLastError());                             \
    CHECK(cudaDeviceSynchronize());                        \
  } while (0)

__global__ void zoo_fill(uint32_t* data, size_t count, uint32_t modulus) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
    uint32_t x = uint32_t(i) * 2654435761u + 12345u;
    x ^= x >> 15; x *= 2246822519u; x ^= x >> 13;
    data[i] = modulus ? x % modulus : (x & 0x007fffffu) | 0x3f800000u;  // floats in [1, 2), or indices
  }
}

template <typename T> T* buffer(size_t count, uint32_t modulus = 0) {
  T* data = nullptr;
  CHECK(cudaMalloc(&data, count * sizeof(T)));
  zoo_fill<<<1024, 256>>>(reinterpret_cast<uint32_t*>(data), count * sizeof(T) / 4, modulus);
  CHECK(cudaDeviceSynchronize());
  return data;
}

// Loads that the compiler can neither hoist, merge nor drop.
__device__ __forceinline__ float load_l1(const float* p) {
  float v; asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(v) : "l"(p)); return v;
}
__device__ __forceinline__ float4 load_l1(const float4* p) {
  float4 v;
  asm volatile("ld.global.ca.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
  return v;
}
__device__ __forceinline__ float load_l2(const float* p) {
  float v; asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(p)); return v;
}
__device__ __forceinline__ float4 load_l2(const float4* p) {
  float4 v;
  asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
  return v;
}
__device__ __forceinline__ uint32_t load_l2(const uint32_t* p) {
  uint32_t v; asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p)); return v;
}
__device__ __forceinline__ float load_shared(uint32_t address) {
  float v; asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address)); return v;
}
__device__ __forceinline__ float4 load_shared4(uint32_t address) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(address));
  return v;
}
__device__ __forceinline__ size_t thread_index() { return blockIdx.x * size_t(blockDim.x) + threadIdx.x; }
__device__ __forceinline__ size_t thread_total() { return size_t(gridDim.x) * blockDim.x; }
