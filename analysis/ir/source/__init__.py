"""Triton kernels read as text: what their data become, and where they are loaded and stored; nothing is imported."""
