/* kb
op = "softmax"
dtypes = ["bf16", "fp16", "fp32"]

config = { THREADS = 256, PART = 16384 }

[tuning_space]
THREADS = [64, 128, 256, 512, 1024]
PART = [8192, 16384, 32768]

[inputs]
x = "[M, N]"

[outputs]
out = "[M, N]"

# Long rows: the maximum and the sum of each part of each row.
[scratch]
parts = "fp32[M, PARTS, 2]"

[let]
# Elements of one 16-byte access; 1 where rows are no multiple of it.
VEC = "max(16 // element_bytes * (1 - min(N * element_bytes % 16, 1)), 1)"
PARTS = "cdiv(N, PART)"

[[steps]]
launch = "softmax_rows<{T}, {THREADS}, {VEC}>"
when = "PARTS == 1"
grid = ["M"]
block = ["THREADS"]
arguments = ["x", "out", "i32 N"]

[[steps]]
launch = "softmax_parts<{T}, {THREADS}, {VEC}, {PART}>"
when = "PARTS > 1"
grid = ["PARTS", "min(M, 65535)"]
block = ["THREADS"]
arguments = ["x", "parts", "i64 M", "i32 N"]

[[steps]]
launch = "softmax_finish<{T}, {THREADS}, {VEC}, {PART}>"
when = "PARTS > 1"
grid = ["PARTS", "min(M, 65535)"]
block = ["THREADS"]
arguments = ["x", "parts", "out", "i64 M", "i32 N"]

[[variants]]
name = "split_rows"
category = "parallelism"
summary = "several blocks a row in two launches: few long rows fill the device"
precondition = "N >= 16384"
config = { PART = 8192 }
knobs = ["THREADS", "PART"]
*/
// Softmax over rows: maximum and sum in one pass, 16-byte accesses, sums in fp32. Long rows take two launches.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>

template <typename T, int VEC>
struct alignas(sizeof(T) * VEC) Pack {
  T values[VEC];
};

// A maximum and the sum of exp(x - maximum) over what has been seen.
struct Seen {
  float maximum;
  float sum;
};

__device__ Seen joined(Seen one, Seen two) {
  const float maximum = fmaxf(one.maximum, two.maximum);
  if (maximum == -CUDART_INF_F) return {maximum, 0.0f};
  return {maximum, one.sum * __expf(one.maximum - maximum) + two.sum * __expf(two.maximum - maximum)};
}

// Returns what a block has seen to every thread of it.
template <int THREADS>
__device__ Seen block_joined(Seen seen) {
  __shared__ Seen warps[32];
  for (int lane = 16; lane > 0; lane /= 2) {
    seen = joined(seen, {__shfl_xor_sync(~0u, seen.maximum, lane), __shfl_xor_sync(~0u, seen.sum, lane)});
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = seen;
  __syncthreads();
  Seen all = warps[0];
  for (int warp = 1; warp < THREADS / 32; ++warp) all = joined(all, warps[warp]);
  return all;
}

// Goes over elements [begin, end) of a row once.
template <typename T, int THREADS, int VEC>
__device__ Seen looked_at(const T* __restrict__ row, int begin, int end) {
  using Vector = Pack<T, VEC>;
  Seen seen = {-CUDART_INF_F, 0.0f};
  for (int at = begin + threadIdx.x * VEC; at < end; at += THREADS * VEC) {
    const Vector pack = *reinterpret_cast<const Vector*>(row + at);
    Seen here = {static_cast<float>(pack.values[0]), 0.0f};
#pragma unroll
    for (int one = 1; one < VEC; ++one) here.maximum = fmaxf(here.maximum, static_cast<float>(pack.values[one]));
    if (here.maximum == -CUDART_INF_F) continue;
#pragma unroll
    for (int one = 0; one < VEC; ++one) here.sum += __expf(static_cast<float>(pack.values[one]) - here.maximum);
    seen = joined(seen, here);
  }
  return block_joined<THREADS>(seen);
}

// Writes exp(x - maximum) / sum for elements [begin, end) of a row.
template <typename T, int THREADS, int VEC>
__device__ void written(const T* __restrict__ row, T* __restrict__ out, int begin, int end, Seen seen) {
  using Vector = Pack<T, VEC>;
  const float scale = 1.0f / seen.sum;
  for (int at = begin + threadIdx.x * VEC; at < end; at += THREADS * VEC) {
    const Vector pack = *reinterpret_cast<const Vector*>(row + at);
    Vector made;
#pragma unroll
    for (int one = 0; one < VEC; ++one) {
      made.values[one] = static_cast<T>(__expf(static_cast<float>(pack.values[one]) - seen.maximum) * scale);
    }
    *reinterpret_cast<Vector*>(out + at) = made;
  }
}

template <typename T, int THREADS, int VEC>
__global__ void __launch_bounds__(THREADS) softmax_rows(const T* __restrict__ x, T* __restrict__ out, int columns) {
  const size_t start = static_cast<size_t>(blockIdx.x) * columns;
  const Seen seen = looked_at<T, THREADS, VEC>(x + start, 0, columns);
  written<T, THREADS, VEC>(x + start, out + start, 0, columns, seen);
}

template <typename T, int THREADS, int VEC, int PART>
__global__ void __launch_bounds__(THREADS)
softmax_parts(const T* __restrict__ x, float* __restrict__ parts, long long rows, int columns) {
  const int begin = blockIdx.x * PART, end = min(begin + PART, columns);
  for (long long row = blockIdx.y; row < rows; row += gridDim.y) {
    const Seen seen = looked_at<T, THREADS, VEC>(x + row * columns, begin, end);
    if (threadIdx.x == 0) {
      float* mine = parts + (row * gridDim.x + blockIdx.x) * 2;
      mine[0] = seen.maximum;
      mine[1] = seen.sum;
    }
  }
}

template <typename T, int THREADS, int VEC, int PART>
__global__ void __launch_bounds__(THREADS) softmax_finish(
    const T* __restrict__ x, const float* __restrict__ parts, T* __restrict__ out, long long rows, int columns) {
  const int begin = blockIdx.x * PART, end = min(begin + PART, columns);
  for (long long row = blockIdx.y; row < rows; row += gridDim.y) {
    Seen seen = {-CUDART_INF_F, 0.0f};
    for (int part = 0; part < gridDim.x; ++part) {
      const float* one = parts + (row * gridDim.x + part) * 2;
      seen = joined(seen, {one[0], one[1]});
    }
    written<T, THREADS, VEC>(x + row * columns, out + row * columns, begin, end, seen);
  }
}
