"""Kernels, their references, timing and compilation: the only place that imports torch or triton."""
