"""Kernels in CuTe DSL."""
