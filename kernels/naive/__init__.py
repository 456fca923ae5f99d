"""Deliberately slow kernels: where a tuning campaign starts."""
