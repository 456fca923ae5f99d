"""Triton kernels read as text for the TileIR backend: what they are, and what may be rewritten; nothing is imported."""
