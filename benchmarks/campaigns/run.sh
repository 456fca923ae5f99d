#!/bin/sh
# One campaign an operation, from the naive kernel to the Stop Conditions of H200_SXM and on past them, then a
# comparison in one run.
# usage: run.sh OUT KEEP SECONDS OP...   (from the repository's root, on a machine with the GPU)
#   OUT holds the workspaces, KEEP gets an archive of each after every part, SECONDS is the time of each of two parts.
set -u
out=$1 keep=$2 seconds=$3
shift 3
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" KOPT_CACHE="$out/cache"
mkdir -p "$out" "$keep"
for op in "$@"; do
  case $op in
    gemm) file=kernels/naive/matmul.py shapes="4096x4096x4096 8192x8192x8192" ;;
    *) file=kernels/naive/$op.py shapes="8192x4096 16384x8192 4096x16384" ;;
  esac
  flags=""
  for shape in $shapes; do flags="$flags --shape $shape"; done
  python3 -m kopt_kb init "$op" --platform H200_SXM --framework Triton --kernel-demo "$file" \
    --op "$op" $flags --dtype bf16 --parent "$out" || exit 1
  sizes="--max-rounds 20 --budget-s $seconds --search-s 45 --evaluations 48 --prune-s 20 --samples 100 --flush-bytes 536870912"
  # First to the Stop Conditions, then on past them until nothing is left to try.
  python3 -m kopt_kb tune run "$out/kernel_opt_$op" --policy gpu-wiki --yes $sizes
  tar -czf "$keep/$op.tgz" -C "$out" "kernel_opt_$op"
  python3 -m kopt_kb tune run "$out/kernel_opt_$op" --policy gpu-wiki --yes $sizes \
    --no-stop target --no-stop hardware_limit --no-stop plateau --json >"$keep/$op.report.json"
  tar -czf "$keep/$op.tgz" -C "$out" "kernel_opt_$op"
  python3 -m kopt_kb tune report "$out/kernel_opt_$op"
  python3 benchmarks/campaigns/compare.py "$op" "$file" "$out/kernel_opt_$op/kernel.py" $shapes \
    >"$keep/$op.compare.json" && cat "$keep/$op.compare.json"
done
