"""Kernels in cuTile."""
