"""Prepare Triton kernels for the TileIR backend."""
