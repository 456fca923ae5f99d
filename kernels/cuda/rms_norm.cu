/* kb
op = "rms_norm"
op_options = { weight = true }
dtypes = ["bf16", "fp16", "fp32"]

config = { THREADS = 256, CACHED = 1 }

[tuning_space]
THREADS = [64, 128, 256, 512, 1024]
CACHED = [0, 1]

[inputs]
x = "[M, N]"
weight = "[N]"

[outputs]
out = "[M, N]"

[let]
# Elements of one 16-byte access; 1 where rows are no multiple of it.
VEC = "max(16 // element_bytes * (1 - min(N * element_bytes % 16, 1)), 1)"
# A row stays in shared memory between its two passes where 48 KiB hold it.
ROW_BYTES = "N * element_bytes * CACHED * (49152 // max(N * element_bytes, 49152))"
KEPT = "min(ROW_BYTES, 1)"

[[steps]]
launch = "rms_norm<{T}, {THREADS}, {VEC}, {KEPT}>"
grid = ["M"]
block = ["THREADS"]
shared = "ROW_BYTES"
arguments = ["x", "weight", "out", "i32 N", "fp32 1e-6"]

[[variants]]
name = "one_pass"
category = "memory_traffic"
summary = "keep the row in shared memory, so that it is read once"
precondition = "N * element_bytes <= 49152"
config = { CACHED = 1 }
knobs = ["THREADS"]

[[variants]]
name = "two_pass"
category = "caching"
summary = "read the row twice and leave it to the cache; more blocks fit without shared memory"
precondition = "N * element_bytes > 4096"
config = { CACHED = 0 }
knobs = ["THREADS"]
*/
// RMS normalisation over rows: one block a row, 16-byte accesses, sums in fp32.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T, int VEC>
struct alignas(sizeof(T) * VEC) Pack {
  T values[VEC];
};

// Returns the sum over a block to every thread of it.
template <int THREADS>
__device__ float block_sum(float value) {
  __shared__ float parts[32];
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(~0u, value, lane);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int warp = 0; warp < THREADS / 32; ++warp) sum += parts[warp];
  return sum;
}

template <typename T, int THREADS, int VEC, bool KEPT>
__global__ void __launch_bounds__(THREADS)
rms_norm(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, int columns, float eps) {
  using Vector = Pack<T, VEC>;
  extern __shared__ __align__(16) unsigned char row[];
  const size_t start = static_cast<size_t>(blockIdx.x) * columns;
  const Vector* from = reinterpret_cast<const Vector*>(x + start);
  const Vector* scales = reinterpret_cast<const Vector*>(weight);
  Vector* to = reinterpret_cast<Vector*>(out + start);
  Vector* kept = reinterpret_cast<Vector*>(row);
  const int packs = columns / VEC;

  float squares = 0.0f;
  for (int at = threadIdx.x; at < packs; at += THREADS) {
    const Vector pack = from[at];
    if (KEPT) kept[at] = pack;
#pragma unroll
    for (int one = 0; one < VEC; ++one) {
      const float value = static_cast<float>(pack.values[one]);
      squares += value * value;
    }
  }
  const float scale = rsqrtf(block_sum<THREADS>(squares) / columns + eps);

  // A thread reads only what it kept itself, so that no further barrier is needed.
  for (int at = threadIdx.x; at < packs; at += THREADS) {
    const Vector pack = KEPT ? kept[at] : from[at];
    const Vector factors = scales[at];
    Vector made;
#pragma unroll
    for (int one = 0; one < VEC; ++one) {
      made.values[one] = static_cast<T>(static_cast<float>(pack.values[one]) * scale * static_cast<float>(factors.values[one]));
    }
    to[at] = made;
  }
}
