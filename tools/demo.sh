#!/usr/bin/env bash
# The main job on the shipped example: a workspace for an RMS norm on an H20, and its audit.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
parent=$(mktemp -d)
trap 'rm -rf "$parent"' EXIT

echo '$ kb lookup H20 memory_bandwidth'
kb lookup H20 memory_bandwidth
echo
echo '$ kb init rms_norm --platform H20 --framework Triton --kernel-demo kernels/rms_norm.py --op rms_norm --shape 8192x4096 --shape 16384x8192 --dtype bf16'
kb init rms_norm --platform H20 --framework Triton --kernel-demo "$root/kernels/rms_norm.py" --op rms_norm \
  --shape 8192x4096 --shape 16384x8192 --dtype bf16 --parent "$parent"
echo
cat "$parent/kernel_opt_rms_norm/README.md"
echo
echo '$ kb audit kernel_opt_rms_norm'
(cd "$parent" && kb audit kernel_opt_rms_norm)
