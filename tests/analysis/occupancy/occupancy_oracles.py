"""The two vendors' own occupancy code as oracles; run as a script for the full counts.

`python tests/analysis/occupancy/occupancy_oracles.py` prints 40,000 NVIDIA and 3,000 AMD comparisons. NVIDIA's
cuda_occupancy.h is compiled with g++, AMD's answer is the `; Occupancy:` line of LLVM. Both ship in the
Triton wheel. The limits below are the oracles' own numbers (test data), not cited facts.
"""

from __future__ import annotations

import argparse
import ctypes
import random
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from kopt_kb.analysis.occupancy.occupancy import Limits, Resources, occupancy

KIB = 1024

_DRIVER = r"""
#include <limits.h>
#include <string.h>
#include "cuda_occupancy.h"
extern "C" int blocks(const int *dev, int threads, int regs, int fixed, int dynamic, int barriers, int *out) {
  cudaOccDeviceProp p; cudaOccFuncAttributes a; cudaOccDeviceState s; cudaOccResult r;
  memset(&r, 0, sizeof r);
  p.computeMajor = dev[0]; p.computeMinor = dev[1]; p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiprocessor = dev[2]; p.regsPerBlock = 65536; p.regsPerMultiprocessor = 65536;
  p.warpSize = 32; p.sharedMemPerBlock = 49152; p.sharedMemPerMultiprocessor = dev[3]; p.numSms = 1;
  p.sharedMemPerBlockOptin = dev[4]; p.reservedSharedMemPerBlock = 1024;
  a.maxThreadsPerBlock = 1024; a.numRegs = regs; a.sharedSizeBytes = fixed;
  a.partitionedGCConfig = PARTITIONED_GC_OFF; a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  a.maxDynamicSharedSizeBytes = dynamic; a.numBlockBarriers = barriers;
  int status = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &s, threads, dynamic);
  out[0] = r.activeBlocksPerMultiprocessor; out[1] = r.blockLimitWarps; out[2] = r.blockLimitBlocks;
  out[3] = r.blockLimitRegs; out[4] = r.blockLimitSharedMem; out[5] = r.blockLimitBarriers;
  return status;
}
"""

# (major, minor): threads per SM, shared per SM, opt-in per block, blocks per SM, barriers per SM (Hopper on).
NVIDIA = {
    (8, 0): (2048, 164 * KIB, 163 * KIB, 32, None),
    (8, 6): (1536, 100 * KIB, 99 * KIB, 16, None),
    (8, 9): (1536, 100 * KIB, 99 * KIB, 24, None),
    (9, 0): (2048, 228 * KIB, 227 * KIB, 32, 64),
    (10, 0): (2048, 228 * KIB, 227 * KIB, 32, 64),
    (12, 0): (1536, 100 * KIB, 99 * KIB, 24, 24),
}
# target: LDS bytes of a CU, LDS granule.
AMD = {"gfx90a": (64 * KIB, 512), "gfx942": (64 * KIB, 512), "gfx950": (160 * KIB, 1280)}

_FIELDS = ("warps", "blocks", "registers", "shared_memory", "barriers")
_UNBOUND = 2**31 - 1


def nvidia_limits(capability: tuple[int, int]) -> Limits:
    """The header's own limits of that compute capability."""
    threads, shared, optin, blocks, barriers = NVIDIA[capability]
    return Limits(
        "nvidia",
        warp_size=32,
        threads_per_sm=threads,
        threads_per_block=1024,
        simds_per_sm=4,
        blocks_per_sm=blocks,
        barriers_per_sm=barriers,
        registers_per_sm=65536,
        registers_per_block=65536,
        registers_per_thread=256,
        register_granule=256,
        shared_memory_per_sm=shared,
        shared_memory_per_block=optin,
        shared_memory_reserved_per_block=1024,
        shared_memory_granule=128,
    )


def amd_limits(target: str, *, rounded: bool = True) -> Limits:
    """LLVM's limits of that target; it doesn't round LDS and SGPRs to their granule, which `rounded` does."""
    lds, granule = AMD[target]
    return Limits(
        "amd",
        warp_size=64,
        warps_per_simd=8,
        simds_per_sm=4,
        threads_per_block=1024,
        registers_per_simd=512 * 64,
        registers_per_thread=256,
        register_granule=8,
        scalar_registers_per_simd=800,
        scalar_register_granule=1,
        shared_memory_per_sm=lds,
        shared_memory_per_block=lds,
        shared_memory_granule=granule if rounded else 1,
    )


def build_header(folder: Path) -> ctypes.CDLL:
    """Compile NVIDIA's header into a shared library."""
    import triton

    include = Path(triton.__file__).parent / "backends" / "nvidia" / "include"
    source, library = folder / "occ.cpp", folder / "occ.so"
    source.write_text(_DRIVER)
    subprocess.run(
        ["g++", "-shared", "-fPIC", "-O1", "-w", f"-I{include}", str(source), "-o", str(library)], check=True
    )
    return ctypes.CDLL(str(library))


def header_answer(library: ctypes.CDLL, capability: tuple[int, int], use: Resources) -> dict[str, int]:
    """Blocks an SM by NVIDIA's header, and by each resource alone."""
    threads, shared, optin, *_ = NVIDIA[capability]
    device, out = (ctypes.c_int * 5)(*capability, threads, shared, optin), (ctypes.c_int * 6)()
    status = library.blocks(
        device,
        use.threads_per_block,
        use.registers_per_thread,
        use.shared_static_bytes,
        use.shared_dynamic_bytes,
        use.barriers,
        out,
    )
    assert status == 0, status
    return dict(zip(("all", *_FIELDS), out, strict=True))


def random_nvidia(rng: random.Random) -> tuple[tuple[int, int], Resources]:
    """One random capability and kernel, infeasible ones included."""
    capability = rng.choice(list(NVIDIA))
    optin, counts_barriers = NVIDIA[capability][2], NVIDIA[capability][4] is not None
    static = rng.choice([0, 0, rng.randint(0, 48 * KIB - 1024)])
    dynamic = rng.choice([0, rng.randint(0, 2 * KIB), rng.randint(0, 40 * KIB), rng.randint(0, optin + 2 * KIB)])
    return capability, Resources(
        threads_per_block=rng.choice([32, 64, 128, 256, 512, 1024, rng.randint(1, 1056)]),
        registers_per_thread=rng.choice([0, rng.randint(1, 260), rng.randint(16, 64)]),
        shared_static_bytes=static,
        shared_dynamic_bytes=dynamic,
        barriers=rng.choice([1, 1, 2, rng.randint(1, 16)]) if counts_barriers else 1,
    )


def nvidia_mismatches(count: int, seed: int) -> list[str]:
    """Compare `count` random cases with NVIDIA's header; one line for each that differs."""
    rng, wrong = random.Random(seed), []
    with tempfile.TemporaryDirectory() as folder:
        library = build_header(Path(folder))
        for _ in range(count):
            capability, use = random_nvidia(rng)
            theirs, ours = header_answer(library, capability, use), occupancy(use, nvidia_limits(capability))
            each = {name: ours.block_limits.get(name, _UNBOUND) for name in _FIELDS}
            ties = {name for name in _FIELDS if theirs[name] == theirs["all"]}
            same = ours.blocks_per_sm == theirs["all"] and set(ours.limiters) == ties
            if not same or each != {name: theirs[name] for name in _FIELDS}:
                wrong.append(f"{capability} {use}: header {theirs}, ours {ours.blocks_per_sm} {each}")
    return wrong


def llvm_waves(target: str, use: Resources) -> tuple[int, int]:
    """LLVM's `; Occupancy:` and its count of SGPRs for a kernel that uses these resources."""
    from triton._C.libtriton import amd, llvm

    llvm.init_targets()
    last = {"v": use.registers_per_thread, "a": use.accumulation_registers_per_thread}
    last["s"] = use.scalar_registers_per_warp
    clobbers = ",".join(f"~{{{file}{number - 1}}}" for file, number in last.items() if number)
    lds = use.shared_bytes
    source = "\n".join(
        [
            f"@l = internal addrspace(3) global [{lds} x i8] poison, align 16" if lds else "",
            "define amdgpu_kernel void @k() #0 {",
            "store volatile i8 0, ptr addrspace(3) @l" if lds else "",
            f'call void asm sideeffect "", "{clobbers}"()' if clobbers else "",
            "ret void",
            "}",
            f'attributes #0 = {{ "amdgpu-flat-work-group-size"="{use.threads_per_block},{use.threads_per_block}" }}',
        ]
    )
    text = llvm.translate_to_asm(source, amd.TARGET_TRIPLE, target, "", [], True, False)
    occupied = re.search(r"^; Occupancy: (\d+)", text, re.MULTILINE)
    scalars = re.search(r"^\s*\.sgpr_count:\s+(\d+)", text, re.MULTILINE)
    assert occupied
    assert scalars
    return int(occupied[1]), int(scalars[1])


def random_amd(rng: random.Random) -> tuple[str, Resources]:
    """One random target and kernel that LLVM can compile."""
    target = rng.choice(list(AMD))
    threads = rng.choice([64, 128, 192, 256, 512, 1024, 64 * rng.randint(1, 16)])
    budget = min(256, 512 // -(-threads // 256) // 2)
    return target, Resources(
        threads_per_block=threads,
        registers_per_thread=rng.randint(2, budget),
        accumulation_registers_per_thread=rng.choice([0, 0, rng.randint(1, budget)]),
        scalar_registers_per_warp=rng.choice([0, rng.randint(1, 94)]),
        shared_static_bytes=rng.choice([0, 16 * rng.randint(1, 256), rng.randint(1, AMD[target][0])]),
    )


def amd_mismatches(count: int, seed: int) -> tuple[list[str], int]:
    """Compare `count` random cases with LLVM; the ones that differ, and how many the LDS granule changes."""
    rng, wrong, granule = random.Random(seed), [], 0
    for _ in range(count):
        target, use = random_amd(rng)
        theirs, scalars = llvm_waves(target, use)
        use = replace(use, scalar_registers_per_warp=scalars)
        ours = occupancy(use, amd_limits(target, rounded=False)).waves_per_simd
        if ours != theirs:
            wrong.append(f"{target} {use}: LLVM {theirs}, ours {ours}")
        granule += ours != occupancy(use, amd_limits(target)).waves_per_simd
    return wrong, granule


def main() -> int:
    """Print both comparisons; exit 1 when one case differs."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--nvidia", type=int, default=40_000)
    parser.add_argument("--amd", type=int, default=3_000)
    args = parser.parse_args()
    start = time.perf_counter()
    header = nvidia_mismatches(args.nvidia, seed=1)
    middle = time.perf_counter()
    llvm, granule = amd_mismatches(args.amd, seed=2)
    end = time.perf_counter()
    lines = [
        f"cuda_occupancy.h: {args.nvidia - len(header)} of {args.nvidia} equal, {middle - start:.1f} s",
        f"LLVM AMDGPU: {args.amd - len(llvm)} of {args.amd} equal, {end - middle:.1f} s",
        f"rounding LDS to its granule, which LLVM leaves out, changes {granule} of {args.amd}",
        *(header + llvm)[:10],
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if header or llvm else 0


if __name__ == "__main__":
    sys.exit(main())
