#!/usr/bin/env bash
# Build the zoo, run it once without a profiler, record every kernel with ncu and export the raw page; OUT is the folder.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:?set OUT to the folder the recordings go to}
work=$(mktemp -d)
arch=${ARCH:-sm_90a}
ncu --version | tail -1
for part in memory compute latency forms; do
  nvcc -O3 -std=c++17 -arch="$arch" -Xptxas -v -o "$work/$part" "$here/$part.cu" 2>"$out/$part.ptxas.txt" &
done
wait
for part in memory compute latency forms; do
  "$work/$part"
  ncu --set full --clock-control none --profile-from-start off -f -o "$work/$part" "$work/$part" >"$work/$part.log" 2>&1 \
    || tail -5 "$work/$part.log"
  ncu -i "$work/$part.ncu-rep" --page raw --csv --print-units base >"$out/$part.raw.csv"
  ls -l "$work/$part.ncu-rep" "$out/$part.raw.csv"
done
if python3 -c 'import torch' 2>/dev/null; then
  ncu --set full --clock-control none --profile-from-start off -f -o "$work/library" python3 "$here/library.py" >"$work/library.log" 2>&1 \
    || tail -5 "$work/library.log"
  ncu -i "$work/library.ncu-rep" --page raw --csv --print-units base >"$out/library.raw.csv"
  ls -l "$out/library.raw.csv"
fi
