"""The project's own test: exit 0 when the product is right."""

from ops.gemm import matmul

A, B = [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]
assert matmul(A, B) == [[19.0, 22.0], [43.0, 50.0]], f"wrong product: {matmul(A, B)}"
