#!/bin/sh
# One campaign an operation, from the naive kernel to the Stop Conditions of H200_SXM, then a comparison in one run.
# usage: run.sh OUT SECONDS OP...   (from the repository's root, on a machine with the GPU)
set -u
out=$1 seconds=$2
shift 2
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" KOPT_CACHE="$out/cache"
shapes="8192x4096 16384x8192 4096x16384"
for op in "$@"; do
  flags=""
  for shape in $shapes; do flags="$flags --shape $shape"; done
  python3 -m kopt_kb init "$op" --platform H200_SXM --framework Triton --kernel-demo "kernels/naive/$op.py" \
    --op "$op" $flags --dtype bf16 --parent "$out" || exit 1
  sizes="--max-rounds 10 --budget-s $seconds --search-s 40 --evaluations 24 --samples 100 --flush-bytes 536870912"
  # First to the Stop Conditions, then on past them until nothing is left to try.
  python3 -m kopt_kb tune run "$out/kernel_opt_$op" --policy gpu-wiki --yes $sizes
  python3 -m kopt_kb tune run "$out/kernel_opt_$op" --policy gpu-wiki --yes $sizes \
    --no-stop target --no-stop hardware_limit --json >"$out/$op.report.json"
  python3 -m kopt_kb tune report "$out/kernel_opt_$op"
  python3 benchmarks/campaigns/compare.py "$op" "kernels/naive/$op.py" "$out/kernel_opt_$op/kernel.py" $shapes \
    >"$out/$op.compare.json" && cat "$out/$op.compare.json"
done
