"""Kernels in Helion."""
