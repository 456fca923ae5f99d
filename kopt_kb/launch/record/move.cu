// The judge's own copy: any layout to any other, numbers converted. tools/move_ptx.py makes move_ptx.py of it.
typedef unsigned long long u64;
typedef long long i64;

enum Kind { RAW1, RAW2, RAW4, RAW8, FP16, BF16, FP32, FP64, I8, U8, I16, I32, I64, BOOL };

__device__ bool is_float(int kind) { return kind == FP16 || kind == BF16 || kind == FP32; }
__device__ bool is_whole(int kind) { return kind >= I8; }

__device__ float load_float(u64 at, int kind) {
  if (kind == FP32) return *reinterpret_cast<const float*>(at);
  const unsigned short bits = *reinterpret_cast<const unsigned short*>(at);
  if (kind == BF16) return __uint_as_float(static_cast<unsigned>(bits) << 16);
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

__device__ void store_float(u64 at, int kind, float value) {
  if (kind == FP32) {
    *reinterpret_cast<float*>(at) = value;
  } else if (kind == BF16) {
    const unsigned bits = __float_as_uint(value);
    const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    *reinterpret_cast<unsigned short*>(at) = value != value ? 0x7fc0 : static_cast<unsigned short>(rounded);
  } else {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    *reinterpret_cast<unsigned short*>(at) = bits;
  }
}

__device__ i64 load_whole(u64 at, int kind) {
  if (kind == I8) return *reinterpret_cast<const signed char*>(at);
  if (kind == U8) return *reinterpret_cast<const unsigned char*>(at);
  if (kind == BOOL) return *reinterpret_cast<const unsigned char*>(at) != 0;
  if (kind == I16) return *reinterpret_cast<const short*>(at);
  if (kind == I32) return *reinterpret_cast<const int*>(at);
  return *reinterpret_cast<const i64*>(at);
}

__device__ void store_whole(u64 at, int kind, i64 value) {
  if (kind == I8 || kind == U8) *reinterpret_cast<unsigned char*>(at) = static_cast<unsigned char>(value);
  else if (kind == BOOL) *reinterpret_cast<unsigned char*>(at) = value != 0;
  else if (kind == I16) *reinterpret_cast<short*>(at) = static_cast<short>(value);
  else if (kind == I32) *reinterpret_cast<int*>(at) = static_cast<int>(value);
  else *reinterpret_cast<i64*>(at) = value;
}

__device__ void converted(u64 to, int target, u64 from, int source) {
  if (is_float(source) && is_float(target)) {
    store_float(to, target, load_float(from, source));
  } else if (is_whole(source) && is_whole(target)) {
    store_whole(to, target, load_whole(from, source));
  } else {
    double value;
    if (is_whole(source)) value = static_cast<double>(load_whole(from, source));
    else if (source == FP64) value = *reinterpret_cast<const double*>(from);
    else value = load_float(from, source);
    if (target == FP64) *reinterpret_cast<double*>(to) = value;
    else if (target == BOOL) *reinterpret_cast<unsigned char*>(to) = value != 0.0;
    else if (is_whole(target)) store_whole(to, target, static_cast<i64>(value));
    else store_float(to, target, static_cast<float>(value));
  }
}

__device__ void moved(u64 to, int target, u64 from, int source) {
  if (source == RAW1) *reinterpret_cast<unsigned char*>(to) = *reinterpret_cast<const unsigned char*>(from);
  else if (source == RAW2) *reinterpret_cast<unsigned short*>(to) = *reinterpret_cast<const unsigned short*>(from);
  else if (source == RAW4) *reinterpret_cast<unsigned*>(to) = *reinterpret_cast<const unsigned*>(from);
  else if (source == RAW8) *reinterpret_cast<u64*>(to) = *reinterpret_cast<const u64*>(from);
  else converted(to, target, from, source);
}

// Adds the place of the innermost extent that is left; the outermost one of all needs no division.
__device__ void placed(u64& left, u64& there, u64& here, u64 extent, u64 to_step, u64 from_step, bool outermost) {
  const u64 rest = outermost ? 0 : left / extent;
  const u64 one = left - rest * extent;
  there += one * to_step;
  here += one * from_step;
  left = rest;
}

// Extents innermost first, `rank` of them; steps in bytes.
extern "C" __global__ void kopt_move(
    u64 to, u64 from, u64 count, u64 e0, u64 e1, u64 e2, u64 e3, u64 t0, u64 t1, u64 t2, u64 t3, u64 t4,
    u64 s0, u64 s1, u64 s2, u64 s3, u64 s4, int rank, int target, int source) {
  const u64 stride = static_cast<u64>(gridDim.x) * blockDim.x;
  for (u64 number = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; number < count; number += stride) {
    u64 left = number, there = to, here = from;
    placed(left, there, here, e0, t0, s0, rank == 1);
    if (rank > 1) placed(left, there, here, e1, t1, s1, rank == 2);
    if (rank > 2) placed(left, there, here, e2, t2, s2, rank == 3);
    if (rank > 3) placed(left, there, here, e3, t3, s3, rank == 4);
    if (rank > 4) placed(left, there, here, 1, t4, s4, true);
    moved(there, target, here, source);
  }
}
