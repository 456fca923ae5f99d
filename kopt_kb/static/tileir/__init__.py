"""Existing Triton kernels prepared for the TileIR backend: environment, classification, rewriting, report."""
