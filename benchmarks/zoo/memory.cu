// Kernels built to be bound by one level of memory, or by wasting it.
#include "zoo.cuh"

__global__ void dram_copy4(const float* a, float* b) { size_t i = thread_index(); b[i] = a[i]; }
__global__ void dram_copy16(const float4* a, float4* b) { size_t i = thread_index(); b[i] = a[i]; }
__global__ void dram_triad8(const float2* a, const float2* b, float2* c) {
  size_t i = thread_index();
  float2 x = a[i], y = b[i];
  c[i] = make_float2(x.x + 3.f * y.x, x.y + 3.f * y.y);
}
__global__ void dram_write16(float4* a) { a[thread_index()] = make_float4(1.f, 2.f, 3.f, 4.f); }
__global__ void dram_reduce(const float4* a, size_t count, float* out) {
  float sum = 0.f;
  for (size_t i = thread_index(); i < count; i += thread_total()) {
    float4 v = a[i];
    sum += v.x + v.y + v.z + v.w;
  }
  for (int o = 16; o; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
__global__ void __launch_bounds__(1024) dram_persistent16(const float4* a, float4* b, size_t count) {
  size_t step = thread_total();
  for (size_t i = thread_index(); i + 3 * step < count; i += 4 * step) {
    float4 v0 = a[i], v1 = a[i + step], v2 = a[i + 2 * step], v3 = a[i + 3 * step];
    b[i] = v0; b[i + step] = v1; b[i + 2 * step] = v2; b[i + 3 * step] = v3;
  }
}

__device__ float l2_sum(const float4* a, uint32_t count, int rounds) {
  float sum = 0.f;
  for (int r = 0; r < rounds; ++r)
    for (uint32_t i = thread_index(); i < count; i += thread_total() * 4) {
      float4 v[4];
      for (int u = 0; u < 4; ++u) v[u] = load_l2(a + ((i + u * uint32_t(thread_total())) & (count - 1)));
      for (int u = 0; u < 4; ++u) sum += v[u].x + v[u].y + v[u].z + v[u].w;
    }
  return sum;
}
__global__ void l2_read16(const float4* a, uint32_t count, int rounds, float* out) {
  float sum = l2_sum(a, count, rounds);
  if (sum == 1.f) *out = sum;
}
__global__ void __launch_bounds__(1024) l2_persistent(const float4* a, uint32_t count, int rounds, float* out) {
  float sum = l2_sum(a, count, rounds);
  if (sum == 1.f) *out = sum;
}
__global__ void l2_read4(const float* a, uint32_t count, int rounds, float* out) {
  float sum = 0.f;
  for (int r = 0; r < rounds; ++r)
    for (uint32_t i = thread_index(); i + 7 * 262144 < count; i += 8 * 262144) {
      float v[8];
#pragma unroll
      for (int u = 0; u < 8; ++u) v[u] = load_l2(a + i + u * 262144);
      for (int u = 0; u < 8; ++u) sum += v[u];
    }
  if (sum == 1.f) *out = sum;
}
__global__ void l2_write16(float4* a, uint32_t count, int rounds) {
  for (int r = 0; r < rounds; ++r)
    for (uint32_t i = thread_index(); i < count; i += thread_total()) a[i] = make_float4(r, 1.f, 2.f, 3.f);
}

__global__ void l1_read4(const float* a, int rounds, int zero, float* out) {
  const float* mine = a + (blockIdx.x % 64) * 4096;
  float sum = 0.f;
  for (int r = 0; r < rounds; ++r, mine += zero)
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += load_l1(mine + i * 256 + threadIdx.x);
  if (sum == 1.f) *out = sum;
}
__global__ void l1_read16(const float4* a, int rounds, int zero, float* out) {
  const float4* mine = a + (blockIdx.x % 64) * 1024;
  float sum = 0.f;
  for (int r = 0; r < rounds; ++r, mine += zero)
#pragma unroll
    for (int i = 0; i < 4; ++i) { float4 v = load_l1(mine + i * 256 + threadIdx.x); sum += v.x + v.y + v.z + v.w; }
  if (sum == 1.f) *out = sum;
}

__device__ float shared_sum(int stride, int rounds, uint32_t zero) {
  __shared__ float tile[8192];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) tile[i] = i;
  __syncthreads();
  uint32_t base = uint32_t(__cvta_generic_to_shared(tile));
  float sum = 0.f;
  for (int r = 0; r < rounds; ++r, base += zero)
#pragma unroll
    for (int u = 0; u < 8; ++u) sum += load_shared(base + ((threadIdx.x * stride + u * 32) % 8192) * 4);
  return sum;
}
__global__ void shared_read4(int rounds, uint32_t zero, float* out) { float s = shared_sum(1, rounds, zero); if (s == 1.f) *out = s; }
__global__ void bank_conflict32(int rounds, uint32_t zero, float* out) { float s = shared_sum(32, rounds, zero); if (s == 1.f) *out = s; }
__global__ void bank_conflict8(int rounds, uint32_t zero, float* out) { float s = shared_sum(8, rounds, zero); if (s == 1.f) *out = s; }
__global__ void bank_conflict2(int rounds, uint32_t zero, float* out) { float s = shared_sum(2, rounds, zero); if (s == 1.f) *out = s; }
__global__ void shared_read16(int rounds, uint32_t zero, float* out) {
  __shared__ float4 tile[2048];
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) tile[i] = make_float4(i, 1.f, 2.f, 3.f);
  __syncthreads();
  uint32_t base = uint32_t(__cvta_generic_to_shared(tile));
  float sum = 0.f;
  for (int r = 0; r < rounds; ++r, base += zero)
#pragma unroll
    for (int u = 0; u < 4; ++u) { float4 v = load_shared4(base + ((threadIdx.x + u * 256) % 2048) * 16); sum += v.x + v.w; }
  if (sum == 1.f) *out = sum;
}
__global__ void shared_exchange(int rounds, float* out) {
  __shared__ volatile float tile[1024];
  float v = threadIdx.x;
  tile[threadIdx.x] = v;
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int u = 0; u < 4; ++u) { tile[threadIdx.x + u * 256] = v; v = v + tile[(threadIdx.x ^ 1) + u * 256]; }
  }
  if (v == 1.f) *out = v;
}
__global__ void bank_conflict_transpose(const float* a, float* b, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
  for (int j = threadIdx.y; j < 32; j += 8) tile[j][threadIdx.x] = a[size_t(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32;
  for (int j = threadIdx.y; j < 32; j += 8) b[size_t(y + j) * n + x] = tile[threadIdx.x][j];
}

__global__ void uncoalesced_stride32(const float* a, float* b) { size_t i = thread_index(); b[i] = a[i * 32]; }
__global__ void uncoalesced_stride2(const float* a, float* b) { size_t i = thread_index(); b[i] = a[i * 2] + a[i * 2 + (1 << 27)]; }
__global__ void uncoalesced_gather(const float* a, const uint32_t* index, float* b) {
  size_t i = thread_index();
  b[i] = a[index[i]];
}
__global__ void uncoalesced_scatter(const float* a, const uint32_t* index, float* b) {
  size_t i = thread_index();
  b[index[i]] = a[i];
}
__global__ void uncoalesced_rows(const float* a, float* b, int columns) {
  size_t row = thread_index();
  float sum = 0.f;
  for (int c = 0; c < columns; ++c) sum += a[row * columns + c];
  b[row] = sum;
}
__global__ void uncoalesced_transpose(const float* a, float* b, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  b[size_t(x) * n + y] = a[size_t(y) * n + x];
}
struct Particle { float x, y, z, vx, vy, vz, mass, charge; };
__global__ void uncoalesced_struct(const Particle* a, float* b) { size_t i = thread_index(); b[i] = a[i].mass; }

__global__ void __launch_bounds__(1024, 2) spill_registers(const float* a, float* b, int rounds) {
  float v[96];
  size_t i = thread_index();
#pragma unroll
  for (int k = 0; k < 96; ++k) v[k] = load_l2(a + (i + k * 1024) % (1 << 20));
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 96; ++k) v[k] = v[k] * v[(k + 37) % 96] + 1.f;
  }
  float sum = 0.f;
#pragma unroll
  for (int k = 0; k < 96; ++k) sum += v[k];
  b[i] = sum;
}
__global__ void spill_private_array(const uint32_t* index, float* b, int rounds) {
  float v[64];
  size_t i = thread_index();
  for (int k = 0; k < 64; ++k) v[k] = k;
  uint32_t at = index[i] % 64;
  for (int r = 0; r < rounds; ++r) { v[at] += 1.f; at = (at * 5 + 1 + uint32_t(v[(at + 7) % 64])) % 64; }
  float sum = 0.f;
  for (int k = 0; k < 64; ++k) sum += v[(k + at) % 64];
  b[i] = sum;
}

int main() {
  const size_t big = size_t(1) << 28;  // 1 GiB of floats
  float *a = buffer<float>(big), *b = buffer<float>(size_t(1) << 27), *c = buffer<float>(size_t(1) << 26);
  uint32_t* index = buffer<uint32_t>(size_t(1) << 24, 1u << 27);
  auto *a4 = reinterpret_cast<float4*>(a), *b4 = reinterpret_cast<float4*>(b);
  const int n = 1 << 26;
  CHECK(cudaProfilerStart());
  RUN(dram_copy4, n / 256, 256, 0, a, b);
  RUN(dram_copy16, n / 4 / 256, 256, 0, a4, b4);
  RUN(dram_triad8, n / 2 / 512, 512, 0, (float2*)a, (float2*)b, (float2*)c);
  RUN(dram_write16, n / 4 / 256, 256, 0, b4);
  RUN(dram_reduce, 132 * 16, 256, 0, a4, n / 4, c);
  RUN(dram_persistent16, 132, 1024, 0, a4, b4, n / 4);
  RUN(l2_read16, 132 * 8, 256, 0, a4, 1 << 20, 40, c);
  RUN(l2_persistent, 132, 1024, 0, a4, 1 << 20, 40, c);
  RUN(l2_read4, 1024, 256, 0, a, 1 << 21, 100, c);
  RUN(l2_write16, 132 * 8, 256, 0, b4, 1 << 19, 60);
  RUN(l1_read4, 132 * 8, 256, 0, a, 200, 0, c);
  RUN(l1_read16, 132 * 8, 256, 0, a4, 200, 0, c);
  RUN(shared_read4, 132 * 12, 256, 0, 1000, 0, c);
  RUN(shared_read16, 132 * 12, 256, 0, 500, 0, c);
  RUN(shared_exchange, 132 * 16, 256, 0, 500, c);
  RUN(bank_conflict32, 132 * 6, 256, 0, 200, 0, c);
  RUN(bank_conflict8, 132 * 6, 256, 0, 300, 0, c);
  RUN(bank_conflict2, 132 * 6, 256, 0, 1000, 0, c);
  RUN(bank_conflict_transpose, dim3(256, 256), dim3(32, 8), 0, a, b, 8192);
  RUN(uncoalesced_stride32, (1 << 23) / 256, 256, 0, a, b);
  RUN(uncoalesced_stride2, (1 << 26) / 256, 256, 0, a, b);
  RUN(uncoalesced_gather, (1 << 24) / 256, 256, 0, a, index, b);
  RUN(uncoalesced_scatter, (1 << 24) / 256, 256, 0, a, index, b);
  RUN(uncoalesced_rows, (1 << 17) / 128, 128, 0, a, b, 1024);
  RUN(uncoalesced_transpose, dim3(256, 1024), dim3(32, 8), 0, a, b, 8192);
  RUN(uncoalesced_struct, (1 << 24) / 256, 256, 0, (Particle*)a, b);
  RUN(spill_registers, 132 * 2, 1024, 0, a, b, 40);
  RUN(spill_private_array, 132 * 16, 256, 0, index, b, 400);
  CHECK(cudaProfilerStop());
  return 0;
}
