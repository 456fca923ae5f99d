"""A stand-in for a matrix product kernel: it computes small products and says how fast a large one would be."""

from ops.config import STAGES

TILE = 64


def matmul(a, b):
    """Return a times b as lists of rows."""
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a]


def rate_tflops(m, n, k):
    """Return the made-up rate of a product."""
    size = m * n * k
    return 40.0 * min(TILE, 256) / 256 * (1 + 0.05 * STAGES) * size / (size + 2**27)
